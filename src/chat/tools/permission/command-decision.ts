/** Decides about shell commands: allow, deny, read-only, or ask. */
import { type PlainCommand, parsePlainPipe } from '../../../lib/shell/plain-commands.ts'
import { isFullyKnown } from '../../../lib/shell/script.ts'
import { phrase } from '../../../model/phrase.ts'
import type { Workspace } from '../tool.ts'
import { checkDeniedReads, findsProjectPrograms, readsDeviceFiles } from './command-paths.ts'
import type { PermissionDecision, PermissionRules } from './permission.ts'
import {
  findArgumentDanger,
  findStartedPrograms,
  isReadingCommand,
  looseTexts,
  parseReadingPipe,
  programBaseName,
  type StartedProgram,
  type StartedPrograms,
  tailsOf,
} from './started-programs.ts'

/** Excludes quotes, carets, variables, delimiters other than the blank, and patterns. */
const PLAIN_LINE = /^[A-Za-z0-9_.\\/:-]+(?: +[A-Za-z0-9_.\\/:-]+)*$/
/**
 * Device names may block or act, and a path that begins with two slashes sends the user's credentials to another
 * machine.
 */
const DEVICE_NAME =
  /(?:^|[ \\/:])(?:con|prn|aux|nul|clock\$|com\d|lpt\d|conin\$|conout\$)(?:[.:\\/ ]|$)|(?:^|[ :])[\\/]{2}/i

export const isPlainCmd = (line: string): boolean => PLAIN_LINE.test(line) && !DEVICE_NAME.test(line)

const isReadOnlyCmd = (line: string): boolean => isPlainCmd(line) && /^(?:dir|type)(?: |$)/i.test(line)

export const CMD_UNCLEAR = phrase('cmd may interpret it differently', 'cmd では別の意味に解釈される可能性があります')

/** Texts to compare with deny rules: each command of the line, without quotes, carets, paths and extensions. */
function cmdCommandTexts(line: string): readonly string[] {
  const clean = (text: string): string => text.replaceAll(/[\^"]/g, '').trim()
  return [line, ...line.split(/[&|()<>\r\n]+/)].flatMap((part) => {
    const text = clean(part)
      .replace(/^@/, '')
      .replaceAll(/[ \t,;=]+/g, ' ')
      .trim()
    const [name = '', ...rest] = text.split(' ')
    const short = programBaseName(name.replaceAll('\\', '/')).replace(/\.(?:exe|com|bat|cmd)$/i, '')
    return [part, clean(part), text, [short, ...rest].join(' ')]
  })
}

interface CommandRule {
  matches(text: string): boolean
  /** False only if the rule matches no text that begins like this. */
  couldMatch(beginning: string): boolean
  /**
   * Whether a prefix of the text matches the rule, whatever follows; decided by the rule's fixed words if it has any.
   */
  matchesStartOf(text: string): boolean
}

/**
 * A regular expression for a complete command; undefined if invalid. A leading `(?i)` is the only flag in Amazon Q's
 * dialect.
 */
function parseCommandRule(source: string): CommandRule | undefined {
  const isFolded = source.startsWith('(?i)')
  const body = isFolded ? source.slice(4) : source
  const flags = isFolded ? 'i' : ''
  try {
    const patterns = ['', 's'].map((more) => new RegExp(`^(?:${body})$`, flags + more))
    const fold = (text: string): string => (isFolded ? text.toLowerCase() : text)
    const prefix = fold(literalPrefix(body))
    const name = prefix.trimEnd()
    // `touch .*` refers to `touch`, but `touch.*` also to `touchy`.
    const isWhole = name !== prefix || prefix === fold(body)
    const isNamed = (text: string): boolean =>
      text.startsWith(name) && !(isWhole && /^[\w-]/.test(text.slice(name.length)))
    const matches = (text: string): boolean => patterns.some((pattern) => pattern.test(text))
    return {
      matches,
      matchesStartOf: (text) =>
        name === '' ? matches(text) || matches(/^[^;&|()\n]*/.exec(text)?.[0].trimEnd() ?? '') : isNamed(fold(text)),
      couldMatch: (beginning) => prefix.startsWith(fold(beginning)) || fold(beginning).startsWith(prefix),
    }
  } catch {
    return undefined
  }
}

/** The fixed characters with which every match begins. */
function literalPrefix(body: string): string {
  if (body.includes('|')) return ''
  let prefix = ''
  for (let at = body.startsWith('^') ? 1 : 0; at < body.length; at++) {
    const isEscaped = body.charAt(at) === '\\' && /^[^A-Za-z0-9]$/.test(body.charAt(at + 1))
    if (isEscaped) at++
    const character = body.charAt(at)
    const isLiteral = isEscaped ? /^[!-~ ]$/.test(character) : /^[A-Za-z0-9 _/:=,@%&'"<>~;-]$/.test(character)
    if (!isLiteral || /^[*?{]/.test(body.slice(at + 1))) return prefix
    prefix += character
  }
  return prefix
}

/**
 * Whether a deny rule matches one of the commands at any position: as typed, without quotes, or by the file name of the
 * program. `maybe`: the shell may run a command that is not visible and that no rule excludes, or a program gets such a
 * command as an argument and might run it.
 */
function checkDenied(rules: readonly CommandRule[], command: string, all: StartedPrograms): 'yes' | 'maybe' | 'no' {
  if (rules.length === 0) return 'no'
  const texts = [command, command.trim(), ...all.texts, ...all.started.flatMap(textsOf)]
  if (texts.some((text) => rules.some((rule) => rule.matches(text)))) return 'yes'
  const isOpen = all.started.some((one) =>
    beginningsOf(one).some((beginning) => rules.some((rule) => rule.couldMatch(beginning))),
  )
  return isOpen || !all.isCertain || looseTexts(all).some((text) => isMentioned(rules, text)) ? 'maybe' : 'no'
}

const isMentioned = (rules: readonly CommandRule[], text: string): boolean =>
  tailsOf(text)?.some((tail) => rules.some((rule) => rule.matchesStartOf(tail))) ?? true

function textsOf({ words: [name, ...rest] }: StartedProgram): readonly string[] {
  if (!name) return []
  const after = rest.map(({ value }) => ` ${value}`).join('')
  return [name.value + after, programBaseName(name.value) + after]
}

/** The certain part of a command before its first expansion; empty if everything is certain. */
function beginningsOf({ words }: StartedProgram): readonly string[] {
  const at = words.findIndex((word) => !isFullyKnown(word))
  const open = words[at]
  if (!open) return []
  const known = [...words.slice(0, at).map(({ value }) => value), open.value.slice(0, open.known)]
  const [name = '', ...rest] = known
  return [known.join(' '), [at === 0 ? '' : programBaseName(name), ...rest].join(' ')]
}

type ShellName = 'bash' | 'cmd'

export const SHELL_NAME: ShellName = process.platform === 'win32' ? 'cmd' : 'bash'

export function decideCommand(
  command: string,
  listed: boolean,
  rules: PermissionRules,
  shell = SHELL_NAME,
): PermissionDecision {
  const { deniedCommands, denyByDefault } = rules.settings.execute_bash
  const denied = deniedCommands.map(parseCommandRule)
  // An invalid rule may have been meant for this command.
  if (!denied.every((rule) => rule !== undefined))
    return { kind: 'deny', reason: 'a rule of deniedCommands cannot be read' }
  const verdict = shell === 'cmd' ? judgeCmd(command, denied, rules) : judgeBash(command, denied, rules)
  if (verdict.isDenied === 'yes') return { kind: 'deny', reason: 'the command is among the denied ones' }
  const isAutomatic = listed || verdict.isAutoAllowed || rules.trustAll
  if (verdict.readsDenied === 'yes' && (isAutomatic || verdict.byReader))
    return { kind: 'deny', reason: 'the command names a path that is among the denied ones' }
  const isSafe = verdict.isDenied === 'no' && verdict.readsDenied === 'no'
  if (isSafe && (listed || verdict.isAutoAllowed)) return { kind: 'allow' }
  if (denyByDefault) return { kind: 'deny', reason: 'only listed commands may run' }
  return isSafe ? { kind: 'ask' } : { kind: 'ask', mayBeDenied: true }
}

interface Verdict {
  readonly isDenied: 'yes' | 'maybe' | 'no'
  readonly readsDenied: 'yes' | 'maybe' | 'no'
  /** A program that only reads names the denied path. */
  readonly byReader: boolean
  readonly isAutoAllowed: boolean
}

function judgeBash(command: string, denied: readonly CommandRule[], rules: PermissionRules): Verdict {
  const all = findStartedPrograms(command)
  const { is, byReader } = checkDeniedReads(all, rules)
  return {
    isDenied: checkDenied(denied, command, all),
    readsDenied: is,
    byReader,
    isAutoAllowed: isAllowedPipe(command, rules),
  }
}

/** Every command of the pipe matches a rule or only reads. */
function isAllowedPipe(line: string, rules: PermissionRules): boolean {
  const { allowedCommands, autoAllowReadonly } = rules.settings.execute_bash
  const pipe = parsePlainPipe(line)
  if (!pipe.ok) return false
  const allowed = allowedCommands.flatMap((source) => parseCommandRule(source) ?? [])
  const others = pipe.commands.filter((command) => !allowed.some((rule) => isAllowedCommand(command, rule)))
  return (
    others.length === 0 || (autoAllowReadonly && others.every(isReadingCommand) && readsOnlyFiles(line, others, rules))
  )
}

/**
 * A rule must match both the typed text and the arguments that the program receives. With only the first, `rm [^-].*`
 * would match `rm "-rf" x`; with only the second, a rule would match text that its author never saw. No rule allows
 * `find` to run or delete something.
 */
function isAllowedCommand(command: PlainCommand, rule: CommandRule): boolean {
  const received = command.words.map(({ value }) => value).join(' ')
  return rule.matches(command.text) && rule.matches(received) && findArgumentDanger(command) === undefined
}

/** Whether every command of the line only reads files on disk with programs of this machine. */
export function isReadOnlyCommand(line: string, workspace: Workspace, shell = SHELL_NAME): boolean {
  if (shell === 'cmd') return isReadOnlyCmd(line)
  const commands = parseReadingPipe(line)
  return commands !== undefined && readsOnlyFiles(line, commands, workspace)
}

const readsOnlyFiles = (line: string, commands: readonly PlainCommand[], workspace: Workspace): boolean =>
  !findsProjectPrograms(commands, workspace) && !readsDeviceFiles(findStartedPrograms(line), workspace)

function judgeCmd(line: string, denied: readonly CommandRule[], { settings }: PermissionRules): Verdict {
  const { allowedCommands, autoAllowReadonly } = settings.execute_bash
  const isPlain = isPlainCmd(line)
  const texts = cmdCommandTexts(line)
  const isDenied = denied.some((rule) => texts.some((text) => rule.matches(text)))
  const isOpen = denied.length > 0 && !isPlain
  const isFree =
    isPlain &&
    (allowedCommands.some((source) => parseCommandRule(source)?.matches(line)) ||
      (autoAllowReadonly && isReadOnlyCmd(line)))
  return {
    isDenied: isDenied ? 'yes' : isOpen ? 'maybe' : 'no',
    // Does not determine which words are paths.
    readsDenied: settings.fs_read.deniedPaths.length > 0 ? 'maybe' : 'no',
    byReader: false,
    isAutoAllowed: isFree,
  }
}

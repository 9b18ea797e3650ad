/**
 * Whether a shell command may run: what a rule denies never does, and only a pipe of plain words is allowed by rules or by itself.
 *
 * Rules that deny are compared with every command that the shell would start, wherever it is in the line; where that cannot be
 * told, a person is asked. Rules that allow are compared with each command of a plain pipe, and each needs its own permission.
 */
import { type PlainCommand, plainPipe } from '../../../lib/shell/plain-commands.ts'
import type { Decision, Rules } from '../permission.ts'
import type { Place } from '../tool.ts'
import { cmdTexts, isPlainCmd, isReadingCmd } from './cmd.ts'
import { findsProjectPrograms, readsDenied, readsMachine } from './command-paths.ts'
import { deniedBy, type Rule, ruleOf } from './denied.ts'
import { argumentDanger, isReading, readingPipe } from './readers.ts'
import { startedBy } from './started.ts'

export type Shell = 'bash' | 'cmd'

export const SHELL: Shell = process.platform === 'win32' ? 'cmd' : 'bash'

export function commandDecision(command: string, listed: boolean, rules: Rules, shell = SHELL): Decision {
  const { deniedCommands, denyByDefault } = rules.settings.execute_bash
  const denied = deniedCommands.map(ruleOf)
  // A rule that cannot be read may have meant this very command.
  if (!denied.every((rule) => rule !== undefined))
    return { kind: 'deny', reason: 'a rule of deniedCommands cannot be read' }
  const verdict = shell === 'cmd' ? judgeCmd(command, denied, rules) : judgeBash(command, denied, rules)
  if (verdict.isDenied === 'yes') return { kind: 'deny', reason: 'the command is among the denied ones' }
  const isAutomatic = listed || verdict.isFree || rules.trustAll
  if (verdict.readsDenied === 'yes' && (isAutomatic || verdict.byReader))
    return { kind: 'deny', reason: 'the command names a path that is among the denied ones' }
  const isSafe = verdict.isDenied === 'no' && verdict.readsDenied === 'no'
  if (isSafe && (listed || verdict.isFree)) return { kind: 'allow' }
  if (denyByDefault) return { kind: 'deny', reason: 'only listed commands may run' }
  return isSafe ? { kind: 'ask' } : { kind: 'ask', mayBeDenied: true }
}

interface Verdict {
  readonly isDenied: 'yes' | 'maybe' | 'no'
  readonly readsDenied: 'yes' | 'maybe' | 'no'
  /** A program that only reads names the denied path. */
  readonly byReader: boolean
  /** Rules allow it, or it only reads and that is free. */
  readonly isFree: boolean
}

function judgeBash(command: string, denied: readonly Rule[], rules: Rules): Verdict {
  const all = startedBy(command)
  const { is, byReader } = readsDenied(all, rules)
  return { isDenied: deniedBy(denied, command, all), readsDenied: is, byReader, isFree: isFree(command, rules) }
}

/** Each command of the pipe is matched by a rule, or only reads. */
function isFree(line: string, rules: Rules): boolean {
  const { allowedCommands, autoAllowReadonly } = rules.settings.execute_bash
  const pipe = plainPipe(line)
  if (!pipe.ok) return false
  const allowed = allowedCommands.flatMap((source) => ruleOf(source) ?? [])
  const others = pipe.commands.filter((command) => !allowed.some((rule) => isAllowed(command, rule)))
  return others.length === 0 || (autoAllowReadonly && others.every(isReading) && onlyReads(line, others, rules))
}

/**
 * A rule has to match both what was typed and what the program receives. By the first alone, `rm [^-].*` would take `rm "-rf" x`;
 * by the second alone, a rule would match a text that its author never saw. No rule allows `find` to run or delete something.
 */
function isAllowed(command: PlainCommand, rule: Rule): boolean {
  const received = command.words.map(({ value }) => value).join(' ')
  return rule.matches(command.text) && rule.matches(received) && argumentDanger(command) === undefined
}

/** Every command of the line only reads, files of a disk, with the programs of this machine. */
export function isReadOnly(line: string, place: Place, shell = SHELL): boolean {
  if (shell === 'cmd') return isReadingCmd(line)
  const commands = readingPipe(line)
  return commands !== undefined && onlyReads(line, commands, place)
}

const onlyReads = (line: string, commands: readonly PlainCommand[], place: Place): boolean =>
  !findsProjectPrograms(commands, place) && !readsMachine(startedBy(line), place)

function judgeCmd(line: string, denied: readonly Rule[], { settings }: Rules): Verdict {
  const { allowedCommands, autoAllowReadonly } = settings.execute_bash
  const isPlain = isPlainCmd(line)
  const texts = cmdTexts(line)
  const isDenied = denied.some((rule) => texts.some((text) => rule.matches(text)))
  const isOpen = denied.length > 0 && !isPlain
  const isFree =
    isPlain &&
    (allowedCommands.some((source) => ruleOf(source)?.matches(line)) || (autoAllowReadonly && isReadingCmd(line)))
  return {
    isDenied: isDenied ? 'yes' : isOpen ? 'maybe' : 'no',
    // Which words of it are paths is not judged.
    readsDenied: settings.fs_read.deniedPaths.length > 0 ? 'maybe' : 'no',
    byReader: false,
    isFree,
  }
}

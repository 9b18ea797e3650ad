/**
 * Whether a shell command may run: what a rule denies never does, and only a pipe of plain words is allowed by rules or by itself.
 *
 * Rules that deny are compared with every command that the shell would start, wherever it is in the line; where that cannot be
 * told, a person is asked. Rules that allow are compared with each command of a plain pipe, and each needs its own permission.
 */
import { type PlainCommand, parsePlainPipe } from '../../../lib/shell/plain-commands.ts'
import type { Workspace } from '../tool.ts'
import { checkDeniedReads, findsProjectPrograms, readsDeviceFiles } from './command-paths.ts'
import { type CommandRule, checkDenied, parseCommandRule } from './denied-commands.ts'
import type { PermissionDecision, PermissionRules } from './permission.ts'
import { findArgumentDanger, isReadingCommand, parseReadingPipe } from './read-only-programs.ts'
import { findStartedPrograms } from './started-programs.ts'
import { cmdCommandTexts, isPlainCmd, isReadOnlyCmd } from './windows-cmd.ts'

export type ShellName = 'bash' | 'cmd'

export const SHELL_NAME: ShellName = process.platform === 'win32' ? 'cmd' : 'bash'

export function decideCommand(
  command: string,
  listed: boolean,
  rules: PermissionRules,
  shell = SHELL_NAME,
): PermissionDecision {
  const { deniedCommands, denyByDefault } = rules.settings.execute_bash
  const denied = deniedCommands.map(parseCommandRule)
  // A rule that cannot be read may have meant this very command.
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
  /** Rules allow it, or it only reads and that is free. */
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

/** Each command of the pipe is matched by a rule, or only reads. */
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
 * A rule has to match both what was typed and what the program receives. By the first alone, `rm [^-].*` would take `rm "-rf" x`;
 * by the second alone, a rule would match a text that its author never saw. No rule allows `find` to run or delete something.
 */
function isAllowedCommand(command: PlainCommand, rule: CommandRule): boolean {
  const received = command.words.map(({ value }) => value).join(' ')
  return rule.matches(command.text) && rule.matches(received) && findArgumentDanger(command) === undefined
}

/** Every command of the line only reads, files of a disk, with the programs of this machine. */
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
    // Which words of it are paths is not judged.
    readsDenied: settings.fs_read.deniedPaths.length > 0 ? 'maybe' : 'no',
    byReader: false,
    isAutoAllowed: isFree,
  }
}

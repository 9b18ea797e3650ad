/** `fumi resume`: continues a session in its own program. */
import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { constants } from 'node:os'
import type { Command } from 'commander'
import type { ResumeCommand } from '../../agents/agent.ts'
import { agentServing } from '../../agents/agent-roots.ts'
import { allAgents } from '../../agents/load-agents.ts'
import { formatShellLine, whyNotResumable } from '../../agents/resume-command.ts'
import { TrustStore } from '../../chat/trust/trust-store.ts'
import { dataDirectory, thisMachine } from '../../lib/files/data-directory.ts'
import { isFolder } from '../../lib/files/safe-fs.ts'
import { programPathOrMissing, withSafePath } from '../../lib/programs.ts'
import { AppError } from '../../model/error.ts'
import { toVisible } from '../../model/hostile-characters.ts'
import { phrase } from '../../model/phrase.ts'
import { defineCommand, SESSION_ID } from '../define-command.ts'
import { type FoundSession, findSession } from '../find-session.ts'
import { say } from '../language.ts'
import { withApp } from '../open-app.ts'
import { writeErr, writeOut } from '../output.ts'
import { askYesNo } from '../trust-question.ts'

interface Options {
  readonly print?: boolean
}

export function resumeCommand(program: Command): void {
  defineCommand(program, 'resume', 'resume a session in its own program', '会話を元のプログラムで再開')
    .argument('<session>', ...SESSION_ID)
    .option('--print', 'print the command instead of running it', '実行せず、コマンドを表示')
    .examples('fumi resume codex:019c22d1', 'fumi resume codex:019c22d1 --print')
    .run(run)
}

async function run(name: string, options: Options): Promise<void> {
  // Closes the app before the program runs.
  const found = await withApp((app) => findSession(app, name))
  const command = options.print
    ? await resumeCommandFor(found)
    : await confirmDirectory(found, await resumeCommandFor(found))
  if (options.print) await writeOut(`${formatShellLine(command)}\n`)
  else process.exitCode = await runProgram(command)
}

/**
 * A fumibako chat reads files below its directory without asking, and its journal may come from another machine. So the
 * user must have chosen the directory before, or confirm it now. Other programs have rules of their own.
 */
async function confirmDirectory({ session }: FoundSession, command: ResumeCommand): Promise<ResumeCommand> {
  if (session.agent !== OWN_AGENT || command.cwd === undefined) return command
  const trust = new TrustStore(dataDirectory(thisMachine()))
  const cwd = trust.directoryOf(session.native_id) ?? command.cwd
  const real = isFolder(cwd) ? realpathSync(cwd) : undefined
  if (real === undefined || trust.directories().includes(real)) return { ...command, cwd }
  const text = say(
    `This conversation took place in ${toVisible(cwd)}. Tools read files below this directory without asking.\n`,
    `この会話のディレクトリーは ${toVisible(cwd)} です。ツールは、その下のファイルを確認なしに読み取ります。\n`,
  )
  if (await askYesNo(text, say('Continue there? [y/N] ', 'ここで続けますか？ [y/N] '))) {
    trust.addDirectory(real)
    return { ...command, cwd }
  }
  const { cwd: _, ...commandHere } = command
  throw new AppError(
    'no_permission',
    `No chat of yours has used ${cwd} yet, so fumi asks first, which needs a terminal. Change to the directory that you want, then run: ${formatShellLine(commandHere)}`,
    `${cwd} ではまだ会話をしていないため、端末での確認が必要です。使いたいディレクトリーに移動して、次を実行してください: ${formatShellLine(commandHere)}`,
  )
}

/** The agent whose sessions are our own chats. */
const OWN_AGENT = 'fumibako'

async function resumeCommandFor({ log, session, kept: backup }: FoundSession): Promise<ResumeCommand> {
  const agent = log?.agent ?? agentServing(session.agent, await allAgents())
  if (!log)
    throw new AppError(
      'not_found',
      `The log of ${session.id} no longer exists: ${session.path}. ${agent.label} cannot resume it.`,
      `${session.id} のログがありません: ${session.path}。${agent.label} では再開できません。`,
    )
  const reason = whyNotResumable(agent, session, backup && (backup.ended_how ?? 'gone'))
  if (reason !== undefined || !agent.resume)
    throw new AppError(backup ? 'not_found' : 'bad_usage', reason ?? phrase('', ''))
  return agent.resume(session)
}

/** Returns the exit code of the program. */
async function runProgram(command: ResumeCommand): Promise<number> {
  const { program, arguments: args, cwd } = command
  if (cwd !== undefined && !isFolder(cwd))
    throw new AppError(
      'not_found',
      `The session's directory no longer exists: ${cwd}. Create it again, or run this in another directory: ${formatShellLine({ program, arguments: args })}`,
      `会話のディレクトリー ${cwd} がありません。作り直すか、別のディレクトリーで実行してください: ${formatShellLine({ program, arguments: args })}`,
    )
  const isWindows = process.platform === 'win32'
  if (isWindows && !args.every((word) => /^[\w.:-]+$/.test(word)))
    throw new AppError(
      'bad_usage',
      `This command cannot run here. Run it yourself: ${formatShellLine(command)}`,
      `ここではコマンドを実行できません。自分で実行してください: ${formatShellLine(command)}`,
    )
  if (cwd !== undefined && cwd !== process.cwd() && process.stderr.isTTY)
    await writeErr(say(`Resuming in ${cwd}\n`, `${cwd} で再開します\n`))
  // A name without a directory is looked up in PATH only, because the log chooses the working directory.
  const path = programPathOrMissing(program)
  // On Windows programs are often scripts, which only a shell runs.
  const child = spawn(isWindows ? `"${path}"` : path, args, {
    stdio: 'inherit',
    shell: isWindows,
    env: isWindows ? withSafePath(process.env) : process.env,
    ...(cwd !== undefined && { cwd }),
  })
  // The terminal signals both processes; the program decides what Ctrl-C does.
  const ignoreSignal = (): void => {}
  const forwardSignal = (): void => void child.kill('SIGTERM')
  process.on('SIGINT', ignoreSignal)
  process.on('SIGTERM', forwardSignal)
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) => reject(toStartError(program, error)))
      child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])))
    })
  } finally {
    process.off('SIGINT', ignoreSignal)
    process.off('SIGTERM', forwardSignal)
  }
}

function toStartError(program: string, error: NodeJS.ErrnoException): Error {
  if (error.code === 'ENOENT')
    return new AppError(
      'not_found',
      `${program} is not installed or not in PATH. Install it, then try again.`,
      `${program} がインストールされていないか、PATH にありません。インストールしてからやり直してください。`,
    )
  if (error.code === 'EACCES' || error.code === 'EPERM')
    return new AppError(
      'no_permission',
      `No permission to run ${program} (${error.code}). Check its owner and mode.`,
      `${program} を実行する権限がありません（${error.code}）。所有者とモードを確認してください。`,
    )
  return error
}

/** `fumi resume`: goes on with a session in the program that it belongs to. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Command } from 'commander'
import type { ResumeCommand } from '../../agents/agent.ts'
import { allAgents } from '../../agents/all.ts'
import { shellLine, whyNotResumed } from '../../agents/resume-command.ts'
import { agentServing } from '../../agents/roots.ts'
import { isFolder } from '../../lib/files/look.ts'
import { AppError } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import { openHouse } from '../house.ts'
import { say } from '../language.ts'
import { writeOut } from '../output.ts'
import { examples } from '../run/examples.ts'
import { type Found, findSession } from '../sessions.ts'

interface Options {
  readonly print?: boolean
}

export function resumeCommand(program: Command): void {
  program
    .command('resume')
    .summary(say('go on with a session in the program that it belongs to', '会話の続きを、元のプログラムで始める'))
    .argument(
      '<session>',
      say('its id as fumi list shows it, or the beginning of it', 'fumi list が示す会話の ID、またはその先頭部分'),
    )
    .option('--print', say('print the command for a shell instead of running it', '実行せず、シェル用のコマンドを表示'))
    .addHelpText('after', examples('fumi resume codex:019c22d1', 'fumi resume codex:019c22d1 --print'))
    .action(run)
}

async function run(name: string, options: Options): Promise<void> {
  const command = await commandFor(await foundOf(name))
  if (options.print) await writeOut(`${shellLine(command)}\n`)
  else process.exitCode = await runIn(command)
}

/** Nothing stays open while the program runs. */
async function foundOf(name: string): Promise<Found> {
  const house = await openHouse()
  try {
    return await findSession(house, name)
  } finally {
    house.close()
  }
}

async function commandFor({ log, session, kept }: Found): Promise<ResumeCommand> {
  const agent = log?.agent ?? agentServing(session.agent, await allAgents())
  if (!log)
    throw new AppError(
      'not_found',
      `the log of ${session.id} is gone: ${session.path}. ${agent.label} would not find it.`,
      `${session.id} のログがありません: ${session.path}。${agent.label} では開けません。`,
    )
  const reason = whyNotResumed(agent, session, kept && (kept.ended_how ?? 'gone'))
  if (reason !== undefined || !agent.resume)
    throw new AppError(kept ? 'not_found' : 'bad_usage', reason ?? phrase('', ''))
  return agent.resume(session)
}

/** The exit code of the program. */
async function runIn(command: ResumeCommand): Promise<number> {
  const { program, arguments: words, cwd } = command
  if (cwd !== undefined && !isFolder(cwd))
    throw new AppError(
      'not_found',
      `${cwd}, where the session took place, is gone. Make it anew, or run this elsewhere: ${shellLine({ program, arguments: words })}`,
      `会話のあったディレクトリー ${cwd} がありません。作り直すか、別の場所で実行してください: ${shellLine({ program, arguments: words })}`,
    )
  const isWindows = process.platform === 'win32'
  if (isWindows && !words.every((word) => /^[\w.:-]+$/.test(word)))
    throw new AppError(
      'bad_usage',
      `run this yourself: ${shellLine(command)}`,
      `次のコマンドを自分で実行してください: ${shellLine(command)}`,
    )
  // There programs are often scripts, which only a shell finds.
  const child = spawn(program, words, { stdio: 'inherit', shell: isWindows, ...(cwd !== undefined && { cwd }) })
  // The terminal tells both of us; the program decides what it means.
  const stay = (): void => {}
  const pass = (): void => void child.kill('SIGTERM')
  process.on('SIGINT', stay)
  process.on('SIGTERM', pass)
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) => reject(notRun(program, error)))
      child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])))
    })
  } finally {
    process.off('SIGINT', stay)
    process.off('SIGTERM', pass)
  }
}

function notRun(program: string, error: NodeJS.ErrnoException): Error {
  if (error.code === 'ENOENT')
    return new AppError(
      'not_found',
      `${program} is not installed, or not in PATH. Install it, then try again.`,
      `${program} がインストールされていないか、PATH にありません。インストールしてからやり直してください。`,
    )
  if (error.code === 'EACCES' || error.code === 'EPERM')
    return new AppError(
      'no_permission',
      `${program} may not be run by this user (${error.code}).`,
      `${program} を実行する権限がありません（${error.code}）。`,
    )
  return error
}

/** `fumi resume`: goes on with a session in the program that it belongs to. */
import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { constants } from 'node:os'
import type { Command } from 'commander'
import type { ResumeCommand } from '../../agents/agent.ts'
import { allAgents } from '../../agents/all.ts'
import { shellLine, whyNotResumed } from '../../agents/resume-command.ts'
import { agentServing } from '../../agents/roots.ts'
import { Trust } from '../../chat/trust/store.ts'
import { dataDirectory, thisMachine } from '../../lib/files/data-directory.ts'
import { isFolder } from '../../lib/files/look.ts'
import { programPath, withSafePath } from '../../lib/programs.ts'
import { AppError } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import { visible } from '../../model/told/visible.ts'
import { openHouse } from '../house.ts'
import { say } from '../language.ts'
import { writeErr, writeOut } from '../output.ts'
import { examples } from '../run/examples.ts'
import { type Found, findSession } from '../sessions.ts'
import { asked } from '../trust/question.ts'

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
  const found = await foundOf(name)
  const command = options.print ? await commandFor(found) : await inChosenDirectory(found, await commandFor(found))
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

/**
 * A chat of our own reads freely below its directory, and its journal may have come from elsewhere: the user has chosen the
 * directory before, or confirms it now. Other programs have rules of their own.
 */
async function inChosenDirectory({ session }: Found, command: ResumeCommand): Promise<ResumeCommand> {
  if (session.agent !== OWN || command.cwd === undefined) return command
  const trust = new Trust(dataDirectory(thisMachine()))
  const cwd = trust.directoryOf(session.native_id) ?? command.cwd
  const real = isFolder(cwd) ? realpathSync(cwd) : undefined
  if (real === undefined || trust.directories().includes(real)) return { ...command, cwd }
  const text = say(
    `This conversation names the directory ${visible(cwd)}. In a chat, files below it are read without asking.\n`,
    `この会話のディレクトリーは ${visible(cwd)} です。会話では、その下のファイルが確認なしに読み取られます。\n`,
  )
  if (await asked(text, say('Continue there? [y/N] ', 'ここで続けますか？ [y/N] '))) {
    trust.addDirectory(real)
    return { ...command, cwd }
  }
  const { cwd: _, ...here } = command
  throw new AppError(
    'no_permission',
    `you have not chosen ${cwd} for a chat yet. Change to the directory that you want, then run: ${shellLine(here)}`,
    `${cwd} はまだ会話のディレクトリーとして選ばれていません。使いたいディレクトリーに移動して、次を実行してください: ${shellLine(here)}`,
  )
}

/** The agent whose sessions are our own chats. */
const OWN = 'fumibako'

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
  if (cwd !== undefined && cwd !== process.cwd() && process.stderr.isTTY)
    await writeErr(say(`Resuming in ${cwd}\n`, `${cwd} で再開します\n`))
  // The log names the directory: no program is taken from it.
  const path = programPath(program)
  // On Windows programs are often scripts, which only a shell runs.
  const child = spawn(isWindows ? `"${path}"` : path, words, {
    stdio: 'inherit',
    shell: isWindows,
    env: isWindows ? withSafePath(process.env) : process.env,
    ...(cwd !== undefined && { cwd }),
  })
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

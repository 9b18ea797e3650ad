/** Runs the program OpenCode to put a session into its database, or to take one out again. Nothing else writes there. */
import { spawn } from 'node:child_process'
import { findProgram, withSafePath } from '../../lib/programs.ts'
import { AppError } from '../../model/error.ts'
import type { HostEnvironment } from '../agent.ts'

const COMMAND = 'opencode'
const TIME_LIMIT_MS = 120_000
/** Of what the program says, for a message. */
const MAX_SHOWN = 400

export function assertInstalled({ variables }: Pick<HostEnvironment, 'variables'>): string {
  const path = findProgram(COMMAND, variables)
  if (path === undefined)
    throw new AppError(
      'not_found',
      'OpenCode must import the session itself, and the command opencode was not found. Install it or add it to PATH. To do it by hand: fumi convert --to opencode, then opencode import FILE.',
      'セッションは OpenCode 自身が取り込みますが、コマンド opencode が見つかりません。インストールするか、PATH に加えてください。手作業では fumi convert --to opencode のあと opencode import FILE です。',
    )
  return path
}

/** In the directory in which the session is to continue: OpenCode takes the project from it. */
export const importSession = (file: string, cwd: string, environment: HostEnvironment): Promise<void> =>
  run(['import', file], cwd, environment)

export const deleteSession = (id: string, cwd: string, environment: HostEnvironment): Promise<void> =>
  run(['session', 'delete', id], cwd, environment)

async function run(args: readonly string[], cwd: string, environment: HostEnvironment): Promise<void> {
  const program = assertInstalled(environment)
  const env = { ...withSafePath(environment.variables), PWD: cwd, OPENCODE_DISABLE_AUTOUPDATE: '1' }
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: TIME_LIMIT_MS })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(-MAX_SHOWN)
    })
  const code = await new Promise<number | string | null>((resolve) => {
    child.on('error', ({ message }) => resolve(message))
    child.on('close', (exit, signal) => resolve(exit ?? signal))
  })
  if (code === 0) return
  const line = `${COMMAND} ${args.join(' ')}`
  throw new AppError(
    'cannot_write',
    `${line} failed (${code}): ${said.trim()}`,
    `${line} が失敗しました（${code}）: ${said.trim()}`,
  )
}

/** Runs the built program. */
import { execFile, type SpawnSyncOptions, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { tempFolder } from './codex-log.ts'
import type { OrdinaryUser } from './ordinary-user.ts'

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'bin', 'fumi.js')

export interface RunResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Uses a temporary data directory by default, so that the machine's own is not touched. */
export function fumi(args: readonly string[], options: SpawnSyncOptions = {}, main = MAIN): RunResult {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    ...options,
    env: { ...process.env, NO_COLOR: '1', TZ: 'UTC', FUMI_HOME: join(tempFolder(), 'fumi'), ...options.env },
  })
  return { code: status, out: String(stdout), err: String(stderr) }
}

/** For running several commands at once. */
export function fumiAsync(args: readonly string[], env: NodeJS.ProcessEnv): Promise<RunResult> {
  const options = { maxBuffer: 1 << 28, env: { ...process.env, NO_COLOR: '1', TZ: 'UTC', ...env } }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [MAIN, ...args], options, (_, out, err) =>
      resolve({ code: child.exitCode, out, err }),
    )
    child.stdin?.end()
  })
}

/** For tests of permissions. */
export function fumiAs(
  { ids, project }: OrdinaryUser,
  args: readonly string[],
  options: SpawnSyncOptions = {},
): RunResult {
  return fumi(args, { ...options, ...ids }, join(project, 'dist', 'bin', 'fumi.js'))
}

export const fumiPath = MAIN

export const lines = (out: string): readonly string[] => out.split('\n').filter((one) => one !== '')

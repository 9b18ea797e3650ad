/** Runs the built program. */
import { execFile, type SpawnSyncOptions, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { tempFolder } from './codex-log.ts'
import type { OrdinaryUser } from './ordinary-user.ts'
import { runInSharedProcess } from './shared-process.ts'

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'bin', 'fumi.js')

export interface RunResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/**
 * Runs a command, if possible in a process that also runs others: starting one takes twenty times as long as most
 * commands. Uses a temporary data directory by default, so that the machine's own is not touched.
 */
export function fumi(args: readonly string[], options: SpawnSyncOptions = {}): RunResult {
  if (!canShareProcess(args, options)) return fumiProcess(args, options)
  const { cwd = process.cwd(), timeout } = options
  const env = environmentOf(options)
  return runInSharedProcess({ args, env, cwd: String(cwd), timeout }, ['env', `LC_ALL=${env['LC_ALL']}`])
}

/** In a process of its own, for tests of how the program starts, reads, writes and ends. */
export function fumiProcess(args: readonly string[], options: SpawnSyncOptions = {}, main = MAIN): RunResult {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    ...options,
    env: environmentOf(options),
  })
  return { code: status, out: String(stdout), err: String(stderr) }
}

const usualVariables = (): NodeJS.ProcessEnv => ({ ...process.env, NO_COLOR: '1', TZ: 'UTC' })

const environmentOf = ({ env }: SpawnSyncOptions): NodeJS.ProcessEnv => ({
  ...usualVariables(),
  FUMI_HOME: join(tempFolder(), 'fumi'),
  ...env,
})

/** Commands that only print and write files. Others start programs, or run until they are stopped. */
const SHARING: ReadonlySet<string | undefined> = new Set(
  (
    'backup config convert detect doctor export files forget handoff keep list mark normalize prompts relink restore ' +
    'search secrets show stats sync token trust validate'
  )
    .split(' ')
    .concat('mcp install', 'mcp uninstall'),
)
const SHARED_OPTIONS: ReadonlySet<string> = new Set(['cwd', 'timeout', 'killSignal'])
/** Read when the program starts, and never again. Each value of LC_ALL has a process of its own. */
const FIXED_VARIABLES = /^(?:LANG|LC_(?!ALL$)|TZ$|NO_COLOR|FORCE_COLOR|FUMI_LOG|FUMI_LANGUAGE|NODE_|PATH$)/
const FIXED_ARGUMENTS = /^(?:-|-v|--verbose|--watch|--follow|--set|--set=language=.*)$/

function canShareProcess(args: readonly string[], { env = {}, ...options }: SpawnSyncOptions): boolean {
  const usual = usualVariables()
  return (
    process.platform !== 'win32' &&
    process.env['FUMI_TEST_PROCESSES'] !== 'own' &&
    (SHARING.has(args[0]) || SHARING.has(args.slice(0, 2).join(' '))) &&
    !args.some((one) => FIXED_ARGUMENTS.test(one)) &&
    Object.keys(options).every((name) => SHARED_OPTIONS.has(name)) &&
    !Object.entries(env).some(([name, value]) => FIXED_VARIABLES.test(name) && value !== usual[name])
  )
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
  return fumiProcess(args, { ...options, ...ids }, join(project, 'dist', 'bin', 'fumi.js'))
}

export const fumiPath = MAIN

export const lines = (out: string): readonly string[] => out.split('\n').filter((one) => one !== '')

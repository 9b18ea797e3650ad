/** Child processes: environments without keys, and process groups that end with this process. */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import type { Socket } from 'node:net'
import { programPathOrMissing } from '../../lib/programs.ts'

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** Secret keys, by the names of their variables and by their values. */
export interface SecretKeys {
  readonly names: readonly string[]
  readonly values: readonly string[]
}

/** Builds the environment of a new program. @param listed variables from an agent file */
export type EnvironmentBuilder = (listed?: Iterable<readonly [string, string]>) => Record<string, string>

/** The environment of this process, if no profiles are known. */
export const ownEnvironment: EnvironmentBuilder = (listed) => childEnvironment(process.env, NO_KEYS, listed)

const NO_KEYS: SecretKeys = { names: [], values: [] }

/** Always removed. The second pattern covers `FUMI_PROFILES_<NAME>_KEY` of profiles that no longer exist. */
const ALWAYS_REMOVED = [/^(?:OPENAI|ANTHROPIC)_API_KEY$/i, /^FUMI_(?:.*_)?(?:KEY|TOKEN|SECRET|PASSWORD)$/i]

/**
 * Variables that make bash run other code, or interpret a command differently from its text, on which permissions are
 * based.
 */
const BASH_VARIABLES = /^(?:BASH_ENV|ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PS4|CDPATH|GLOBIGNORE)$/

/** Shorter values are not keys: they would remove unrelated variables such as SHLVL=1. */
const MIN_KEY_LENGTH = 8

/**
 * Removes a variable if it is known to hold a key, or if its value equals a key.
 * @param listed variables from an agent file, which are always passed, even keys
 */
export function childEnvironment(
  variables: EnvironmentVariables,
  keys: SecretKeys = NO_KEYS,
  listed: Iterable<readonly [string, string]> = [],
): Record<string, string> {
  const names = new Set(keys.names)
  const inNamed = Object.entries(variables).flatMap(([name, value]) => (isKey(name, names) ? [value ?? ''] : []))
  const values = new Set([...keys.values, ...inNamed].filter((value) => value.length >= MIN_KEY_LENGTH))
  const passed: Record<string, string> = {}
  for (const [name, value] of Object.entries(variables))
    if (value !== undefined && !isKey(name, names) && !values.has(value) && !BASH_VARIABLES.test(name))
      passed[name] = value
  for (const [name, value] of listed) passed[name] = expandVariables(value, variables)
  return passed
}

const isKey = (name: string, names: ReadonlySet<string>): boolean =>
  names.has(name) || ALWAYS_REMOVED.some((pattern) => pattern.test(name))

/** Replaces `${env:NAME}` as in Amazon Q's files. Unset variables stay as written. */
const expandVariables = (value: string, variables: EnvironmentVariables): string =>
  value.replaceAll(/\$\{env:([^}]+)\}/g, (match, name: string) => variables[name] ?? match)

const IS_WINDOWS = process.platform === 'win32'

export interface GroupOptions extends Pick<SpawnOptions, 'cwd' | 'env'> {
  /** Standard input is a pipe; otherwise empty. */
  readonly hasInput: boolean
  /**
   * Keeps file descriptor 3 open in the program: its end means that this process is gone, or wants the program to end.
   */
  readonly lifeline?: boolean
}

/**
 * The program waits at a gate (file descriptor 3) until the watchdog knows its group. If this process is killed
 * earlier, the gate closes and the program never starts, so it cannot be left running unnoticed.
 */
const GATE_SCRIPT = 'read -r open <&3 || exit 125; exec 3<&-; exec "$@"'
const GATE_SCRIPT_WITH_LIFELINE = 'read -r open <&3 || exit 125; exec "$@"'

/**
 * Emits `error` if the program cannot be started. If it does not exist, it exits with 127 and a message on standard
 * error.
 * @param program a path, because `PATH` may contain the current directory
 */
export function startInGroup(program: string, args: readonly string[], options: GroupOptions): ChildProcess {
  if (!/[\\/]/.test(program)) throw new Error(`${program} is a name, not a path`)
  const { cwd, env, hasInput, lifeline = false } = options
  const input = hasInput ? 'pipe' : 'ignore'
  const child = IS_WINDOWS
    ? spawn(program, [...args], { cwd, env, stdio: [input, 'pipe', 'pipe'], windowsHide: true })
    : spawn('/bin/sh', ['-c', lifeline ? GATE_SCRIPT_WITH_LIFELINE : GATE_SCRIPT, 'sh', program, ...args], {
        cwd,
        env,
        // A new session and process group: terminal signals do not reach it, and ours reach all of it.
        detached: true,
        stdio: [input, 'pipe', 'pipe', 'pipe'],
      })
  if (child.pid !== undefined) {
    watchdog.add(child.pid)
    child.once('exit', () => watchdog.review())
  }
  const gate = child.stdio[3] as Socket | undefined
  // The program may be killed before it reads its input.
  gate?.on('error', () => {})
  gate?.resume()
  if (lifeline) gate?.write('\n')
  else gate?.end('\n')
  child.once('exit', () => gate?.destroy())
  return child
}

/** Makes a program with a lifeline end. */
export function cutLifeline({ stdio }: ChildProcess): void {
  ;(stdio[3] as Socket | undefined)?.destroy()
}

/** Signals the whole group; on Windows, every signal kills the tree. Returns false if no process is left. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  if (IS_WINDOWS) {
    if (signal !== 0) spawnSync(programPathOrMissing('taskkill'), ['/pid', String(pid), '/T', '/F'])
    return signal === 0 && isRunning(pid)
  }
  return isRunning(-pid, signal)
}

function isRunning(pid: number, signal: NodeJS.Signals | 0 = 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    // EPERM: a process of the group runs as another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Reads `+ group` and `- group`. The end of input means that this process is gone. */
const WATCH_SCRIPT = `trap '' HUP INT TERM
groups=
while read -r what group; do
  if [ "$what" = + ]; then groups="$groups $group"; continue; fi
  left=
  for one in $groups; do [ "$one" = "$group" ] || left="$left $one"; done
  groups=$left
done
for one in $groups; do kill -KILL "-$one" 2>/dev/null; done`

/** Interval for checking ended groups for leftover processes. */
const REVIEW_MS = 2000

/** One shell per process, started with the first group. It waits for the end of its input. */
class Watchdog {
  readonly #groups = new Set<number>()
  #shell: ChildProcess | undefined
  #timer: NodeJS.Timeout | undefined

  constructor() {
    process.on('exit', () => {
      for (const group of this.#groups) signalGroup(group, 'SIGKILL')
    })
  }

  add(group: number): void {
    if (!IS_WINDOWS) this.#start()
    this.#groups.add(group)
    this.#send(`+ ${group}\n`)
    this.#timer ??= setInterval(() => this.review(), REVIEW_MS).unref()
  }

  /** Removes empty groups, because the system may reuse their numbers. */
  review(): void {
    for (const group of this.#groups) {
      if (signalGroup(group, 0)) continue
      this.#groups.delete(group)
      this.#send(`- ${group}\n`)
    }
    if (this.#groups.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #start(): void {
    if (this.#shell) return
    const shell = spawn('/bin/sh', ['-c', WATCH_SCRIPT], {
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: {},
    })
    this.#shell = shell
    const forgetShell = (): void => {
      if (this.#shell === shell) this.#shell = undefined
    }
    // Without the shell, the exit handler above still kills the groups, and the next group starts another shell.
    shell.once('error', forgetShell).once('exit', forgetShell)
    shell.stdin.on('error', forgetShell)
    shell.unref()
    ;(shell.stdin as unknown as { unref(): void }).unref()
    for (const group of this.#groups) this.#send(`+ ${group}\n`)
  }

  #send(line: string): void {
    if (this.#shell?.stdin?.writable) this.#shell.stdin.write(line)
  }
}

const watchdog = new Watchdog()

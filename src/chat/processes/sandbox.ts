/** Chooses and probes the sandbox for the model's commands, and renames dangerous files after a command. */
import { accessSync, constants, readdirSync, readlinkSync, realpathSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { createTempFolder, type TempFolder } from '../../lib/files/temp-files.ts'
import { findProgram, programPathOrMissing } from '../../lib/programs.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { childEnvironment, type GroupOptions, startInGroup } from './process-group.ts'
import {
  bubblewrapArgs,
  buildSeatbeltProfile,
  GUARDED_GIT_FILES,
  isInDataDirectory,
  lstatOf,
  type SandboxBounds,
} from './sandbox-programs.ts'

interface RepositorySnapshot {
  readonly hadRepository: boolean
  /** Guarded files that did not exist. */
  readonly missing: readonly string[]
  /** Guarded files, and `.git`, that were symbolic links, with their targets. */
  readonly links: ReadonlyMap<string, string>
}

function snapshotRepository(cwd: string): RepositorySnapshot {
  const git = join(cwd, '.git')
  const guarded = GUARDED_GIT_FILES.map((name) => join(git, name))
  const links = [git, ...guarded].flatMap((path) => {
    const target = readLinkTargetOf(path)
    return target === undefined ? [] : [[path, target] as const]
  })
  return { hadRepository: exists(git), missing: guarded.filter((path) => !exists(path)), links: new Map(links) }
}

/** @returns the original names of the renamed files */
export function renamePlantedFiles(
  cwd: string,
  { hadRepository, missing, links }: RepositorySnapshot,
): readonly string[] {
  const git = join(cwd, '.git')
  const replaced = [...links].filter(([path, target]) => readLinkTargetOf(path) !== target).map(([path]) => path)
  const created = hadRepository ? missing : isPlainRepository(git) ? [] : [git]
  return [...replaced, ...created].filter((path) => exists(path) && renameSuspect(path))
}

function readLinkTargetOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function renameSuspect(path: string): boolean {
  try {
    renameSync(path, `${path}.from-sandbox-${Date.now()}`)
    return true
  } catch {
    return false
  }
}

/**
 * Whether this is a repository as created by `git init`: its configuration runs no programs, and its hooks are samples.
 */
function isPlainRepository(git: string): boolean {
  if (!exists(git)) return true
  try {
    if (!lstatOf(git)?.isDirectory()) return false
    const others = ['config.worktree', 'commondir'].some((name) => exists(join(git, name)))
    const hooks = exists(join(git, 'hooks')) ? readdirSync(join(git, 'hooks')) : []
    const lines = readRegularFile(join(git, 'config')).toString().split('\n')
    return !others && hooks.every((name) => name.endsWith('.sample')) && lines.every((line) => PLAIN_LINE.test(line))
  } catch {
    return false
  }
}

const PLAIN_LINE =
  /^\s*(?:|\[core\]|\[init\]|repositoryformatversion = [01]|(?:filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks) = (?:true|false))\s*$/

const exists = (path: string): boolean => lstatOf(path) !== undefined

export type SandboxMode = 'auto' | 'on' | 'off'

export type SandboxSetup =
  | { readonly kind: 'sandboxed'; readonly sandbox: Sandbox }
  /** `off`, or `auto` without a working sandbox; `why` then gives the reason. */
  | { readonly kind: 'open'; readonly why?: Phrase }
  /** `on` without a working sandbox: commands are refused. */
  | { readonly kind: 'refused'; readonly why: Phrase }

export const NO_SANDBOX: SandboxSetup = { kind: 'open' }

export function sandboxLabel(sandboxing: SandboxSetup): Phrase {
  if (sandboxing.kind === 'sandboxed') return phrase('sandbox: no network', 'サンドボックス：ネットワークなし')
  const why = sandboxing.why
  return why
    ? phrase(`no sandbox: ${why.en}`, `サンドボックスなし：${why.ja}`)
    : phrase('sandbox off', 'サンドボックスなし')
}

type Program = 'bwrap' | 'sandbox-exec'

interface SandboxRequest extends Omit<SandboxBounds, 'temp'> {
  readonly mode: SandboxMode
  readonly platform: string
}

/** Probes a sandbox by running a command in it. Never rejects. */
export async function chooseSandbox({ mode, platform, ...bounds }: SandboxRequest): Promise<SandboxSetup> {
  if (mode === 'off') return NO_SANDBOX
  const program = PROGRAMS[platform]
  const why = program === undefined ? NO_PROGRAM : await findProblem(program, bounds)
  if (program !== undefined && why === undefined) return { kind: 'sandboxed', sandbox: new Sandbox(program, bounds) }
  return mode === 'on' ? { kind: 'refused', why: why ?? NO_PROGRAM } : { kind: 'open', why: why ?? NO_PROGRAM }
}

const PROGRAMS: { readonly [platform: string]: Program } = { linux: 'bwrap', darwin: 'sandbox-exec' }

const NO_PROGRAM = phrase(
  'this system has no sandbox that fumi can use',
  'このシステムには使えるサンドボックスがありません',
)

/** Program and arguments that precede a command. */
export interface SandboxWrapper {
  readonly command: readonly string[]
  readonly lifeline: boolean
}

/**
 * Ends everything in the sandbox when the lifeline closes. `--die-with-parent` is not sufficient: during its setup,
 * bubblewrap's inner process is neither bound to the outer one nor in its group. Inside the sandbox, the first program
 * has process id 2; outside it, this script must never kill anything.
 */
const LIFELINE_SCRIPT = `[ $$ -eq 2 ] || exit 125
(trap '' HUP INT TERM; read -r gone <&3; kill -KILL -1) </dev/null >/dev/null 2>&1 &
exec 3<&-; exec "$@"`
const LIFELINE_COMMAND = ['/bin/sh', '-c', LIFELINE_SCRIPT, 'sh']

/** The sandbox of one conversation, whose commands share a temporary folder. */
class Sandbox {
  readonly #program: Program
  readonly #bounds: Omit<SandboxBounds, 'temp'>
  #temp: TempFolder | undefined

  constructor(program: Program, bounds: Omit<SandboxBounds, 'temp'>) {
    this.#program = program
    this.#bounds = bounds
  }

  /** Program and arguments to put before a command. Throws system errors. */
  wrapper(): SandboxWrapper {
    this.#temp ??= createTempFolder('sandbox')
    const bounds = { ...this.#bounds, temp: this.#temp.path }
    // By its absolute path, so that a project cannot supply its own.
    const program = programPathOrMissing(this.#program, bounds.variables)
    if (this.#program === 'bwrap')
      return { command: [program, ...bubblewrapArgs(bounds), ...LIFELINE_COMMAND], lifeline: true }
    const [cwd, temp, data] = [bounds.cwd, bounds.temp, bounds.data].map(resolveOrSame) as [string, string, string]
    return { command: [program, '-p', buildSeatbeltProfile({ cwd, temp, data })], lifeline: false }
  }

  /** Variables inside the sandbox. Those of a command take precedence. */
  get variables(): Readonly<Record<string, string>> {
    const temp = this.#program === 'bwrap' ? '/tmp' : (this.#temp?.path ?? '/tmp')
    return { TMPDIR: temp, TMP: temp, TEMP: temp }
  }

  before(): RepositorySnapshot {
    return snapshotRepository(this.#bounds.cwd)
  }

  /** Renames paths that the command created and that git would obey outside. */
  after(before: RepositorySnapshot): readonly string[] {
    return renamePlantedFiles(this.#bounds.cwd, before)
  }

  close(): void {
    this.#temp?.remove()
    this.#temp = undefined
  }
}

/** By program and directory, because the result does not change while this process runs. */
const probes = new Map<string, Promise<Phrase | undefined>>()

function findProblem(program: Program, bounds: Omit<SandboxBounds, 'temp'>): Promise<Phrase | undefined> {
  const key = JSON.stringify([program, bounds.cwd, bounds.data])
  const probe = probes.get(key) ?? probeSandbox(program, bounds)
  probes.set(key, probe)
  return probe
}

/** Probes everything a command needs: the sandbox starts, and the writable places are writable. */
async function probeSandbox(program: Program, bounds: Omit<SandboxBounds, 'temp'>): Promise<Phrase | undefined> {
  if (findProgram(program, bounds.variables) === undefined) return problemText(program, NOT_FOUND_EXIT_CODE, '')
  const sandbox = new Sandbox(program, bounds)
  try {
    const { command, lifeline } = sandbox.wrapper()
    const script =
      canWrite(bounds.cwd) && !isInDataDirectory(bounds) ? 'test -w . && test -w "$TMPDIR"' : 'test -w "$TMPDIR"'
    const env = { ...childEnvironment(bounds.variables), ...sandbox.variables }
    const { code, said: stderr } = await runToEnd([...command, '/bin/sh', '-c', script], {
      cwd: bounds.cwd,
      env,
      lifeline,
    })
    return code === 0 ? undefined : problemText(program, code, stderr)
  } catch (error) {
    return problemText(program, null, error instanceof Error ? error.message : String(error))
  } finally {
    sandbox.close()
  }
}

const NOT_FOUND_EXIT_CODE = 127
const MAX_REASON_LENGTH = 200

function problemText(program: Program, code: number | null, stderr: string): Phrase {
  if (code === NOT_FOUND_EXIT_CODE)
    return program === 'bwrap'
      ? phrase(
          'bubblewrap (bwrap) is not installed; install the package bubblewrap',
          'bubblewrap（bwrap）がありません。パッケージ bubblewrap をインストールしてください',
        )
      : phrase(`${program} is missing`, `${program} がありません`)
  const reason = stderr.trim().split('\n').at(-1)?.slice(0, MAX_REASON_LENGTH) || `exit ${code}`
  return phrase(`${program} does not work here: ${reason}`, `${program} が動きません（${reason}）`)
}

const PROBE_TIMEOUT_MS = 10_000

function runToEnd([program = '', ...args]: readonly string[], options: Omit<GroupOptions, 'hasInput'>) {
  return new Promise<{ readonly code: number | null; readonly said: string }>((resolve) => {
    const child = startInGroup(program, args, { ...options, hasInput: false })
    const timer = setTimeout(() => child.kill('SIGKILL'), PROBE_TIMEOUT_MS)
    let stderr = ''
    child.stdout?.resume()
    child.stderr?.on('data', (bytes: Buffer) => {
      stderr += bytes.toString('utf8')
    })
    const done = (code: number | null): void => {
      clearTimeout(timer)
      resolve({ code, said: stderr })
    }
    child.once('error', (error) => {
      stderr += error.message
      done(null)
    })
    child.once('close', done)
  })
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function resolveOrSame(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

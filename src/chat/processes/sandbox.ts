/** Whether commands of a conversation run in a sandbox, and which: `chat.sandbox`, and what works on this machine. */
import { accessSync, constants, realpathSync } from 'node:fs'
import { makeTempFolder, type TempFolder } from '../../lib/disk/temp-folder.ts'
import { findProgram, programPath } from '../../lib/programs.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { Bounds } from './bounds.ts'
import { bubblewrapArgs, isInData } from './bubblewrap.ts'
import { childEnvironment } from './child-environment.ts'
import { newInRepository, type RepositoryBefore, repositoryBefore } from './planted-files.ts'
import { type GroupOptions, startInGroup } from './process-group.ts'
import { seatbeltProfile } from './seatbelt.ts'

export type SandboxMode = 'auto' | 'on' | 'off'

/** How commands of a conversation are run. */
export type Sandboxing =
  | { readonly kind: 'sandboxed'; readonly sandbox: Sandbox }
  /** `off`, or `auto` where none works; then `why` says so. */
  | { readonly kind: 'open'; readonly why?: Phrase }
  /** `on`, but none works: commands are refused. */
  | { readonly kind: 'refused'; readonly why: Phrase }

export const NO_SANDBOX: Sandboxing = { kind: 'open' }

/** A few words for a banner or a list. */
export function sandboxLabel(sandboxing: Sandboxing): Phrase {
  if (sandboxing.kind === 'sandboxed') return phrase('sandbox: no network', 'サンドボックス：ネットワークなし')
  const why = sandboxing.why
  return why
    ? phrase(`no sandbox: ${why.en}`, `サンドボックスなし：${why.ja}`)
    : phrase('sandbox off', 'サンドボックスなし')
}

type Program = 'bwrap' | 'sandbox-exec'

export interface SandboxWanted extends Omit<Bounds, 'temp'> {
  readonly mode: SandboxMode
  readonly platform: string
}

/** Probes by running something in it. Never rejects. */
export async function sandboxingFor({ mode, platform, ...bounds }: SandboxWanted): Promise<Sandboxing> {
  if (mode === 'off') return NO_SANDBOX
  const program = PROGRAMS[platform]
  const why = program === undefined ? NO_PROGRAM : await problemWith(program, bounds)
  if (program !== undefined && why === undefined) return { kind: 'sandboxed', sandbox: new Sandbox(program, bounds) }
  return mode === 'on' ? { kind: 'refused', why: why ?? NO_PROGRAM } : { kind: 'open', why: why ?? NO_PROGRAM }
}

const PROGRAMS: { readonly [platform: string]: Program } = { linux: 'bwrap', darwin: 'sandbox-exec' }

const NO_PROGRAM = phrase(
  'this system has no sandbox that fumi can use',
  'このシステムには使えるサンドボックスがありません',
)

/** Program and arguments that go before those of a command. */
export interface Wrapper {
  readonly words: readonly string[]
  readonly lifeline: boolean
}

/**
 * Ends everything in the sandbox with the lifeline. `--die-with-parent` alone does not: while bubblewrap sets the sandbox up, the
 * process inside is not bound to the one outside yet, nor in its group any more. The first program in the sandbox has the number 2;
 * outside of one nothing may ever be killed this way.
 */
const WATCH_LIFELINE = `[ $$ -eq 2 ] || exit 125
(trap '' HUP INT TERM; read -r gone <&3; kill -KILL -1) </dev/null >/dev/null 2>&1 &
exec 3<&-; exec "$@"`
const WATCHED = ['/bin/sh', '-c', WATCH_LIFELINE, 'sh']

/** For one conversation: its commands share a temp folder. */
export class Sandbox {
  readonly #program: Program
  readonly #bounds: Omit<Bounds, 'temp'>
  #temp: TempFolder | undefined

  constructor(program: Program, bounds: Omit<Bounds, 'temp'>) {
    this.#program = program
    this.#bounds = bounds
  }

  /** What goes before the command. Throws what the system says. */
  wrapper(): Wrapper {
    this.#temp ??= makeTempFolder('sandbox')
    const bounds = { ...this.#bounds, temp: this.#temp.path }
    // By its absolute path: a project must not bring its own.
    const program = programPath(this.#program, bounds.variables)
    if (this.#program === 'bwrap') return { words: [program, ...bubblewrapArgs(bounds), ...WATCHED], lifeline: true }
    const [cwd, temp, data] = [bounds.cwd, bounds.temp, bounds.data].map(realOrSame) as [string, string, string]
    return { words: [program, '-p', seatbeltProfile({ cwd, temp, data })], lifeline: false }
  }

  /** Variables that hold inside of it; those of a command go before them. */
  get variables(): Readonly<Record<string, string>> {
    const temp = this.#program === 'bwrap' ? '/tmp' : (this.#temp?.path ?? '/tmp')
    return { TMPDIR: temp, TMP: temp, TEMP: temp }
  }

  before(): RepositoryBefore {
    return repositoryBefore(this.#bounds.cwd)
  }

  /** Paths that a command made and that git would obey outside: they were renamed. */
  after(before: RepositoryBefore): readonly string[] {
    return newInRepository(this.#bounds.cwd, before)
  }

  close(): void {
    this.#temp?.remove()
    this.#temp = undefined
  }
}

/** By program and directory: whether it works does not change while this process runs. */
const probes = new Map<string, Promise<Phrase | undefined>>()

function problemWith(program: Program, bounds: Omit<Bounds, 'temp'>): Promise<Phrase | undefined> {
  const key = JSON.stringify([program, bounds.cwd, bounds.data])
  const probe = probes.get(key) ?? probed(program, bounds)
  probes.set(key, probe)
  return probe
}

/** Looks at all that a command needs: that it starts, and that it may write where we may. */
async function probed(program: Program, bounds: Omit<Bounds, 'temp'>): Promise<Phrase | undefined> {
  if (findProgram(program, bounds.variables) === undefined) return notWorking(program, NOT_FOUND, '')
  const sandbox = new Sandbox(program, bounds)
  try {
    const { words, lifeline } = sandbox.wrapper()
    const script = canWrite(bounds.cwd) && !isInData(bounds) ? 'test -w . && test -w "$TMPDIR"' : 'test -w "$TMPDIR"'
    const env = { ...childEnvironment(bounds.variables), ...sandbox.variables }
    const { code, said } = await ended([...words, '/bin/sh', '-c', script], { cwd: bounds.cwd, env, lifeline })
    return code === 0 ? undefined : notWorking(program, code, said)
  } catch (error) {
    return notWorking(program, null, error instanceof Error ? error.message : String(error))
  } finally {
    sandbox.close()
  }
}

const NOT_FOUND = 127
const SAID_SHOWN = 200

function notWorking(program: Program, code: number | null, said: string): Phrase {
  if (code === NOT_FOUND)
    return program === 'bwrap'
      ? phrase(
          'bubblewrap (bwrap) is not installed; install the package bubblewrap',
          'bubblewrap（bwrap）がありません。パッケージ bubblewrap をインストールしてください',
        )
      : phrase(`${program} is not there`, `${program} がありません`)
  const reason = said.trim().split('\n').at(-1)?.slice(0, SAID_SHOWN) || `exit ${code}`
  return phrase(`${program} does not work here: ${reason}`, `${program} が動きません（${reason}）`)
}

const PROBE_MS = 10_000

function ended([program = '', ...args]: readonly string[], options: Omit<GroupOptions, 'hasInput'>) {
  return new Promise<{ readonly code: number | null; readonly said: string }>((resolve) => {
    const child = startInGroup(program, args, { ...options, hasInput: false })
    const timer = setTimeout(() => child.kill('SIGKILL'), PROBE_MS)
    let said = ''
    child.stdout?.resume()
    child.stderr?.on('data', (bytes: Buffer) => {
      said += bytes.toString('utf8')
    })
    const done = (code: number | null): void => {
      clearTimeout(timer)
      resolve({ code, said })
    }
    child.once('error', (error) => {
      said += error.message
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

function realOrSame(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

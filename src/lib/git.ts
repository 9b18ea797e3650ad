/**
 * Runs the git that is installed: the only place that does. Every call names its repository, and that is one of ours: the
 * configuration of a project's repository may name programs, and is never read (docs/decisions/0019-running-git.md).
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { gitProjectAt } from './git/project.ts'
import { type GitCall, gitEnvironment, safeCall } from './git/settings.ts'
import { findProgram } from './programs.ts'

export interface GitRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface GitRunOptions {
  /** Read in place of the repository's own, and not written. */
  readonly indexFile?: string
  readonly timeoutMs?: number
}

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024
const READ_TIMEOUT_MS = 60_000
/** The first checkpoint of a large project copies all of it. */
const WRITE_TIMEOUT_MS = 600_000
const WRITING = new Set(['add', 'commit', 'checkout', 'reset', 'update-index'])
/** As a shell answers for a program that it cannot run. */
const NOT_RUN = 127

/**
 * No shell, no prompts, no programs but git. Never rejects.
 * @param args with `--git-dir`, but for `init` and `--version`; commands that checkpoints do not need are refused
 * @param input for its standard input
 */
export async function runGit(
  args: readonly string[],
  signal?: AbortSignal,
  input?: string,
  options: GitRunOptions = {},
): Promise<GitRun> {
  const call = safeCall(args)
  if (!call) return notRun(`not run, since it names no repository or is not known to be safe: git ${args.join(' ')}`)
  if (call.command === 'add') {
    const dropped = await dropSubmodules(call, signal)
    if (dropped.code !== 0) return dropped
  }
  return start(call, signal, input, options)
}

const notRun = (stderr: string): GitRun => ({ code: NOT_RUN, stdout: '', stderr })

/**
 * `git add` starts a second git in each submodule that the index knows, which runs the filters that the submodule's configuration
 * names. Those that it does not know it only adds, so the index forgets them first.
 */
async function dropSubmodules({ place }: GitCall, signal?: AbortSignal): Promise<GitRun> {
  const listed = await runGit([...place, 'ls-files', '-z', '--stage', '--', ':/'], signal)
  if (listed.code !== 0 || !/(?:^|\0)160000 /.test(listed.stdout)) return listed
  const paths = listed.stdout
    .split('\0')
    .flatMap((line) => (line.startsWith('160000 ') ? [line.slice(line.indexOf('\t') + 1)] : []))
  return runGit([...place, 'update-index', '--force-remove', '-z', '--stdin'], signal, `${paths.join('\0')}\0`)
}

function start(
  call: GitCall,
  signal: AbortSignal | undefined,
  input: string | undefined,
  { indexFile, timeoutMs }: GitRunOptions,
): Promise<GitRun> {
  const program = findProgram('git')
  if (program === undefined) return Promise.resolve(notRun('git is not installed'))
  if (signal?.aborted) return Promise.resolve(notRun('cancelled'))
  const env = gitEnvironment(process.env)
  if (indexFile !== undefined) Object.assign(env, { GIT_INDEX_FILE: indexFile, GIT_OPTIONAL_LOCKS: '0' })
  return new Promise((resolve) => {
    let child: ChildProcess
    try {
      // A group of its own can be ended as a whole, and has no terminal to ask on.
      child = spawn(program, [...call.args], { env, detached: process.platform !== 'win32', windowsHide: true })
    } catch (error) {
      // An argument holds a zero byte.
      return resolve(notRun(String(error)))
    }
    const out = new Output()
    const err = new Output()
    let failure: string | undefined
    const stop = (why: string): void => {
      failure ??= why
      endGroup(child)
    }
    const onAbort = (): void => stop('cancelled')
    const limit = timeoutMs ?? (WRITING.has(call.command) ? WRITE_TIMEOUT_MS : READ_TIMEOUT_MS)
    const timer = setTimeout(() => stop(`git ${call.command} took longer than ${limit / 1000} s`), limit)
    const finish = (code: number): void => {
      running.delete(child)
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      const said = failure === undefined ? err.text() : [err.text(), failure].filter(Boolean).join('\n')
      resolve({ code: failure === undefined ? code : NOT_RUN, stdout: out.text(), stderr: said })
    }
    running.add(child)
    signal?.addEventListener('abort', onAbort, { once: true })
    child.stdout?.on('data', (bytes: Buffer) => out.take(bytes) || stop('git printed too much'))
    child.stderr?.on('data', (bytes: Buffer) => err.take(bytes) || stop('git printed too much'))
    // It says itself what it did not like.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
    child.once('error', (error) => {
      failure ??= error.message
      finish(NOT_RUN)
    })
    child.once('close', (code) => finish(code ?? NOT_RUN))
  })
}

const KILL_AFTER_MS = 2000
const running = new Set<ChildProcess>()

process.on('exit', () => {
  for (const child of running) signalGroup(child, 'SIGTERM')
})

/** git takes its locks away when it is asked to end. */
function endGroup(child: ChildProcess): void {
  signalGroup(child, 'SIGTERM')
  setTimeout(() => running.has(child) && signalGroup(child, 'SIGKILL'), KILL_AFTER_MS).unref()
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // All of them have ended.
  }
}

class Output {
  readonly #chunks: Buffer[] = []
  #size = 0

  /** False where it is too much. */
  take(bytes: Buffer): boolean {
    this.#size += bytes.length
    if (this.#size > MAX_OUTPUT_BYTES) return false
    this.#chunks.push(bytes)
    return true
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }
}

export async function isGitInstalled(): Promise<boolean> {
  return (await runGit(['--version'])).code === 0
}

/** By the `.git` of this folder or of one above it; git is not asked. */
export async function isInWorkTree(directory: string): Promise<boolean> {
  return gitProjectAt(directory) !== undefined
}

/** Deletes a bare repository and nothing else: a directory without one is left alone. */
export async function removeRepository(path: string): Promise<boolean> {
  const { code } = await runGit([`--git-dir=${path}`, 'rev-parse', '--is-bare-repository'])
  if (code !== 0) return false
  await rm(path, { recursive: true, force: true })
  return true
}

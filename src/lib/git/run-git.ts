/**
 * Runs the git that is installed: the only place that does. Every call names its repository, and that is one of ours: the
 * configuration of a project's repository may name programs, and is never read (docs/decisions/0019-running-git.md).
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { findProgram } from '../programs.ts'
import { findGitProject } from './project.ts'
import { type GitCall, gitEnvironment, toSafeCall } from './safe-call.ts'

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
const WRITING_COMMANDS = new Set(['add', 'commit', 'checkout', 'reset', 'update-index'])
/** As a shell answers for a program that it cannot run. */
const NOT_RUN_EXIT_CODE = 127

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
  const call = toSafeCall(args)
  if (!call)
    return notRunResult(`not run, since it names no repository or is not known to be safe: git ${args.join(' ')}`)
  if (call.command === 'add') {
    const removal = await dropSubmodules(call, signal)
    if (removal.code !== 0) return removal
  }
  return startGit(call, signal, input, options)
}

const notRunResult = (stderr: string): GitRun => ({ code: NOT_RUN_EXIT_CODE, stdout: '', stderr })

/**
 * `git add` starts a second git in each submodule that the index knows, which runs the filters that the submodule's configuration
 * names. Those that it does not know it only adds, so the index forgets them first.
 */
async function dropSubmodules({ locationArgs }: GitCall, signal?: AbortSignal): Promise<GitRun> {
  const listing = await runGit([...locationArgs, 'ls-files', '-z', '--stage', '--', ':/'], signal)
  if (listing.code !== 0 || !/(?:^|\0)160000 /.test(listing.stdout)) return listing
  const paths = listing.stdout
    .split('\0')
    .flatMap((line) => (line.startsWith('160000 ') ? [line.slice(line.indexOf('\t') + 1)] : []))
  return runGit([...locationArgs, 'update-index', '--force-remove', '-z', '--stdin'], signal, `${paths.join('\0')}\0`)
}

function startGit(
  call: GitCall,
  signal: AbortSignal | undefined,
  input: string | undefined,
  { indexFile, timeoutMs }: GitRunOptions,
): Promise<GitRun> {
  const program = findProgram('git')
  if (program === undefined) return Promise.resolve(notRunResult('git is not installed'))
  if (signal?.aborted) return Promise.resolve(notRunResult('cancelled'))
  const env = gitEnvironment(process.env)
  if (indexFile !== undefined) Object.assign(env, { GIT_INDEX_FILE: indexFile, GIT_OPTIONAL_LOCKS: '0' })
  return new Promise((resolve) => {
    let child: ChildProcess
    try {
      // A group of its own can be ended as a whole, and has no terminal to ask on.
      child = spawn(program, [...call.args], { env, detached: process.platform !== 'win32', windowsHide: true })
    } catch (error) {
      // An argument holds a zero byte.
      return resolve(notRunResult(String(error)))
    }
    const out = new OutputBuffer()
    const err = new OutputBuffer()
    let failure: string | undefined
    const stop = (reason: string): void => {
      failure ??= reason
      endProcessGroup(child)
    }
    const onAbort = (): void => stop('cancelled')
    const limit = timeoutMs ?? (WRITING_COMMANDS.has(call.command) ? WRITE_TIMEOUT_MS : READ_TIMEOUT_MS)
    const timer = setTimeout(() => stop(`git ${call.command} took longer than ${limit / 1000} s`), limit)
    const finish = (code: number): void => {
      runningProcesses.delete(child)
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      const errorOutput = failure === undefined ? err.text() : [err.text(), failure].filter(Boolean).join('\n')
      resolve({ code: failure === undefined ? code : NOT_RUN_EXIT_CODE, stdout: out.text(), stderr: errorOutput })
    }
    runningProcesses.add(child)
    signal?.addEventListener('abort', onAbort, { once: true })
    child.stdout?.on('data', (bytes: Buffer) => out.take(bytes) || stop('git printed too much'))
    child.stderr?.on('data', (bytes: Buffer) => err.take(bytes) || stop('git printed too much'))
    // It says itself what it did not like.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
    child.once('error', (error) => {
      failure ??= error.message
      finish(NOT_RUN_EXIT_CODE)
    })
    child.once('close', (code) => finish(code ?? NOT_RUN_EXIT_CODE))
  })
}

const KILL_AFTER_MS = 2000
const runningProcesses = new Set<ChildProcess>()

process.on('exit', () => {
  for (const child of runningProcesses) signalProcessGroup(child, 'SIGTERM')
})

/** git takes its locks away when it is asked to end. */
function endProcessGroup(child: ChildProcess): void {
  signalProcessGroup(child, 'SIGTERM')
  setTimeout(() => runningProcesses.has(child) && signalProcessGroup(child, 'SIGKILL'), KILL_AFTER_MS).unref()
}

function signalProcessGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // All of them have ended.
  }
}

class OutputBuffer {
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
  return findGitProject(directory) !== undefined
}

/** Deletes a bare repository and nothing else: a directory without one is left alone. */
export async function removeRepository(path: string): Promise<boolean> {
  const { code } = await runGit([`--git-dir=${path}`, 'rev-parse', '--is-bare-repository'])
  if (code !== 0) return false
  await rm(path, { recursive: true, force: true })
  return true
}

/**
 * Runs the installed git; no other file does. Every call names a repository of ours, because the configuration of a
 * project's repository may name programs to run (docs/decisions/0019-running-git.md).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { findProgram } from '../programs.ts'
import { findGitProject } from './project.ts'

export interface GitRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

interface GitRunOptions {
  /** Read instead of the repository's index, and not written. */
  readonly indexFile?: string
  readonly timeoutMs?: number
}

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024
const READ_TIMEOUT_MS = 60_000
/** The first checkpoint copies the complete project. */
const WRITE_TIMEOUT_MS = 600_000
const WRITING_COMMANDS = new Set(['add', 'commit', 'checkout', 'reset', 'update-index'])
/** The exit code of a shell for a program that it cannot run. */
const NOT_RUN_EXIT_CODE = 127

/**
 * Runs without a shell, prompts or helper programs. Never rejects.
 * @param args must include `--git-dir`, except for `init` and `--version`; only commands that checkpoints need are
 * accepted
 * @param input passed as standard input
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
 * `git add` runs a second git in each submodule of the index, with the filters of the submodule's configuration. So
 * remove the submodules from the index first; git then only adds them.
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
      // A process group of its own can be killed as a whole and has no terminal to prompt on.
      child = spawn(program, [...call.args], { env, detached: process.platform !== 'win32', windowsHide: true })
    } catch (error) {
      // An argument contains a zero byte.
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
    // git reports the problem itself.
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

/** git removes its locks on SIGTERM. */
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
    // The group has ended.
  }
}

class OutputBuffer {
  readonly #chunks: Buffer[] = []
  #size = 0

  /** Returns false above the limit. */
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

/** Checks for `.git` without running git. */
export async function isInWorkTree(directory: string): Promise<boolean> {
  return findGitProject(directory) !== undefined
}

/** Deletes only bare repositories. */
export async function removeRepository(path: string): Promise<boolean> {
  const { code } = await runGit([`--git-dir=${path}`, 'rev-parse', '--is-bare-repository'])
  if (code !== 0) return false
  await rm(path, { recursive: true, force: true })
  return true
}

/** Command-line settings override every file. An empty value means none, also to releases that expect a program name. */
const SETTINGS: readonly (readonly [key: string, value: string])[] = [
  ['core.fsmonitor', ''],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.editor', ':'],
  ['core.askPass', ''],
  ['core.sshCommand', 'false'],
  ['core.gitProxy', ''],
  ['core.alternateRefsCommand', 'false'],
  ['credential.helper', ''],
  ['gpg.program', 'false'],
  ['gpg.openpgp.program', 'false'],
  ['gpg.x509.program', 'false'],
  ['gpg.ssh.program', 'false'],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['tag.forceSignAnnotated', 'false'],
  ['log.showSignature', 'false'],
  ['uploadpack.packObjectsHook', ''],
  ['protocol.allow', 'never'],
  ['safe.bareRepository', 'explicit'],
  ['submodule.recurse', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['status.submoduleSummary', 'false'],
  ['diff.submodule', 'short'],
  ['maintenance.auto', 'false'],
  ['gc.auto', '0'],
  // Keep the output we parse independent of user preferences.
  ['color.ui', 'false'],
  ['status.showUntrackedFiles', 'normal'],
  ['commit.cleanup', 'whitespace'],
  ['advice.addEmbeddedRepo', 'false'],
]

const SETTING_ARGUMENTS: readonly string[] = SETTINGS.flatMap(([key, value]) => ['-c', `${key}=${value}`])

/** Needed to find git's parts and the user's ignore rules. All other `GIT_*` variables are dropped. */
const INHERITED_VARIABLES = new Set(['GIT_EXEC_PATH', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM'])

const VARIABLES = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  SSH_ASKPASS: '',
  GIT_PAGER: 'cat',
  PAGER: 'cat',
  GIT_EDITOR: ':',
  GIT_SEQUENCE_EDITOR: ':',
  GIT_SSH_COMMAND: 'false',
  // No protocol has this name, and this list overrides every `protocol.<name>.allow`.
  GIT_ALLOW_PROTOCOL: 'none',
  // A promisor remote may name a command that fetches missing objects.
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_TEMPLATE_DIR: '',
} as const

function gitEnvironment(from: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const inherited = Object.entries(from).filter(
    ([name]) => !/^GIT_/i.test(name) || INHERITED_VARIABLES.has(name.toUpperCase()),
  )
  return { ...Object.fromEntries(inherited), ...VARIABLES }
}

/**
 * The only commands we run, with options that keep them from starting programs. Without `--ignore-submodules`, git
 * starts a second git in each submodule.
 */
const SAFE_COMMANDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['--version', []],
  ['init', []],
  ['config', []],
  ['rev-parse', []],
  ['ls-files', []],
  ['ls-tree', []],
  ['add', []],
  ['update-index', []],
  ['commit', []],
  ['tag', []],
  ['checkout', []],
  ['reset', []],
  ['status', ['--ignore-submodules=dirty']],
  ['diff', ['--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty']],
  ['log', ['--no-ext-diff', '--no-textconv']],
])

const WITHOUT_REPOSITORY = new Set(['--version', 'init'])

/** Options before the command that take a separate value. */
const WITH_VALUE = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace'])

interface GitCall {
  readonly command: string
  /** Options before the command: folder and repository. */
  readonly locationArgs: readonly string[]
  /** All arguments, including the safety settings. */
  readonly args: readonly string[]
}

/** Undefined if git would search for a repository, or the command is not known to be safe. */
function toSafeCall(args: readonly string[]): GitCall | undefined {
  let at = 0
  while (args[at]?.startsWith('-') && !SAFE_COMMANDS.has(args[at] ?? '')) at += WITH_VALUE.has(args[at] ?? '') ? 2 : 1
  const command = args[at] ?? ''
  const options = SAFE_COMMANDS.get(command)
  const locationArgs = args.slice(0, at)
  const isNamed = locationArgs.some((word) => word === '--git-dir' || word.startsWith('--git-dir='))
  if (!options || !(isNamed || WITHOUT_REPOSITORY.has(command))) return undefined
  const rest = args.slice(at + 1)
  return {
    command,
    locationArgs,
    args: ['--no-pager', ...locationArgs, ...SETTING_ARGUMENTS, command, ...options, ...rest],
  }
}

/** Runs the git that is installed. */

import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'

export interface GitRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * No shell, no prompts, and none of the caller's repository: what the arguments say is all that git goes by.
 * @param input for its standard input
 */
export function runGit(args: readonly string[], signal?: AbortSignal, input?: string): Promise<GitRun> {
  const env: NodeJS.ProcessEnv = { ...process.env, GIT_TERMINAL_PROMPT: '0' }
  for (const name of CALLERS) delete env[name]
  const options = { env, maxBuffer: 64 * 1024 * 1024, ...(signal && { signal }) }
  return new Promise((resolve) => {
    const child = execFile('git', [...args], options, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === 'number' ? error.code : 127) : 0
      resolve({ code, stdout, stderr: stderr || (error ? error.message : '') })
    })
    if (input === undefined) return
    // It says itself what it did not like.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

const CALLERS = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_COMMON_DIR', 'GIT_OBJECT_DIRECTORY', 'GIT_PREFIX']

export async function isGitInstalled(): Promise<boolean> {
  return (await runGit(['--version'])).code === 0
}

export async function isInWorkTree(directory: string): Promise<boolean> {
  const { code, stdout } = await runGit(['-C', directory, 'rev-parse', '--is-inside-work-tree'])
  return code === 0 && stdout.trim() === 'true'
}

/** Deletes a bare repository and nothing else: a directory without one is left alone. */
export async function removeRepository(path: string): Promise<boolean> {
  const { code } = await runGit([`--git-dir=${path}`, 'rev-parse', '--is-bare-repository'])
  if (code !== 0) return false
  await rm(path, { recursive: true, force: true })
  return true
}

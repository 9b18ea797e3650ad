/**
 * Files that git obeys and that were not there before a sandboxed command. A mount can protect only what exists; what a
 * command makes anew is renamed once the command has ended, before anything outside of the sandbox can use it.
 */
import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { readRegular } from '../../lib/files/regular-file.ts'
import { GUARDED_IN_GIT, lookedAt } from './bubblewrap.ts'

export interface RepositoryBefore {
  readonly hadRepository: boolean
  /** Of the guarded files, those that were not there. */
  readonly missing: readonly string[]
}

export function repositoryBefore(cwd: string): RepositoryBefore {
  const git = join(cwd, '.git')
  const missing = GUARDED_IN_GIT.map((name) => join(git, name)).filter((path) => !exists(path))
  return { hadRepository: exists(git), missing }
}

/** @returns what was renamed, by the names that it had */
export function newInRepository(cwd: string, { hadRepository, missing }: RepositoryBefore): readonly string[] {
  const git = join(cwd, '.git')
  const suspects = hadRepository ? missing : isPlainRepository(git) ? [] : [git]
  return suspects.filter((path) => exists(path) && renamed(path))
}

function renamed(path: string): boolean {
  try {
    renameSync(path, `${path}.from-sandbox-${Date.now()}`)
    return true
  } catch {
    return false
  }
}

/** What `git init` makes: nothing in its configuration can run a program, and its hooks are samples. */
function isPlainRepository(git: string): boolean {
  if (!exists(git)) return true
  try {
    if (!lookedAt(git)?.isDirectory()) return false
    const others = ['config.worktree', 'commondir'].some((name) => exists(join(git, name)))
    const hooks = exists(join(git, 'hooks')) ? readdirSync(join(git, 'hooks')) : []
    const lines = readRegular(join(git, 'config')).toString().split('\n')
    return !others && hooks.every((name) => name.endsWith('.sample')) && lines.every((line) => PLAIN_LINE.test(line))
  } catch {
    return false
  }
}

const PLAIN_LINE =
  /^\s*(?:|\[core\]|\[init\]|repositoryformatversion = [01]|(?:filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks) = (?:true|false))\s*$/

const exists = (path: string): boolean => lookedAt(path) !== undefined

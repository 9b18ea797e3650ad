/**
 * Files that git obeys and that a sandboxed command made or replaced. A mount protects only a file or folder that exists: what a
 * command creates, and a link that it replaces, is renamed once the command has ended, before anything outside the sandbox uses it.
 */
import { readdirSync, readlinkSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { GUARDED_GIT_FILES, lstatOf } from './bubblewrap.ts'

export interface RepositorySnapshot {
  readonly hadRepository: boolean
  /** Of the guarded files, those that were not there. */
  readonly missing: readonly string[]
  /** Of the guarded files and `.git` itself, those that were symbolic links, with their targets. */
  readonly links: ReadonlyMap<string, string>
}

export function snapshotRepository(cwd: string): RepositorySnapshot {
  const git = join(cwd, '.git')
  const guarded = GUARDED_GIT_FILES.map((name) => join(git, name))
  const links = [git, ...guarded].flatMap((path) => {
    const target = readLinkTargetOf(path)
    return target === undefined ? [] : [[path, target] as const]
  })
  return { hadRepository: exists(git), missing: guarded.filter((path) => !exists(path)), links: new Map(links) }
}

/** @returns what was renamed, by the names that it had */
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

/** What `git init` makes: nothing in its configuration can run a program, and its hooks are samples. */
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

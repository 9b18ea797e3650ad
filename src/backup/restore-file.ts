/** Gives a backed-up file back: its bytes, or the file at the place where its program resumes it. */

import { createHash } from 'node:crypto'
import { existsSync, rmSync, utimesSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Agent, DirectoryChange, HostEnvironment, Original } from '../agents/agent.ts'
import { copyToBackupFile, writeFileAtomically } from '../lib/files/atomic-file.ts'
import { findFileHolder } from '../lib/files/file-holder.ts'
import { readRegularFile } from '../lib/files/regular-file.ts'
import { isFile, statOf } from '../lib/files/safe-fs.ts'
import { AppError } from '../model/error.ts'
import { type Instant, instantFromMs } from '../model/ids.ts'
import type { FileBackups } from './file-backups.ts'
import type { BackedUpFile } from './file-table.ts'
import type { Restored } from './restored-table.ts'

export interface InstallFileOptions {
  readonly environment: HostEnvironment
  readonly now: Date
  /** Parent folder of the copy of what is replaced. */
  readonly backups: string
  readonly native_id: string
  /** The directory in which its program will resume it, and the one in which it was recorded. */
  readonly directory?: DirectoryChange
  /** Replaces a file that has more content than the backup. */
  readonly mayReplaceLonger: boolean
  readonly session: string
}

export interface InstalledFile {
  readonly path: string
  /** Path of a copy of what was replaced. */
  readonly backup?: string
  readonly side_files: number
  readonly record: Restored
}

/** Where the file's program looks for it. */
export function placeOf(
  agent: Agent,
  file: Pick<BackedUpFile, 'path' | 'root' | 'machine'>,
  { environment, native_id, directory }: Pick<InstallFileOptions, 'environment' | 'native_id' | 'directory'>,
): string {
  const isForeign = file.machine !== undefined
  const [path, root] = isForeign
    ? [withoutMachine(file.path), file.root && withoutMachine(file.root)]
    : [file.path, file.root]
  const original: Original = { path, native_id, ...(root !== undefined && { root }) }
  const options = { environment, ...(directory && { directory: directory.to }) }
  const placed = agent.originals?.place?.(original, options)
  if (placed !== undefined) return placed
  const [home] = agent.roots(environment)
  if (home === undefined || (!isForeign && (root === undefined || existsSync(root)))) return path
  return join(home, root === undefined ? basename(path) : relativeTo(root, path))
}

/** Paths of another machine begin with its name. */
const withoutMachine = (path: string): string => path.slice(path.indexOf(':') + 1)

/** Also for a path of another system. */
function relativeTo(root: string, path: string): string {
  const parts = (text: string): readonly string[] => text.split(/[\\/]/)
  return path.startsWith(root) ? parts(path.slice(root.length)).filter(Boolean).join(sep) : relative(root, path)
}

/**
 * The other machine chose the paths. A session goes into a folder of its program's home, not beside the settings there,
 * and what belongs to it into the same folder.
 */
function refuseOutside(roots: readonly string[], path: string, sides: readonly string[]): void {
  const partsBelow = (root: string, target: string): readonly string[] => {
    const below = relative(root, target)
    return isAbsolute(below) ? ['..'] : below.split(sep)
  }
  const isSafe = roots.some((root) => {
    const [folder = '', ...rest] = partsBelow(root, path)
    return (
      folder !== '' &&
      folder !== '..' &&
      (rest.length > 0 || /\.jsonl$/i.test(path)) &&
      sides.every((side) => partsBelow(root, side)[0] === folder)
    )
  })
  if (isSafe) return
  throw new AppError(
    'unusable_data',
    `The other machine names a place outside of the folders for sessions: ${path}. Restore it to a file with --to.`,
    `ほかのマシンが、会話用のフォルダーの外の場所を指定しています: ${path}。--to でファイルに戻してください。`,
  )
}

/** Throws AppError with nothing changed, `busy` while its program uses the file. */
export function installFile(
  agent: Agent,
  file: BackedUpFile,
  sideFiles: readonly BackedUpFile[],
  files: FileBackups,
  options: InstallFileOptions,
): InstalledFile {
  const { environment, now, session } = options
  const path = placeOf(agent, file, options)
  const sides = sideFiles.map(({ id, path: from }) => ({
    id,
    target: resolve(dirname(path), relativeTo(dirname(file.path), from)),
  }))
  if (file.machine !== undefined)
    refuseOutside(
      agent.roots(environment),
      path,
      sides.map(({ target }) => target),
    )
  const bytes = (): Iterable<Buffer> => relocated(agent, files.read(file.id), options.directory)
  // All pieces are read and checked before anything is written.
  const { hash, size } = digestOf(bytes())
  assertIdle(agent, path, environment)
  const existing = statOf(path)
  if (existing?.isFile() && hash === hashOfFile(path))
    throw new AppError(
      'bad_usage',
      `${path} has exactly the content of the backup. There is nothing to restore.`,
      `${path} の内容はバックアップと同じです。戻す必要はありません。`,
    )
  if (existing && existing.size > size && !options.mayReplaceLonger)
    throw new AppError(
      'bad_usage',
      `${path} has more content than the backup. Pass --force to replace it; it is saved first.`,
      `${path} の内容はバックアップより多くなっています。置き換えるには --force を付けてください。先に保存します。`,
    )
  const backup = existing ? copyToBackupFile(options.backups, path, now) : undefined
  assertIdle(agent, path, environment)
  writeFileAtomically(path, bytes(), { folders: 0o700 })
  const created: string[] = []
  try {
    if (hashOfFile(path) !== hash) throw changedError(path)
    for (const { id, target } of sides) {
      if (existsSync(target)) continue
      writeFileAtomically(target, files.read(id), { folders: 0o700 })
      created.push(target)
    }
  } catch (error) {
    for (const one of created) rmSync(one, { force: true })
    if (backup === undefined) rmSync(path, { force: true })
    else writeFileAtomically(path, [readRegularFile(backup)])
    throw error
  }
  // Programs that delete old logs go by this time.
  utimesSync(path, now, now)
  const record: Restored = {
    at: instantFromMs(now.getTime()) as Instant,
    session,
    agent: agent.id,
    path,
    hash,
    created,
    ...(backup !== undefined && { backup }),
  }
  return { path, side_files: created.length, record, ...(backup !== undefined && { backup }) }
}

/** Throws AppError with nothing changed: `busy` while the file is used, or if it changed since. */
export function undoInstalledFile(agent: Agent, record: Restored, environment: HostEnvironment): void {
  const { path, hash, backup, created } = record
  assertIdle(agent, path, environment)
  if (hashOfFile(path) !== hash)
    throw new AppError(
      'busy',
      `${path} was changed after it was restored, so it stays.${backup === undefined ? '' : ` What it replaced is in ${backup}.`}`,
      `${path} は戻した後に変更されたため、そのままにします。${backup === undefined ? '' : `置き換えた内容は ${backup} にあります。`}`,
    )
  if (backup === undefined) rmSync(path)
  else writeFileAtomically(path, [readRegularFile(backup)])
  for (const one of created) rmSync(one, { force: true })
}

function relocated(agent: Agent, bytes: Iterable<Buffer>, directory: DirectoryChange | undefined): Iterable<Buffer> {
  const relocate = agent.originals?.relocate
  return directory === undefined || relocate === undefined ? bytes : relocate(bytes, directory)
}

/** Throws AppError `busy` while the program uses the session at this path. */
export function assertIdle(agent: Agent, path: string, environment: HostEnvironment): void {
  if (agent.originals?.assertIdle) return agent.originals.assertIdle(path, environment)
  const holder = findFileHolder(path, 'writing')
  if (holder !== undefined)
    throw new AppError(
      'busy',
      `${path} is being written by ${holder}. Close it, then try again.`,
      `${path} は ${holder} が書き込んでいます。終了してから、もう一度実行してください。`,
    )
}

function digestOf(chunks: Iterable<Buffer>): { readonly hash: string; readonly size: number } {
  const hash = createHash('sha256')
  let size = 0
  for (const chunk of chunks) {
    hash.update(chunk)
    size += chunk.length
  }
  return { hash: hash.digest('hex'), size }
}

export const hashOfFile = (path: string): string | undefined =>
  isFile(path) ? digestOf([readRegularFile(path)]).hash : undefined

const changedError = (path: string): AppError =>
  new AppError(
    'busy',
    `Another program changed ${path} right afterwards. Nothing was restored.`,
    `${path} は直後に別のプログラムが書き換えました。何も戻していません。`,
  )

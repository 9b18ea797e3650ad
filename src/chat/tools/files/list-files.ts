/** The files of a folder and of all folders below it, without those that git ignores. */
import { readdir } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { createRealFolderCheck } from '../../../lib/files/real-folders.ts'
import { SKIPPED_FOLDERS } from '../../../lib/files/safe-fs.ts'
import { listProjectFiles } from '../../../lib/git/list-files.ts'
import { findGitProject } from '../../../lib/git/project.ts'

export interface FileListing {
  /** Below the folder, with `/`, in the order of their names. */
  readonly files: readonly string[]
  readonly cut: boolean
}

const MAX_LISTED_FILES = 100_000

/**
 * Nothing behind a link to a folder, not even where the index of a repository knows a file there; git's own folders and installed
 * packages are passed over. An entry itself may be a link, a pipe, or gone: whoever uses it looks.
 * @param wanted only files whose paths fit
 */
export async function listFiles(folder: string, signal: AbortSignal, wanted?: RegExp): Promise<FileListing> {
  const paths = (await listWithGit(folder, signal)) ?? (await walkFolder(folder, signal))
  const isBelow = createRealFolderCheck(folder)
  const files = paths.slice(0, MAX_LISTED_FILES).filter((path) => wanted?.test(path) !== false && isBelow(path))
  return { files: files.sort(), cut: paths.length > MAX_LISTED_FILES }
}

async function listWithGit(folder: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
  const project = findGitProject(folder)
  if (!project) return undefined
  const listed =
    (await listProjectFiles(project, folder, ['--cached', '--others'], { signal })) ??
    // An index that cannot be read costs the files that git ignores and knows nevertheless.
    (await listProjectFiles(project, folder, ['--others'], { signal, withoutIndex: true }))
  return listed && [...new Set(listed.filter((path) => !path.endsWith('/')))]
}

async function walkFolder(root: string, signal: AbortSignal): Promise<readonly string[]> {
  const files: string[] = []
  const queue = ['']
  for (let below = queue.pop(); below !== undefined; below = queue.pop()) {
    if (signal.aborted || files.length > MAX_LISTED_FILES) break
    for (const entry of await readEntries(join(root, below))) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isFile()) files.push(path)
      else if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) queue.push(path)
    }
  }
  return files
}

async function readEntries(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

export const joinListed = (folder: string, below: string): string => join(folder, below.split('/').join(sep))

/** The files of a folder and of all folders below it, without those that git ignores. */
import { readdir } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { SKIPPED_FOLDERS } from '../../../lib/files/look.ts'
import { realFolders } from '../../../lib/files/real-folders.ts'
import { listInProject } from '../../../lib/git/list-files.ts'
import { gitProjectAt } from '../../../lib/git/project.ts'

export interface Listing {
  /** Below the folder, with `/`, in the order of their names. */
  readonly files: readonly string[]
  readonly cut: boolean
}

const MOST_FILES = 100_000

/**
 * Nothing behind a link to a folder, not even where the index of a repository knows a file there; git's own folders and installed
 * packages are passed over. An entry itself may be a link, a pipe, or gone: whoever uses it looks.
 * @param wanted only files whose paths fit
 */
export async function listFiles(folder: string, signal: AbortSignal, wanted?: RegExp): Promise<Listing> {
  const paths = (await knownToGit(folder, signal)) ?? (await walk(folder, signal))
  const isBelow = realFolders(folder)
  const files = paths.slice(0, MOST_FILES).filter((path) => wanted?.test(path) !== false && isBelow(path))
  return { files: files.sort(), cut: paths.length > MOST_FILES }
}

async function knownToGit(folder: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
  const project = gitProjectAt(folder)
  if (!project) return undefined
  const listed =
    (await listInProject(project, folder, ['--cached', '--others'], { signal })) ??
    // An index that cannot be read costs the files that git ignores and knows nevertheless.
    (await listInProject(project, folder, ['--others'], { signal, withoutIndex: true }))
  return listed && [...new Set(listed.filter((path) => !path.endsWith('/')))]
}

async function walk(root: string, signal: AbortSignal): Promise<readonly string[]> {
  const files: string[] = []
  const queue = ['']
  for (let below = queue.pop(); below !== undefined; below = queue.pop()) {
    if (signal.aborted || files.length > MOST_FILES) break
    for (const entry of await entriesOf(join(root, below))) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isFile()) files.push(path)
      else if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) queue.push(path)
    }
  }
  return files
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

export const inFolder = (folder: string, below: string): string => join(folder, below.split('/').join(sep))

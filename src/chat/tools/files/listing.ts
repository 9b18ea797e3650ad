/** The files of a folder and of all folders below it, without those that git ignores. */
import { readdir } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { SKIPPED_FOLDERS } from '../../../lib/files/look.ts'
import { runGit } from '../../../lib/git.ts'

export interface Listing {
  /** Below the folder, with `/`, in the order of their names. */
  readonly files: readonly string[]
  readonly cut: boolean
}

const MOST_FILES = 100_000

/** Links are not followed, and git's own folders and installed packages are passed over. */
export async function listFiles(folder: string, signal: AbortSignal): Promise<Listing> {
  const files = (await knownToGit(folder, signal)) ?? (await walk(folder, signal))
  return { files: files.slice(0, MOST_FILES).sort(), cut: files.length > MOST_FILES }
}

async function knownToGit(folder: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
  const args = ['-C', folder, 'ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate']
  const { code, stdout } = await runGit(args, signal)
  if (code !== 0) return undefined
  const isOurs = (path: string): boolean => path !== '' && !path.endsWith('/')
  return stdout.split('\0').filter(isOurs)
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

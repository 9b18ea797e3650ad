/** Finds the repository that a folder belongs to, without git: by the entry `.git` of the folder or of one above it. */
import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isFile, isFolder, readHead, statOf } from '../files/safe-fs.ts'

export interface GitProject {
  /** The folder with `.git`, links resolved. */
  readonly root: string
  /** The folder of the index; a link or a file `.git` may point anywhere. */
  readonly gitDir: string
  /** The folder of the configuration and `info/exclude`, shared by all work trees. */
  readonly commonDir: string
}

/**
 * Ignores a folder that only looks like a bare repository (files `HEAD` and `config`), which git would accept and obey.
 * Undefined if `.git` is damaged, or inside `.git`.
 */
export function findGitProject(folder: string): GitProject | undefined {
  const start = resolveRealPath(folder)
  if (start === undefined) return undefined
  for (let root = start; basename(root) !== '.git'; root = dirname(root)) {
    const entry = join(root, '.git')
    if (isFile(entry)) return toProject(root, readGitDirFile(entry, root))
    if (isFolder(entry)) {
      const project = toProject(root, entry)
      if (project) return project
    }
    if (dirname(root) === root) return undefined
  }
  return undefined
}

function resolveRealPath(folder: string): string | undefined {
  try {
    return realpathSync(folder)
  } catch {
    return undefined
  }
}

function toProject(root: string, gitDir: string | undefined): GitProject | undefined {
  if (gitDir === undefined || !isFile(join(gitDir, 'HEAD'))) return undefined
  const shared = join(gitDir, 'commondir')
  const commonDir = isFile(shared) ? resolve(gitDir, readFirstLine(shared)) : gitDir
  return isFolder(join(commonDir, 'objects')) ? { root, gitDir, commonDir } : undefined
}

function readGitDirFile(file: string, root: string): string | undefined {
  const path = /^gitdir: (.+)$/.exec(readFirstLine(file))?.[1]
  return path === undefined ? undefined : resolve(root, path)
}

const readFirstLine = (path: string): string => Buffer.from(readHead(path)).toString('utf8').split(/\r?\n/, 1)[0] ?? ''

/** Regular files only: git would wait for a pipe. */
export function findProjectGitFiles({ gitDir, commonDir }: GitProject): {
  readonly index: string | undefined
  readonly exclude: string | undefined
  readonly isSha256: boolean
} {
  const [index, exclude, config] = [
    join(gitDir, 'index'),
    join(commonDir, 'info', 'exclude'),
    join(commonDir, 'config'),
  ]
  return {
    index: isFile(index) ? index : undefined,
    exclude: isFile(exclude) ? exclude : undefined,
    isSha256:
      (statOf(config)?.isFile() ?? false) && SHA256_FORMAT.test(Buffer.from(readHead(config)).toString('latin1')),
  }
}

const SHA256_FORMAT = /^[ \t]*objectformat[ \t]*=[ \t]*"?sha256\b/im

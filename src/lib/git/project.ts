/** Finds the repository that a folder belongs to, without git: by the entry `.git` of the folder or of one above it. */
import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isFile, isFolder, readHead, statOf } from '../files/safe-fs.ts'

export interface GitProject {
  /** The folder that holds `.git`, with links followed. */
  readonly root: string
  /** Where the index is. May be anywhere: a link or a file named `.git` says where. */
  readonly gitDir: string
  /** Where the configuration and `info/exclude` are: that of all work trees of a repository. */
  readonly commonDir: string
}

/**
 * A folder that only looks like a repository, such as `docs` with files `HEAD` and `config`, is none: git itself would take it for
 * a bare one and follow its configuration. Nothing where `.git` is damaged, or inside of `.git`.
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

/** Of a submodule or a work tree: `gitdir: <path>`. */
function readGitDirFile(file: string, root: string): string | undefined {
  const path = /^gitdir: (.+)$/.exec(readFirstLine(file))?.[1]
  return path === undefined ? undefined : resolve(root, path)
}

const readFirstLine = (path: string): string => Buffer.from(readHead(path)).toString('utf8').split(/\r?\n/, 1)[0] ?? ''

/** What is used of it: only ever files, since git would wait for a pipe. */
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

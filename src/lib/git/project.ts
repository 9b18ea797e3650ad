/** Finds the repository that a folder belongs to, without git: by the entry `.git` of the folder or of one above it. */
import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { headOf, isFile, isFolder, statOf } from '../files/look.ts'

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
export function gitProjectAt(folder: string): GitProject | undefined {
  const start = realOf(folder)
  if (start === undefined) return undefined
  for (let root = start; basename(root) !== '.git'; root = dirname(root)) {
    const entry = join(root, '.git')
    if (isFile(entry)) return projectAt(root, gitDirIn(entry, root))
    if (isFolder(entry)) {
      const project = projectAt(root, entry)
      if (project) return project
    }
    if (dirname(root) === root) return undefined
  }
  return undefined
}

function realOf(folder: string): string | undefined {
  try {
    return realpathSync(folder)
  } catch {
    return undefined
  }
}

function projectAt(root: string, gitDir: string | undefined): GitProject | undefined {
  if (gitDir === undefined || !isFile(join(gitDir, 'HEAD'))) return undefined
  const shared = join(gitDir, 'commondir')
  const commonDir = isFile(shared) ? resolve(gitDir, firstLine(shared)) : gitDir
  return isFolder(join(commonDir, 'objects')) ? { root, gitDir, commonDir } : undefined
}

/** Of a submodule or a work tree: `gitdir: <path>`. */
function gitDirIn(file: string, root: string): string | undefined {
  const path = /^gitdir: (.+)$/.exec(firstLine(file))?.[1]
  return path === undefined ? undefined : resolve(root, path)
}

const firstLine = (path: string): string => Buffer.from(headOf(path)).toString('utf8').split(/\r?\n/, 1)[0] ?? ''

/** What is used of it: only ever files, since git would wait for a pipe. */
export function filesOfProject({ gitDir, commonDir }: GitProject): {
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
    isSha256: (statOf(config)?.isFile() ?? false) && SHA256.test(Buffer.from(headOf(config)).toString('latin1')),
  }
}

const SHA256 = /^[ \t]*objectformat[ \t]*=[ \t]*"?sha256\b/im

/** Lists a project's files with an empty repository of our own, because the project's git configuration must not be read. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isFile } from '../files/safe-fs.ts'
import { isSystemError } from '../files/system-error.ts'
import { createTempFolder } from '../files/temp-files.ts'
import { findProjectGitFiles, type GitProject } from './project.ts'
import { runGit } from './run-git.ts'

export interface GitListOptions {
  readonly signal?: AbortSignal | undefined
  /** Without the index, git treats all files as untracked. */
  readonly withoutIndex?: boolean
}

/**
 * Runs `git ls-files` in a folder of a project. Uses the project's index, its `.gitignore` files and `info/exclude`,
 * and the user's own ignore rules. Paths outside the folder are dropped, even if the index contains them. Returns
 * undefined if git fails.
 * @param options options of `git ls-files`
 */
export async function listProjectFiles(
  project: GitProject,
  folder: string,
  options: readonly string[],
  { signal, withoutIndex = false }: GitListOptions = {},
): Promise<readonly string[] | undefined> {
  const { index, exclude, isSha256 } = findProjectGitFiles(project)
  const repository = findOrCreateEmptyRepository(isSha256)
  if (repository === undefined) return undefined
  const args = [
    '-C',
    folder,
    `--git-dir=${repository}`,
    `--work-tree=${project.root}`,
    'ls-files',
    '-z',
    '--exclude-standard',
    ...(exclude === undefined ? [] : [`--exclude-from=${exclude}`]),
    ...options,
  ]
  const isUsed = index !== undefined && !withoutIndex
  const { code, stdout } = await runGit(args, signal, undefined, {
    indexFile: isUsed ? index : join(repository, 'no-index'),
  })
  return code === 0 ? stdout.split('\0').filter((line) => isInsideFolder(pathOfLine(line))) : undefined
}

/** The path in an output line, with or without `--stage`. */
export const pathOfLine = (line: string): string => line.slice(line.indexOf('\t') + 1)

/** A crafted index may contain absolute paths or paths outside the folder. */
const isInsideFolder = (path: string): boolean =>
  path !== '' && !ESCAPES_FOLDER.test(process.platform === 'win32' ? path.replaceAll('\\', '/') : path)

/** Matches an empty part (except at the end of a folder), `.`, `..` and `.git`. */
const ESCAPES_FOLDER = /^\/|\/\/|(?:^|\/)\.(?:\.|git)?(?:\/|$)/i

const emptyRepositories = new Map<boolean, string>()

/** Created again if temporary files were cleaned up. Undefined if the disk is full. */
function findOrCreateEmptyRepository(isSha256: boolean): string | undefined {
  const known = emptyRepositories.get(isSha256)
  if (known !== undefined && isFile(join(known, 'HEAD'))) return known
  try {
    const created = createEmptyRepository(isSha256)
    emptyRepositories.set(isSha256, created)
    return created
  } catch (error) {
    if (!isSystemError(error)) throw error
    return undefined
  }
}

/** Written by hand, so that git copies no template. */
export function createEmptyRepository(isSha256: boolean): string {
  const { path } = createTempFolder('git')
  for (const name of ['objects', 'refs']) mkdirSync(join(path, name))
  const ignoresCase = process.platform === 'darwin' || process.platform === 'win32'
  const config = [
    '[core]',
    `repositoryformatversion = ${isSha256 ? 1 : 0}`,
    'bare = false',
    ...(ignoresCase ? ['ignorecase = true'] : []),
    ...(process.platform === 'win32' ? ['filemode = false'] : []),
    ...(process.platform === 'darwin' ? ['precomposeunicode = true'] : []),
    ...(isSha256 ? ['[extensions]', 'objectformat = sha256'] : []),
  ]
  writeFileSync(join(path, 'config'), `${config.join('\n')}\n`)
  writeFileSync(join(path, 'HEAD'), 'ref: refs/heads/none\n')
  return path
}

/**
 * Git for a shadow repository: covers the complete work tree, changes nothing in the project's own repository, and
 * preserves every byte.
 */
import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { Git, GitResult } from '../../conversation/checkpoint.ts'
import { createRealFolderCheck } from '../../lib/files/safe-fs.ts'
import { listProjectFiles, pathOfLine } from '../../lib/git/list-files.ts'
import { findGitProject } from '../../lib/git/project.ts'
import { type GitRun, runGit } from '../../lib/git/run-git.ts'

export interface ShadowRepository {
  readonly repository: string
  readonly workTree: string
  /** Excluded, even inside the work tree. */
  readonly dataDirectory: string
}

/** Overrides the user's own git settings. */
const GIT_SETTINGS = [
  ['core.autocrlf', 'false'],
  ['core.compression', '1'],
].flatMap(([key, value]) => ['-c', `${key}=${value}`])

export function createShadowGit(shadow: ShadowRepository, signal?: AbortSignal): Git {
  const run = (args: readonly string[], input?: string): Promise<GitRun> =>
    runGit([...GIT_SETTINGS, '-C', shadow.workTree, ...args], signal, input)
  return async (args) => {
    if (args.includes('add')) {
      const fault = await prepareAdd(shadow, run)
      if (fault) return fault
    }
    return run(args)
  }
}

/** Removes locks of a killed process. The caller must be the only writer. */
export function removeStaleLocks({ repository }: ShadowRepository): void {
  for (const name of ['index.lock', 'HEAD.lock', 'config.lock']) rmSync(join(repository, name), { force: true })
}

type RunGit = (args: readonly string[], input?: string) => Promise<GitRun>

/**
 * Handles what `add -A` does wrong: repositories inside the tree, and files known only to the project's own repository.
 */
async function prepareAdd(shadow: ShadowRepository, run: RunGit): Promise<GitResult | undefined> {
  const { repository, workTree } = shadow
  const project = await readProjectIgnores(workTree)
  const info = join(repository, 'info')
  mkdirSync(info, { recursive: true })
  writeFileSync(
    join(info, 'exclude'),
    [...excludedPatterns(shadow), ...project.ignored].map((one) => `${one}\n`).join(''),
  )
  // Restores files byte for byte, whatever the project's attributes say.
  writeFileSync(join(info, 'attributes'), '* -text -ident -filter -working-tree-encoding\n')
  const shadowArgs = [`--git-dir=${repository}`, `--work-tree=${workTree}`]
  const others = await run([...shadowArgs, 'ls-files', '-z', '--others', '--exclude-standard'])
  if (others.code !== 0) return others
  const nested = others.stdout.split('\0').filter((path) => path.endsWith('/'))
  const files = [...project.keptThoughIgnored, ...(await listNestedFiles(nested, workTree))].filter(
    createRealFolderCheck(workTree),
  )
  if (files.length === 0) return undefined
  // Once git tracks a file in it, a nested repository is treated as an ordinary folder.
  const added = await run(
    [...shadowArgs, 'update-index', '--add', '--remove', '-z', '--stdin'],
    `${files.join('\0')}\0`,
  )
  return added.code === 0 ? undefined : added
}

function excludedPatterns({ dataDirectory, workTree }: ShadowRepository): readonly string[] {
  const below = relative(workTree, dataDirectory)
  return below === '' || below.startsWith('..') ? [] : [excludePattern(`${below.split(sep).join('/')}/`)]
}

/** Ignore rules above the work tree or in the project's repository, which the shadow repository does not see. */
async function readProjectIgnores(
  workTree: string,
): Promise<{ readonly ignored: readonly string[]; readonly keptThoughIgnored: readonly string[] }> {
  const project = findGitProject(workTree)
  if (!project) return { ignored: [], keptThoughIgnored: [] }
  const [ignored = [], trackedIgnored = []] = await Promise.all([
    listProjectFiles(project, workTree, ['--ignored', '--others', '--directory']),
    listProjectFiles(project, workTree, ['--ignored', '--cached']),
  ])
  // A rule is one line, so a name with line breaks cannot have one.
  return {
    ignored: ignored.filter((path) => !/[\r\n]/.test(path)).map(excludePattern),
    keptThoughIgnored: trackedIgnored,
  }
}

const excludePattern = (path: string): string => `/${path.replaceAll(/[\\*?[\]!# ]/g, '\\$&')}`

/** Files of nested repositories, except those that they ignore. */
async function listNestedFiles(folders: readonly string[], workTree: string): Promise<readonly string[]> {
  const files: string[] = []
  const queue = [...folders]
  const isInTree = createRealFolderCheck(workTree)
  for (let folder = queue.pop(); folder !== undefined; folder = queue.pop()) {
    const nestedRoot = join(workTree, folder)
    const project = isInTree(`${folder}.git`) ? findGitProject(nestedRoot) : undefined
    if (!project || project.root !== realpathSync(nestedRoot)) continue
    const [listed, unknown] = await Promise.all([
      listProjectFiles(project, nestedRoot, ['--stage', '--cached']),
      listProjectFiles(project, nestedRoot, ['--others']),
    ])
    const others = unknown ?? (await listProjectFiles(project, nestedRoot, ['--others'], { withoutIndex: true })) ?? []
    for (const line of listed ?? []) {
      if (line.startsWith('160000 ')) queue.push(`${folder}${pathOfLine(line)}/`)
      else files.push(folder + pathOfLine(line))
    }
    for (const path of others) {
      if (path.endsWith('/')) queue.push(folder + path)
      else files.push(folder + path)
    }
  }
  return files
}

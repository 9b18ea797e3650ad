/** Git for a shadow repository: sees the work tree whole, changes nothing of the project's own repository, and keeps every byte. */
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
  /** Excluded, also where it is below the work tree. */
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

/** What `add -A` would get wrong by itself: repositories in the tree, and files that only the project's own repository knows of. */
async function prepareAdd(shadow: ShadowRepository, run: RunGit): Promise<GitResult | undefined> {
  const { repository, workTree } = shadow
  const project = await readProjectIgnores(workTree)
  const info = join(repository, 'info')
  mkdirSync(info, { recursive: true })
  writeFileSync(
    join(info, 'exclude'),
    [...excludedPatterns(shadow), ...project.ignored].map((one) => `${one}\n`).join(''),
  )
  // Files come back as they were, byte for byte, whatever the project's attributes say.
  writeFileSync(join(info, 'attributes'), '* -text -ident -filter -working-tree-encoding\n')
  const shadowArgs = [`--git-dir=${repository}`, `--work-tree=${workTree}`]
  const others = await run([...shadowArgs, 'ls-files', '-z', '--others', '--exclude-standard'])
  if (others.code !== 0) return others
  const nested = others.stdout.split('\0').filter((path) => path.endsWith('/'))
  const files = [...project.keptThoughIgnored, ...(await listNestedFiles(nested, workTree))].filter(
    createRealFolderCheck(workTree),
  )
  if (files.length === 0) return undefined
  // Once git knows a file in it, a folder with a repository of its own is a folder like any other.
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

/** Rules that stand above the work tree, or beside the project's repository, are known to that only. */
async function readProjectIgnores(
  workTree: string,
): Promise<{ readonly ignored: readonly string[]; readonly keptThoughIgnored: readonly string[] }> {
  const project = findGitProject(workTree)
  if (!project) return { ignored: [], keptThoughIgnored: [] }
  const [ignored = [], trackedIgnored = []] = await Promise.all([
    listProjectFiles(project, workTree, ['--ignored', '--others', '--directory']),
    listProjectFiles(project, workTree, ['--ignored', '--cached']),
  ])
  // A rule is a line, so a name of several lines has none.
  return {
    ignored: ignored.filter((path) => !/[\r\n]/.test(path)).map(excludePattern),
    keptThoughIgnored: trackedIgnored,
  }
}

const excludePattern = (path: string): string => `/${path.replaceAll(/[\\*?[\]!# ]/g, '\\$&')}`

/** Of repositories in repositories too. Those that they ignore themselves are left out. */
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

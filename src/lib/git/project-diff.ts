/**
 * Compares a project's files with its last commit through a repository of our own, which borrows the project's objects:
 * the configuration of the project's repository may name programs, and is not read.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readHead } from '../files/safe-fs.ts'
import { createEmptyRepository } from './list-files.ts'
import { findProjectGitFiles, type GitProject } from './project.ts'
import { type GitRun, runGit } from './run-git.ts'

/**
 * Runs `git diff` in a folder of a project.
 * @param options `--cached`, or `HEAD` and further options of `git diff`
 */
export async function diffProject(
  project: GitProject,
  folder: string,
  options: readonly string[],
  signal: AbortSignal,
): Promise<GitRun> {
  const { index, isSha256 } = findProjectGitFiles(project)
  const objects = join(project.commonDir, 'objects')
  // A line of `alternates` cannot name such a folder.
  if (/[\r\n]/.test(objects)) return { code: 128, stdout: '', stderr: `git cannot use ${JSON.stringify(objects)}` }
  const repository = createEmptyRepository(isSha256)
  try {
    mkdirSync(join(repository, 'objects', 'info'))
    writeFileSync(join(repository, 'objects', 'info', 'alternates'), `${objects}\n`)
    const commit = lastCommit(project)
    if (commit !== undefined) writeFileSync(join(repository, 'HEAD'), `${commit}\n`)
    const args = ['-C', folder, `--git-dir=${repository}`, `--work-tree=${project.root}`, 'diff', '--no-color']
    return await runGit([...args, ...options], signal, undefined, { indexFile: index ?? join(repository, 'no-index') })
  } finally {
    rmSync(repository, { recursive: true, force: true })
  }
}

const COMMIT = /^(?:[\da-f]{40}|[\da-f]{64})$/
const BRANCH = /^ref: (refs\/[^\0\r\n]+)$/
const MAX_PACKED_BYTES = 1 << 24

/** Of the branch that is checked out. Undefined before the first commit. */
function lastCommit({ gitDir, commonDir }: GitProject): string | undefined {
  const head = firstLine(join(gitDir, 'HEAD'))
  const branch = BRANCH.exec(head)?.[1]
  if (branch === undefined) return COMMIT.exec(head)?.[0]
  if (branch.split('/').includes('..')) return undefined
  const loose = COMMIT.exec(firstLine(join(commonDir, branch)))?.[0]
  if (loose !== undefined) return loose
  const packed = Buffer.from(readHead(join(commonDir, 'packed-refs'), MAX_PACKED_BYTES)).toString('utf8')
  const line = packed.split(/\r?\n/).find((one) => one.slice(one.indexOf(' ') + 1) === branch)
  return COMMIT.exec(line?.slice(0, line.indexOf(' ')) ?? '')?.[0]
}

const firstLine = (path: string): string => Buffer.from(readHead(path)).toString('utf8').split(/\r?\n/, 1)[0] ?? ''

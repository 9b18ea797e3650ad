/** What a project is called at the team: the same on every machine that has a clone of its repository. */
import { basename, join } from 'node:path'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isFile } from '../../lib/files/safe-fs.ts'
import { findGitProject } from '../../lib/git/project.ts'

/** @param recorded address of the repository, as the session records it */
export function projectNameOf(directory: string | undefined, recorded: string | undefined): string {
  const git = directory === undefined ? undefined : findGitProject(directory)
  const config = git && join(git.commonDir, 'config')
  const remote = config !== undefined && isFile(config) ? originOf(readRegularFile(config).toString()) : undefined
  const named = nameOfRemote(remote ?? recorded ?? '')
  if (named !== undefined) return named
  const folder = basename((git?.root ?? directory ?? '').replaceAll('\\', '/'))
  return folder === '' ? 'unknown' : folder
}

const originOf = (config: string): string | undefined =>
  /^\[remote "origin"\][^[]*?^\s*url\s*=\s*(\S+)/m.exec(config)?.[1]

/** `owner/name`: without host, password and suffix. */
function nameOfRemote(remote: string): string | undefined {
  const path = /^(?:\w+:\/\/[^/]+\/|[^/:]+@[^/:]+:)(.+)$/.exec(remote)?.[1]
  const parts = path
    ?.replace(/\.git\/?$/, '')
    .split('/')
    .filter((part) => part !== '')
  return parts && parts.length > 0 ? parts.slice(-2).join('/').slice(0, 300) : undefined
}

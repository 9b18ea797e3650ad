/** Says that a project has moved, so that its history stays together. */
import { openIndexToWrite, openIndexWithoutLock } from '../index/index-file.ts'
import { takeIndexLock } from '../index/lock.ts'
import { ProjectPaths } from '../index/project-paths.ts'
import { IndexWriter } from '../index/writer.ts'

/** @param now undefined: the directory was not moved. @returns the number of sessions that belong to another project now */
export function relinkProject(directory: string, old: string, now: string | undefined): number {
  const projects = new ProjectPaths(directory)
  projects.relink(old, now)
  projects.save()
  const attempt = takeIndexLock(directory, 'relink')
  try {
    const opened = attempt.kind === 'taken' ? openIndexToWrite(directory) : openIndexWithoutLock(directory)
    const writer = new IndexWriter(directory, opened)
    try {
      return writer.moveProjects().length
    } finally {
      writer.close()
    }
  } finally {
    if (attempt.kind === 'taken') attempt.lock.release()
  }
}

export const listMovedProjects = (directory: string): ReturnType<ProjectPaths['list']> =>
  new ProjectPaths(directory).list()

/** Running servers of a data directory: each has a file, readable only by its user, while it runs. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceOwnFile } from '../lib/files/atomic-file.ts'
import { isRunning } from '../lib/files/file-holder.ts'
import { readRegularFile } from '../lib/files/regular-file.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import { isSystemError } from '../lib/files/system-error.ts'
import { warn } from '../lib/logger.ts'
import { fieldsOf, numberOf, stringOf } from '../lib/unknown-values.ts'
import { AppError } from '../model/error.ts'

export interface RunningServer {
  /** Ends with a slash. */
  readonly url: string
  readonly pid: number
  /** Sign-in codes are valid for one instance. */
  readonly instance: string
}

const serversFolder = (directory: string): string => join(directory, 'servers')

/** @returns a function that removes the record */
export function recordServer(directory: string, port: number, server: RunningServer): () => void {
  const path = join(serversFolder(directory), `${port}.json`)
  try {
    replaceOwnFile(path, `${JSON.stringify(server)}\n`)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    warn(error.message)
    return () => {}
  }
  return () => {
    if (readServerFile(path)?.instance === server.instance) rmSync(path, { force: true })
  }
}

export function findLastStartedServer(directory: string): RunningServer | undefined {
  const started = (path: string): number => statOf(path)?.mtimeMs ?? 0
  return listNames(serversFolder(directory))
    .map((name) => join(serversFolder(directory), name))
    .sort((a, b) => started(b) - started(a))
    .map(readServerFile)
    .find((server) => server !== undefined && isRunning(server.pid))
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d{1,5}\.json$/.test(name))
  } catch (error) {
    if (isSystemError(error)) return []
    throw error
  }
}

function readServerFile(path: string): RunningServer | undefined {
  try {
    const fields = fieldsOf(JSON.parse(readRegularFile(path).toString()))
    const url = stringOf(fields?.['url'])
    const pid = numberOf(fields?.['pid'])
    const instance = stringOf(fields?.['instance'])
    if (url === undefined || pid === undefined || instance === undefined) return undefined
    return /^https?:\/\/[\w.:[\]-]+\/$/.test(url) && Number.isInteger(pid) && pid > 0
      ? { url, pid, instance }
      : undefined
  } catch {
    return undefined
  }
}

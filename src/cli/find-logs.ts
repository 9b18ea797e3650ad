/** Finds the logs that a command is about: those at the given paths, or all on this machine. */
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { App } from '../app.ts'
import { isPassedStream } from '../lib/files/regular-file.ts'
import { createTempFolder } from '../lib/files/temp-files.ts'
import { type Log, logsAt } from '../normalize.ts'

export async function findLogsAt(paths: readonly string[]): Promise<readonly Log[]> {
  const logs: Log[] = []
  for (const path of paths) {
    const spooled = await spoolInput(path)
    for await (const log of logsAt(spooled ?? path))
      logs.push(spooled === undefined ? log : { ...log, source: { ...log.source, shown: path } })
  }
  return logs
}

/** Every log in the places that agents use. */
export async function findAllLogs(app: App): Promise<readonly Log[]> {
  const logs: Log[] = []
  for await (const log of app.machineLogs()) logs.push(log)
  return logs
}

/**
 * Logs are read by offset, so input that can be read only once is copied to a file, which is removed when the process
 * ends: standard input for `-`, or the pipe of a shell's `<(…)`. Undefined for any other path.
 */
export async function spoolInput(path: string): Promise<string | undefined> {
  if (path !== '-' && !isPassedStream(path)) return undefined
  const spooled = join(createTempFolder('input').path, 'stdin.jsonl')
  const input = path === '-' ? process.stdin : createReadStream(path)
  await pipeline(input, createWriteStream(spooled, { mode: 0o600 }))
  return spooled
}

/** Which logs a command is about: those at the given paths, or all that this machine has. */
import type { App } from '../../app.ts'
import { type Log, logsAt } from '../../normalize.ts'
import { spoolInput } from './spool-input.ts'

export interface InputLogs {
  readonly logs: readonly Log[]
  /** Removes what was spooled from standard input. */
  release(): Promise<void>
}

export async function findLogsAt(paths: readonly string[]): Promise<InputLogs> {
  const logs: Log[] = []
  const releases: (() => void)[] = []
  for (const path of paths) {
    const spool = await spoolInput(path)
    if (spool) releases.push(spool.remove)
    for await (const log of logsAt(spool?.path ?? path)) {
      logs.push(spool ? { ...log, source: { ...log.source, shown: path } } : log)
    }
  }
  const release = async (): Promise<void> => {
    for (const one of releases) one()
  }
  return { logs, release }
}

/** Everything in the places where agents keep their logs. */
export async function findAllLogs(app: App): Promise<readonly Log[]> {
  const logs: Log[] = []
  for await (const log of app.machineLogs()) logs.push(log)
  return logs
}

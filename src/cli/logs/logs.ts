/** Which logs a command is about: those at the given paths, or all that this machine has. */
import type { House } from '../../app.ts'
import { type Log, logsAt } from '../../normalize.ts'
import { spooledAt } from '../input.ts'

export interface Inputs {
  readonly logs: readonly Log[]
  /** Removes what was spooled from standard input. */
  release(): Promise<void>
}

export async function logsFor(paths: readonly string[]): Promise<Inputs> {
  const logs: Log[] = []
  const releases: (() => void)[] = []
  for (const path of paths) {
    const spool = await spooledAt(path)
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
export async function logsOfMachine(house: House): Promise<readonly Log[]> {
  const logs: Log[] = []
  for await (const log of house.logsOfMachine()) logs.push(log)
  return logs
}

/** Which logs a command is about: those at the given paths, or all that this machine has. */

import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import type { Environment } from '../agents/agent.ts'
import { allAgents } from '../agents/all.ts'
import { type Log, logsAt } from '../normalize.ts'
import { spooled } from './input.ts'

export const environment = (): Environment => ({ platform: process.platform, home: homedir(), variables: process.env })

export interface Inputs {
  readonly logs: readonly Log[]
  /** Removes what was spooled from standard input. */
  release(): Promise<void>
}

export async function logsFor(paths: readonly string[]): Promise<Inputs> {
  const logs: Log[] = []
  const releases: (() => Promise<void>)[] = []
  for (const path of paths) {
    const spool = path === '-' ? await spooled(process.stdin) : undefined
    if (spool) releases.push(spool.remove)
    for await (const log of logsAt(spool?.path ?? path)) {
      logs.push(spool ? { ...log, source: { ...log.source, shown: '-' } } : log)
    }
  }
  const release = async (): Promise<void> => {
    for (const one of releases) await one()
  }
  return { logs, release }
}

/** Everything in the places where agents keep their logs. */
export async function logsOfMachine(): Promise<readonly Log[]> {
  const logs: Log[] = []
  for (const agent of await allAgents()) {
    for (const root of agent.roots(environment())) {
      if (!(await exists(root))) continue
      for await (const source of agent.find(root)) logs.push({ agent, source, unknown: false })
    }
  }
  return logs
}

const exists = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined)) !== undefined

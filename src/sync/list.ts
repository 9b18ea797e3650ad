/** All sources of this machine: in the agents' places, in further folders, and what is only kept. */
import { statSync } from 'node:fs'
import type { Agent, Source } from '../agents/agent.ts'
import type { KeptFilter } from '../archive/keep/record.ts'
import type { Keep } from '../archive/keep.ts'
import type { Instant } from '../model/ids.ts'
import { keepSources } from './keep/rows.ts'
import type { Found } from './sweep.ts'

export interface Place {
  readonly agent: Agent
  readonly root: string
}

/**
 * Rows that their owner overwrites are kept on the way and read from the keep, where they have every entry that they ever
 * had; without a keep they are read where they lie.
 */
export async function* listSources(
  agents: readonly Agent[],
  places: readonly Place[],
  keep: Keep | undefined,
  now: () => Instant,
): AsyncGenerator<Found> {
  for (const { agent, root } of places) {
    if (!statSync(root, { throwIfNoEntry: false })) continue
    const stores = new Map<string, Source[]>()
    for await (const source of agent.find(root)) {
      if (!keep || !agent.volatile || source.key === undefined) yield { agent, source }
      else {
        const rows = stores.get(source.path)
        if (rows) rows.push(source)
        else stores.set(source.path, [source])
      }
    }
    for (const [store, rows] of stores) if (keep) await keepSources(agent, store, rows, keep, { now })
  }
  if (keep) yield* keptSources(agents, keep)
}

/** Sessions of the keep, whether their rows are still there or not. */
export function* keptSources(agents: readonly Agent[], keep: Keep, filter: KeptFilter = {}): Generator<Found> {
  for (const { agent: id, store, session, revision, size, kind } of keep.list(filter)) {
    const agent = agents.find((one) => one.volatile && (one.id === id || one.serves?.includes(id)))
    if (!agent || kind !== 'conversation') continue
    yield { agent, kept: true, source: { agent: id, path: store, key: session, size, fingerprint: `kept:${revision}` } }
  }
}

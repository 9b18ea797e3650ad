/** All sources of this machine: in the agents' places, in further folders, and what is only kept. */
import { sep } from 'node:path'
import type { Agent, Source } from '../agents/agent.ts'
import { idsOf } from '../agents/roots.ts'
import type { KeptFilter } from '../archive/keep/record.ts'
import type { Keep } from '../archive/keep.ts'
import { failureOf, logFailure } from '../lib/failure.ts'
import { isMissing, statOf } from '../lib/files/look.ts'
import type { Instant } from '../model/ids.ts'
import { keepSources, keepStore } from './keep/rows.ts'
import type { Found } from './sweep.ts'

export interface Place {
  readonly agent: Agent
  readonly root: string
}

/**
 * `volatile`: rows that their program overwrites. `all`: also files that it only adds to. `none`: nothing; rows are read where they lie, and
 * what was kept before stays.
 */
export type Policy = 'volatile' | 'all' | 'none'

/** Where sources are looked for, and what becomes of them. */
export interface Scene {
  readonly agents: readonly Agent[]
  readonly places: readonly Place[]
  /** What is copied on the way. */
  readonly policy: Policy
  readonly keep: Keep
  readonly now: () => Instant
  /** The user does not want it left alone. */
  isWanted(source: Pick<Source, 'agent' | 'path'>): boolean
}

/** Rows that their owner overwrites are kept on the way and read from the keep, where they have every entry that they ever had. */
export async function* listSources(scene: Scene): AsyncGenerator<Found> {
  const { places, policy } = scene
  for (const place of places) {
    try {
      yield* sourcesAt(place, scene)
    } catch (error) {
      const { agent, root } = place
      logFailure(root, failureOf(error))
      yield { agent, source: { agent: agent.id, path: root }, isUnlisted: true }
    }
  }
  yield* keptSources(scene, policy === 'none' ? { alive: false } : {})
}

async function* sourcesAt({ agent, root }: Place, scene: Scene): AsyncGenerator<Found> {
  const { policy, keep, now } = scene
  if (isMissing(root) && policy !== 'none') await keepEmptied(agent, root, scene)
  if (!statOf(root)) return
  const stores = new Map<string, Source[]>()
  for await (const source of agent.find(root)) {
    if (!scene.isWanted(source)) continue
    if (policy === 'none' || !agent.volatile || source.key === undefined) yield { agent, source }
    else {
      const rows = stores.get(source.path)
      if (rows) rows.push(source)
      else stores.set(source.path, [source])
    }
  }
  for (const [store, rows] of stores) await keepSources(agent, store, rows, keep, { now })
  if (policy !== 'none') await keepEmptied(agent, root, scene, stores)
}

/** A store that gave no row may have lost its last one, or be gone: then what it held is here alone. */
async function keepEmptied(
  agent: Agent,
  root: string,
  { keep, now, isWanted }: Scene,
  listed: ReadonlyMap<string, unknown> = new Map(),
): Promise<void> {
  if (!agent.volatile) return
  const below = root.endsWith(sep) ? root : root + sep
  const known = keep
    .list({ alive: true })
    .filter((one) => idsOf(agent).includes(one.agent) && isWanted({ agent: one.agent, path: one.store }))
  const stores = new Set(known.map(({ store }) => store))
  for (const store of stores) {
    if (listed.has(store) || (store !== root && !store.startsWith(below))) continue
    if (isMissing(store)) await keepSources(agent, store, [], keep, { now })
    else await keepStore(agent, store, keep, { now })
  }
}

/** Sessions of the keep, whether their rows are still there or not. */
export function* keptSources({ agents, keep, isWanted }: Scene, filter: KeptFilter = {}): Generator<Found> {
  for (const { agent: id, store, session, revision, size, kind } of keep.list(filter)) {
    const agent = agents.find((one) => one.volatile && idsOf(one).includes(id))
    if (!agent || kind !== 'conversation' || !isWanted({ agent: id, path: store })) continue
    yield { agent, kept: true, source: { agent: id, path: store, key: session, size, fingerprint: `kept:${revision}` } }
  }
}

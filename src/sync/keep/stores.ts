/** The stores whose rows are overwritten: where they lie, what is in them, which are worth watching. */
import { stat } from 'node:fs/promises'
import type { Agent, Environment, Source } from '../../agents/agent.ts'
import { isWanted, type Root, rootsOf, type Wishes } from '../../agents/roots.ts'

export interface StoreRows {
  readonly agent: Agent
  readonly store: string
  readonly sources: Source[]
}

export interface Surroundings {
  readonly agents: readonly Agent[]
  readonly environment: Environment
  readonly wishes: Wishes
}

/** The rows of the stores at the paths, or of all stores of this machine. */
export async function* storesAt(paths: readonly string[], around: Surroundings): AsyncGenerator<StoreRows> {
  for (const { agent, path, added } of placesOf(paths, around)) {
    if (!(await exists(path))) continue
    const byStore = new Map<string, Source[]>()
    for await (const source of agent.find(path)) {
      // Elsewhere than at a store's own path it is a file that holds no rows.
      if (source.key === undefined && added) continue
      if (paths.length === 0 && !isWanted(source, around.wishes)) continue
      byStore.set(source.path, [...(byStore.get(source.path) ?? []), source])
    }
    for (const [store, sources] of byStore) yield { agent, store, sources }
  }
}

export type Watchable = Pick<StoreRows, 'agent' | 'store'>

/** Also stores that do not exist yet, where their owner will make them. */
export async function watchableAt(paths: readonly string[], around: Surroundings): Promise<readonly Watchable[]> {
  const found: Watchable[] = []
  for await (const { agent, store } of storesAt(paths, around)) found.push({ agent, store })
  if (paths.length > 0) return found
  for (const { agent, path, added } of placesOf([], around))
    if (!added && !(await holdsAny(agent, path))) found.push({ agent, store: path })
  return found
}

function placesOf(paths: readonly string[], { agents, wishes, environment }: Surroundings): readonly Root[] {
  const volatile = agents.filter((agent) => agent.volatile)
  if (paths.length > 0) return volatile.flatMap((agent) => paths.map((path) => ({ agent, path, added: true })))
  return rootsOf(volatile, wishes, (agent) => agent.volatile?.stores(environment) ?? [])
}

async function holdsAny(agent: Agent, path: string): Promise<boolean> {
  if (await exists(path)) for await (const _ of agent.find(path)) return true
  return false
}

export const exists = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined)) !== undefined

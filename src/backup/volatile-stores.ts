/** The stores whose rows are overwritten: where they lie, what is in them, which are worth watching. */
import { stat } from 'node:fs/promises'
import type { Agent, HostEnvironment, Source } from '../agents/agent.ts'
import { type AgentSourceConfigs, type ConfiguredRoot, isSourceEnabled, rootsOf } from '../agents/agent-roots.ts'

export interface StoreRows {
  readonly agent: Agent
  readonly store: string
  readonly sources: Source[]
}

export interface StoreContext {
  readonly agents: readonly Agent[]
  readonly environment: HostEnvironment
  readonly wishes: AgentSourceConfigs
}

/** The rows of the stores at the paths, or of all stores of this machine. */
export async function* findStores(paths: readonly string[], context: StoreContext): AsyncGenerator<StoreRows> {
  for (const { agent, path, added } of storeRoots(paths, context)) {
    if (!(await pathExists(path))) continue
    const byStore = new Map<string, Source[]>()
    for await (const source of agent.find(path)) {
      // Elsewhere than at a store's own path it is a file that holds no rows.
      if (source.key === undefined && added) continue
      if (paths.length === 0 && !isSourceEnabled(source, context.wishes)) continue
      byStore.set(source.path, [...(byStore.get(source.path) ?? []), source])
    }
    for (const [store, sources] of byStore) yield { agent, store, sources }
  }
}

export type WatchableStore = Pick<StoreRows, 'agent' | 'store'>

/** Also stores that do not exist yet, where their owner will make them. */
export async function findWatchableStores(
  paths: readonly string[],
  context: StoreContext,
): Promise<readonly WatchableStore[]> {
  const found: WatchableStore[] = []
  for await (const { agent, store } of findStores(paths, context)) found.push({ agent, store })
  if (paths.length > 0) return found
  for (const { agent, path, added } of storeRoots([], context))
    if (!added && !(await hasAnySource(agent, path))) found.push({ agent, store: path })
  return found
}

function storeRoots(
  paths: readonly string[],
  { agents, wishes, environment }: StoreContext,
): readonly ConfiguredRoot[] {
  const volatile = agents.filter((agent) => agent.volatile)
  if (paths.length > 0) return volatile.flatMap((agent) => paths.map((path) => ({ agent, path, added: true })))
  return rootsOf(volatile, wishes, (agent) => agent.volatile?.stores(environment) ?? [])
}

async function hasAnySource(agent: Agent, path: string): Promise<boolean> {
  if (await pathExists(path)) for await (const _ of agent.find(path)) return true
  return false
}

export const pathExists = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined)) !== undefined

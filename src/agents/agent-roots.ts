/** Which places are looked at: those of the agents and those that the user added, without what is switched off. */
import { existsSync } from 'node:fs'
import { sep } from 'node:path'
import { AppError } from '../model/error.ts'
import type { AgentId } from '../model/ids.ts'
import type { Agent, Source } from './agent.ts'

export interface AgentSourceConfig {
  readonly enabled: boolean
  /** More places than the agent's own. */
  readonly roots: readonly string[]
  /** Left alone, with all below. */
  readonly skip: readonly string[]
}

/** By the ids of agents, those included that another one serves. */
export type AgentSourceConfigs = ReadonlyMap<AgentId, AgentSourceConfig>

export interface ConfiguredRoot {
  readonly agent: Agent
  readonly path: string
  /** By the user. */
  readonly added: boolean
}

export const agentIdsOf = (agent: Agent): readonly AgentId[] => [agent.id, ...(agent.serves ?? [])]

export function agentServing(id: AgentId, agents: readonly Agent[]): Agent {
  const agent = agents.find((one) => agentIdsOf(one).includes(id))
  if (!agent) {
    throw new AppError(
      'not_found',
      `no agent "${id}" is known to this version`,
      `エージェント「${id}」は、この版では扱えません。`,
    )
  }
  return agent
}

/**
 * None of them need exist.
 * @param own the places that an agent has by itself
 */
export function rootsOf(
  agents: readonly Agent[],
  configs: AgentSourceConfigs,
  own: (agent: Agent) => readonly string[],
): readonly ConfiguredRoot[] {
  return agents.flatMap((agent) => {
    const ids = agentIdsOf(agent).filter((id) => configs.get(id)?.enabled !== false)
    if (ids.length === 0) return []
    const known = own(agent)
    const more = new Set(ids.flatMap((id) => configs.get(id)?.roots ?? []))
    return [
      ...known.map((path) => ({ agent, path, added: false })),
      ...[...more].filter((path) => !known.includes(path)).map((path) => ({ agent, path, added: true })),
    ].filter(({ path }) => ids.some((id) => !isPathSkipped(path, configs.get(id))))
  })
}

export function isSourceEnabled({ agent, path }: Pick<Source, 'agent' | 'path'>, configs: AgentSourceConfigs): boolean {
  const config = configs.get(agent)
  return config?.enabled !== false && !isPathSkipped(path, config)
}

const isPathSkipped = (path: string, config: AgentSourceConfig | undefined): boolean =>
  config?.skip.some((one) => path === one || path.startsWith(one.endsWith(sep) ? one : `${one}${sep}`)) ?? false

/** What lies in the places. One that was added may lie inside another: each source comes once. */
export async function* enabledSources(
  roots: readonly ConfiguredRoot[],
  configs: AgentSourceConfigs,
): AsyncGenerator<{ readonly agent: Agent; readonly source: Source }> {
  const seen = new Set<string>()
  for (const { agent, path } of roots) {
    if (!existsSync(path)) continue
    for await (const source of agent.find(path)) {
      const sourceKey = JSON.stringify([source.path, source.key])
      if (!seen.has(sourceKey) && isSourceEnabled(source, configs)) yield { agent, source }
      seen.add(sourceKey)
    }
  }
}

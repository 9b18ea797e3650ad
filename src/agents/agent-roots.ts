/** The folders to search: those of the agents and those added by the user, without disabled ones. */
import { existsSync } from 'node:fs'
import { sep } from 'node:path'
import { AppError } from '../model/error.ts'
import type { AgentId } from '../model/ids.ts'
import type { Agent, Source } from './agent.ts'

export interface AgentSourceConfig {
  readonly enabled: boolean
  /** Folders in addition to the agent's own. */
  readonly roots: readonly string[]
  /** Excluded folders, with everything below them. */
  readonly skip: readonly string[]
}

/** By agent id, including agents served by another adapter. */
export type AgentSourceConfigs = ReadonlyMap<AgentId, AgentSourceConfig>

export interface ConfiguredRoot {
  readonly agent: Agent
  readonly path: string
  /** Added by the user. */
  readonly added: boolean
}

export const agentIdsOf = (agent: Agent): readonly AgentId[] => [
  ...new Set([agent.id, ...Object.keys(agent.names ?? {})]),
]

/** What a person calls an agent, also as the speaker of its answers: `Codex`, `Amazon Q`. */
export const agentName = (agent: Agent, id: AgentId): string => agent.names?.[id] ?? agent.label

/** Whether some of its sources are files of one session. */
export const hasSessionFiles = ({ volatile }: Agent): boolean => volatile?.isStore !== undefined || !volatile

/** A file of one session, not a store of rows: it is backed up as a file. */
export const isSessionFileOf = ({ volatile }: Agent, path: string): boolean =>
  volatile === undefined || volatile.isStore?.(path) === false

export function agentServing(id: AgentId, agents: readonly Agent[]): Agent {
  const agent = agents.find((one) => agentIdsOf(one).includes(id))
  if (!agent) {
    throw new AppError('not_found', `Unknown agent "${id}"`, `エージェント「${id}」は、この版では扱えません。`)
  }
  return agent
}

/**
 * The folders need not exist.
 * @param own the agent's default folders
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

/** Sources in these folders. An added folder may be inside another; each source is yielded once. */
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

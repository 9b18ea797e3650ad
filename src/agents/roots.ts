/** Which places are looked at: those of the agents and those that the user added, without what is switched off. */
import { existsSync } from 'node:fs'
import { sep } from 'node:path'
import { AppError } from '../model/error.ts'
import type { AgentId } from '../model/ids.ts'
import type { Agent, Source } from './agent.ts'

export interface Wish {
  readonly enabled: boolean
  /** More places than the agent's own. */
  readonly roots: readonly string[]
  /** Left alone, with all below. */
  readonly skip: readonly string[]
}

/** By the ids of agents, those included that another one serves. */
export type Wishes = ReadonlyMap<AgentId, Wish>

export interface Root {
  readonly agent: Agent
  readonly path: string
  /** By the user. */
  readonly added: boolean
}

export const idsOf = (agent: Agent): readonly AgentId[] => [agent.id, ...(agent.serves ?? [])]

export function agentServing(id: AgentId, agents: readonly Agent[]): Agent {
  const agent = agents.find((one) => idsOf(one).includes(id))
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
  wishes: Wishes,
  own: (agent: Agent) => readonly string[],
): readonly Root[] {
  return agents.flatMap((agent) => {
    const ids = idsOf(agent).filter((id) => wishes.get(id)?.enabled !== false)
    if (ids.length === 0) return []
    const known = own(agent)
    const more = new Set(ids.flatMap((id) => wishes.get(id)?.roots ?? []))
    return [
      ...known.map((path) => ({ agent, path, added: false })),
      ...[...more].filter((path) => !known.includes(path)).map((path) => ({ agent, path, added: true })),
    ].filter(({ path }) => ids.some((id) => !isSkipped(path, wishes.get(id))))
  })
}

export function isWanted({ agent, path }: Pick<Source, 'agent' | 'path'>, wishes: Wishes): boolean {
  const wish = wishes.get(agent)
  return wish?.enabled !== false && !isSkipped(path, wish)
}

const isSkipped = (path: string, wish: Wish | undefined): boolean =>
  wish?.skip.some((one) => path === one || path.startsWith(one.endsWith(sep) ? one : `${one}${sep}`)) ?? false

/** What lies in the places. One that was added may lie inside another: each source comes once. */
export async function* wantedSources(
  roots: readonly Root[],
  wishes: Wishes,
): AsyncGenerator<{ readonly agent: Agent; readonly source: Source }> {
  const seen = new Set<string>()
  for (const { agent, path } of roots) {
    if (!existsSync(path)) continue
    for await (const source of agent.find(path)) {
      const place = JSON.stringify([source.path, source.key])
      if (!seen.has(place) && isWanted(source, wishes)) yield { agent, source }
      seen.add(place)
    }
  }
}

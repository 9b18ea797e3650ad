/** Finds the agents: each folder next to this file with an `agent` module. There is no other list of agents. */
import { existsSync, readdirSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AgentId } from '../model/ids.ts'
import type { Agent } from './agent.ts'
import { agentIdsOf, agentName, agentServing } from './agent-roots.ts'

/** `.ts` in the source tree, `.js` in the built program. */
const MODULE_SUFFIX = extname(fileURLToPath(import.meta.url))

let loadedAgents: Promise<readonly Agent[]> | undefined

export function allAgents(): Promise<readonly Agent[]> {
  loadedAgents ??= loadAgents()
  return loadedAgents
}

/** The agent that reads the sources of this id. */
export const loadAgent = async (id: AgentId): Promise<Agent> => agentServing(id, await allAgents())

/** The names of all agents by id. */
export async function allAgentNames(): Promise<{ readonly [id: AgentId]: string }> {
  const agents = await allAgents()
  return Object.fromEntries(agents.flatMap((agent) => agentIdsOf(agent).map((id) => [id, agentName(agent, id)])))
}

async function loadAgents(): Promise<readonly Agent[]> {
  const here = new URL('.', import.meta.url)
  const folders = readdirSync(here, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => new URL(`${entry.name}/agent${MODULE_SUFFIX}`, here))
    .filter((module) => existsSync(module))
    .sort()
  const modules = await Promise.all(folders.map(({ href }) => import(href) as Promise<{ default: Agent }>))
  return modules.map((module) => module.default)
}

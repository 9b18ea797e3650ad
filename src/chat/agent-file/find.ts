/** Finds agents: the project's, ours, and those of Amazon Q, in this order when two have the same name. */
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { entriesOf } from '../../lib/files/look.ts'
import { isSystemError, reasonOf } from '../../lib/files/system-error.ts'
import type { Fault } from '../../lib/json/fields.ts'
import { JsonMap } from '../../lib/json/lossless.ts'
import { type AgentFile, DEFAULT_AGENT, DEFAULT_AGENT_NAME, type McpServerEntry } from './agent-file.ts'
import { type Parsed, parseAgent, parseServers } from './read.ts'

export interface AgentPlaces {
  readonly cwd: string
  readonly home: string
  /** fumibako's data directory. */
  readonly data: string
}

export interface FoundAgent {
  readonly agent: AgentFile
  /** Null for the one that is always there. */
  readonly path: string | null
  readonly place: 'project' | 'fumibako' | 'amazon-q' | 'built-in'
}

export interface BrokenFile {
  readonly path: string
  readonly faults: readonly Fault[]
}

export interface FoundAgents {
  /** One for each name, in the order of their names; the default one is among them. */
  readonly agents: readonly FoundAgent[]
  readonly broken: readonly BrokenFile[]
}

export function findAgents({ cwd, home, data }: AgentPlaces): FoundAgents {
  const folders = [
    ['project', join(cwd, '.amazonq', 'cli-agents')],
    ['fumibako', join(data, 'agents')],
    ['amazon-q', join(home, '.aws', 'amazonq', 'cli-agents')],
  ] as const
  const agents = new Map<string, FoundAgent>()
  const broken: BrokenFile[] = []
  for (const [place, folder] of folders) {
    const files = entriesOf(folder).filter((entry) => !entry.isDirectory() && entry.name.endsWith('.json'))
    for (const { name } of files) {
      const path = join(folder, name)
      const read = readAgent(path)
      if (!read.ok) broken.push({ path, faults: read.faults })
      else if (!agents.has(read.value.name)) agents.set(read.value.name, { agent: read.value, path, place })
    }
  }
  if (!agents.has(DEFAULT_AGENT_NAME))
    agents.set(DEFAULT_AGENT_NAME, { agent: DEFAULT_AGENT, path: null, place: 'built-in' })
  const sorted = [...agents.values()].sort((a, b) => (a.agent.name < b.agent.name ? -1 : 1))
  return { agents: sorted, broken }
}

export function readAgent(path: string): Parsed<AgentFile> {
  const text = textAt(path)
  if (!text.ok) return text
  const read = parseAgent(text.value)
  if (!read.ok || read.value.prompt?.startsWith('file://') !== true) return read
  const file = resolve(dirname(path), read.value.prompt.slice('file://'.length))
  const prompt = textAt(file)
  if (!prompt.ok) return { ok: false, faults: [{ path: 'prompt', reason: `${file}: ${prompt.faults[0]?.reason}` }] }
  return { ok: true, value: { ...read.value, prompt: prompt.value } }
}

function textAt(path: string): Parsed<string> {
  try {
    return { ok: true, value: readFileSync(path, 'utf8') }
  } catch (error) {
    if (!isSystemError(error)) throw error
    return { ok: false, faults: [{ path: '', reason: reasonOf(error) }] }
  }
}

export interface FoundServers {
  readonly servers: ReadonlyMap<string, McpServerEntry>
  /** Named by the project alone, and not to be started. */
  readonly passed: readonly string[]
  readonly broken: readonly BrokenFile[]
}

/**
 * The agent's own servers, and where it wants them those of `mcp.json`: the project's before the user's.
 * A server is a command, and anybody may have written the project: its own are for agents that somebody has named, not for the built-in one.
 */
export function serversFor(agent: AgentFile, { cwd, home }: Omit<AgentPlaces, 'data'>): FoundServers {
  const servers = new JsonMap<McpServerEntry>(agent.mcpServers)
  const passed: string[] = []
  const broken: BrokenFile[] = []
  if (!agent.useLegacyMcpJson) return { servers, passed, broken }
  const project = join(cwd, '.amazonq', 'mcp.json')
  for (const path of [project, join(home, '.aws', 'amazonq', 'mcp.json')]) {
    const text = textAt(path)
    if (!text.ok) continue
    const read = parseServers(text.value)
    if (!read.ok) broken.push({ path, faults: read.faults })
    else if (path === project && agent === DEFAULT_AGENT) passed.push(...read.value.keys())
    else for (const [name, entry] of read.value) servers.set(name, servers.get(name) ?? entry)
  }
  return { servers, passed, broken }
}

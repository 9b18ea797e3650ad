/** Finds agents: the user's own (ours, then those of Amazon Q), and the project's, which never take the place of the user's. */
import { statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { entriesOf } from '../../lib/files/look.ts'
import { readRegular } from '../../lib/files/regular-file.ts'
import { isSystemError, reasonOf } from '../../lib/files/system-error.ts'
import { sha256 } from '../../lib/hash.ts'
import type { Fault } from '../../lib/json/fields.ts'
import { JsonMap } from '../../lib/json/lossless.ts'
import { isInside, realOf } from '../tools/files/paths.ts'
import type { Fingerprint } from '../trust/store.ts'
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
  /** Of a project's file, which the user has to trust; null for the user's own. */
  readonly fingerprint: Fingerprint | null
}

export interface BrokenFile {
  readonly path: string
  readonly faults: readonly Fault[]
}

export interface FoundAgents {
  /** In the order of their names, the user's own before the project's of the same name; the default one is among them. */
  readonly agents: readonly FoundAgent[]
  readonly broken: readonly BrokenFile[]
}

export function findAgents({ cwd, home, data }: AgentPlaces): FoundAgents {
  const own = new Map<string, FoundAgent>()
  const project = new Map<string, FoundAgent>()
  const broken: BrokenFile[] = []
  const look = (place: FoundAgent['place'], folder: string, agents: Map<string, FoundAgent>): void => {
    const files = entriesOf(folder).filter((entry) => !entry.isDirectory() && entry.name.endsWith('.json'))
    for (const { name } of files) {
      const path = join(folder, name)
      const read = readAgent(path, place === 'project' ? cwd : undefined)
      if (!read.ok) broken.push({ path, faults: read.faults })
      else if (!agents.has(read.value.agent.name)) {
        const { agent, fingerprint } = read.value
        agents.set(agent.name, { agent, path, place, fingerprint: place === 'project' ? fingerprint : null })
      }
    }
  }
  look('project', join(cwd, '.amazonq', 'cli-agents'), project)
  look('fumibako', join(data, 'agents'), own)
  look('amazon-q', join(home, '.aws', 'amazonq', 'cli-agents'), own)
  if (!own.has(DEFAULT_AGENT_NAME)) own.set(DEFAULT_AGENT_NAME, BUILT_IN)
  const sorted = [...own.values(), ...project.values()].sort((a, b) =>
    a.agent.name === b.agent.name ? 0 : a.agent.name < b.agent.name ? -1 : 1,
  )
  return { agents: sorted, broken }
}

export const BUILT_IN: FoundAgent = { agent: DEFAULT_AGENT, path: null, place: 'built-in', fingerprint: null }

/**
 * The agent that a word means: by name the user's own before the project's; by the path of its file exactly that one.
 * @param cwd where a relative path begins
 */
export function agentMeant(agents: readonly FoundAgent[], word: string, cwd: string): FoundAgent | undefined {
  const named = agents.find(({ agent }) => agent.name === word)
  if (named || !/[/\\]|\.json$/.test(word)) return named
  const path = resolve(cwd, word)
  return agents.find((one) => one.path === path)
}

/** The word by which `agentMeant` finds this one again. */
export function referenceOf(found: FoundAgent, agents: readonly FoundAgent[], cwd: string): string {
  const { agent, path } = found
  const isFirst = agents.find((one) => one.agent.name === agent.name) === found
  return isFirst || path === null ? agent.name : relative(cwd, path)
}

export interface ReadAgent {
  readonly agent: AgentFile
  readonly fingerprint: Fingerprint
}

/** @param within the file that `prompt` names must be in this folder, once links are followed */
export function readAgent(path: string, within?: string): Parsed<ReadAgent> {
  const bytes = bytesAt(path)
  if (!bytes.ok) return bytes
  const read = parseAgent(bytes.value.toString('utf8'))
  if (!read.ok) return read
  const fingerprint = { path, sha256: sha256(bytes.value), prompt_sha256: null }
  const { prompt: named } = read.value
  if (named?.startsWith('file://') !== true) return { ok: true, value: { agent: read.value, fingerprint } }
  const file = resolve(dirname(path), named.slice('file://'.length))
  const fault = (reason: string): Parsed<never> => ({
    ok: false,
    faults: [{ path: 'prompt', reason: `${file}: ${reason}` }],
  })
  const real = realOf(file)
  if (within !== undefined && !isInside(real, realOf(within))) return fault('is outside of the project')
  const prompt = bytesAt(real)
  if (!prompt.ok) return fault(prompt.faults[0]?.reason ?? '')
  const agent = { ...read.value, prompt: prompt.value.toString('utf8') }
  return { ok: true, value: { agent, fingerprint: { ...fingerprint, prompt_sha256: sha256(prompt.value) } } }
}

/** Larger files are no agents. */
const MAX_BYTES = 4_000_000

function bytesAt(path: string): Parsed<Buffer> {
  const fault = (reason: string): Parsed<never> => ({ ok: false, faults: [{ path: '', reason }] })
  try {
    if (statSync(path).size > MAX_BYTES) return fault(`is larger than ${MAX_BYTES} bytes`)
    return { ok: true, value: readRegular(path) }
  } catch (error) {
    if (!isSystemError(error)) throw error
    return fault(reasonOf(error))
  }
}

export interface ServersFile {
  readonly servers: ReadonlyMap<string, McpServerEntry>
  readonly fingerprint: Fingerprint
}

export interface FoundServers {
  readonly servers: ReadonlyMap<string, McpServerEntry>
  /** The project's `mcp.json`, where it is not trusted: its servers are not started. */
  readonly untrusted: ServersFile | null
  readonly broken: readonly BrokenFile[]
}

/**
 * The agent's own servers, and where it wants them those of `mcp.json`: the user's before the project's of the same name.
 * A server is a command, and anybody may have written the project: its file has to be trusted.
 */
export function serversFor(
  agent: AgentFile,
  { cwd, home }: Omit<AgentPlaces, 'data'>,
  isTrusted: (file: Fingerprint) => boolean,
): FoundServers {
  const servers = new JsonMap<McpServerEntry>(agent.mcpServers)
  const broken: BrokenFile[] = []
  if (!agent.useLegacyMcpJson) return { servers, untrusted: null, broken }
  const take = (file: ServersFile): void => {
    for (const [name, entry] of file.servers) servers.set(name, servers.get(name) ?? entry)
  }
  const own = serversFileAt(join(home, '.aws', 'amazonq', 'mcp.json'))
  if (own?.ok) take(own.value)
  const project = projectServers(cwd)
  for (const file of [own, project]) if (file?.ok === false) broken.push({ path: file.path, faults: file.faults })
  if (!project?.ok) return { servers, untrusted: null, broken }
  if (!isTrusted(project.value.fingerprint)) return { servers, untrusted: project.value, broken }
  take(project.value)
  return { servers, untrusted: null, broken }
}

type ReadServers = { readonly ok: true; readonly value: ServersFile } | ({ readonly ok: false } & BrokenFile)

/** Undefined where there is no such file. */
export const projectServers = (cwd: string): ReadServers | undefined => serversFileAt(join(cwd, '.amazonq', 'mcp.json'))

export function serversFileAt(path: string): ReadServers | undefined {
  const bytes = bytesAt(path)
  if (!bytes.ok) return undefined
  const read = parseServers(bytes.value.toString('utf8'))
  if (!read.ok) return { ok: false, path, faults: read.faults }
  const fingerprint = { path, sha256: sha256(bytes.value), prompt_sha256: null }
  return { ok: true, value: { servers: read.value, fingerprint } }
}

/** Finds agents: the user's own (ours, then Amazon Q's) and the project's, which never replace the user's. */
import { statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { listEntries } from '../../lib/files/safe-fs.ts'
import { isSystemError, systemErrorReason } from '../../lib/files/system-error.ts'
import { sha256 } from '../../lib/hash.ts'
import type { FieldFault } from '../../lib/json/field-reader.ts'
import { JsonMap } from '../../lib/json/lossless.ts'
import { isInsideFolder, resolveRealPath } from '../tools/files/tool-paths.ts'
import type { FileFingerprint } from '../trust/trust-store.ts'
import {
  type AgentFile,
  type AgentFileResult,
  DEFAULT_AGENT,
  DEFAULT_AGENT_NAME,
  type McpServerEntry,
  parseAgentFile,
  parseServersFile,
} from './agent-file.ts'

export interface AgentDirectories {
  readonly cwd: string
  readonly home: string
  readonly data: string
}

export interface FoundAgent {
  readonly agent: AgentFile
  /** Null for the built-in agent. */
  readonly path: string | null
  readonly place: 'project' | 'fumibako' | 'amazon-q' | 'built-in'
  /** For a project's file, which the user has to trust; null for the user's own. */
  readonly fingerprint: FileFingerprint | null
}

interface InvalidAgentFile {
  readonly path: string
  readonly faults: readonly FieldFault[]
}

export interface FoundAgents {
  /** By name; the user's own come before the project's of the same name. Includes the default agent. */
  readonly agents: readonly FoundAgent[]
  readonly broken: readonly InvalidAgentFile[]
}

export function findAgents({ cwd, home, data }: AgentDirectories): FoundAgents {
  const own = new Map<string, FoundAgent>()
  const project = new Map<string, FoundAgent>()
  const broken: InvalidAgentFile[] = []
  const addAgentsIn = (place: FoundAgent['place'], folder: string, agents: Map<string, FoundAgent>): void => {
    const files = listEntries(folder).filter((entry) => !entry.isDirectory() && entry.name.endsWith('.json'))
    for (const { name } of files) {
      const path = join(folder, name)
      const read = readAgentFile(path, place === 'project' ? cwd : undefined)
      if (!read.ok) broken.push({ path, faults: read.faults })
      else if (!agents.has(read.value.agent.name)) {
        const { agent, fingerprint } = read.value
        agents.set(agent.name, { agent, path, place, fingerprint: place === 'project' ? fingerprint : null })
      }
    }
  }
  addAgentsIn('project', join(cwd, '.amazonq', 'cli-agents'), project)
  addAgentsIn('fumibako', join(data, 'agents'), own)
  addAgentsIn('amazon-q', join(home, '.aws', 'amazonq', 'cli-agents'), own)
  if (!own.has(DEFAULT_AGENT_NAME)) own.set(DEFAULT_AGENT_NAME, BUILT_IN_AGENT)
  const sorted = [...own.values(), ...project.values()].sort((a, b) =>
    a.agent.name === b.agent.name ? 0 : a.agent.name < b.agent.name ? -1 : 1,
  )
  return { agents: sorted, broken }
}

export const BUILT_IN_AGENT: FoundAgent = { agent: DEFAULT_AGENT, path: null, place: 'built-in', fingerprint: null }

/**
 * Finds an agent by name, preferring the user's own, or by the path of its file.
 * @param cwd base of a relative path
 */
export function findAgent(agents: readonly FoundAgent[], word: string, cwd: string): FoundAgent | undefined {
  const named = agents.find(({ agent }) => agent.name === word)
  if (named || !/[/\\]|\.json$/.test(word)) return named
  const path = resolve(cwd, word)
  return agents.find((one) => one.path === path)
}

export function agentReference(found: FoundAgent, agents: readonly FoundAgent[], cwd: string): string {
  const { agent, path } = found
  const isFirst = agents.find((one) => one.agent.name === agent.name) === found
  return isFirst || path === null ? agent.name : relative(cwd, path)
}

interface AgentFileContent {
  readonly agent: AgentFile
  readonly fingerprint: FileFingerprint
}

/** @param within the folder that must contain the file named by `prompt`, after resolving links */
export function readAgentFile(path: string, within?: string): AgentFileResult<AgentFileContent> {
  const bytes = readBytes(path)
  if (!bytes.ok) return bytes
  const read = parseAgentFile(bytes.value.toString('utf8'))
  if (!read.ok) return read
  const fingerprint = { path, sha256: sha256(bytes.value), prompt_sha256: null }
  const { prompt: named } = read.value
  if (named?.startsWith('file://') !== true) return { ok: true, value: { agent: read.value, fingerprint } }
  const file = resolve(dirname(path), named.slice('file://'.length))
  const fault = (reason: string): AgentFileResult<never> => ({
    ok: false,
    faults: [{ path: 'prompt', reason: `${file}: ${reason}` }],
  })
  const real = resolveRealPath(file)
  if (within !== undefined && !isInsideFolder(real, resolveRealPath(within))) return fault('is outside of the project')
  const prompt = readBytes(real)
  if (!prompt.ok) return fault(prompt.faults[0]?.reason ?? '')
  const agent = { ...read.value, prompt: prompt.value.toString('utf8') }
  return { ok: true, value: { agent, fingerprint: { ...fingerprint, prompt_sha256: sha256(prompt.value) } } }
}

const MAX_FILE_BYTES = 4_000_000

function readBytes(path: string): AgentFileResult<Buffer> {
  const fault = (reason: string): AgentFileResult<never> => ({ ok: false, faults: [{ path: '', reason }] })
  try {
    if (statSync(path).size > MAX_FILE_BYTES) return fault(`is larger than ${MAX_FILE_BYTES} bytes`)
    return { ok: true, value: readRegularFile(path) }
  } catch (error) {
    if (!isSystemError(error)) throw error
    return fault(systemErrorReason(error))
  }
}

interface McpServersFile {
  readonly servers: ReadonlyMap<string, McpServerEntry>
  readonly fingerprint: FileFingerprint
}

interface FoundMcpServers {
  readonly servers: ReadonlyMap<string, McpServerEntry>
  /** The project's untrusted `mcp.json`, whose servers are not started. */
  readonly untrusted: McpServersFile | null
  readonly broken: readonly InvalidAgentFile[]
}

/**
 * The agent's own servers and, if it includes them, those of `mcp.json`, the user's before the project's of the same
 * name. A server is a command and a project may come from anyone, so the project's file must be trusted.
 */
export function findMcpServers(
  agent: AgentFile,
  { cwd, home }: Omit<AgentDirectories, 'data'>,
  isTrusted: (file: FileFingerprint) => boolean,
): FoundMcpServers {
  const servers = new JsonMap<McpServerEntry>(agent.mcpServers)
  const broken: InvalidAgentFile[] = []
  if (!agent.useLegacyMcpJson) return { servers, untrusted: null, broken }
  const addServers = (file: McpServersFile): void => {
    for (const [name, entry] of file.servers) servers.set(name, servers.get(name) ?? entry)
  }
  const own = readServersFile(join(home, '.aws', 'amazonq', 'mcp.json'))
  if (own?.ok) addServers(own.value)
  const project = readProjectServers(cwd)
  for (const file of [own, project]) if (file?.ok === false) broken.push({ path: file.path, faults: file.faults })
  if (!project?.ok) return { servers, untrusted: null, broken }
  if (!isTrusted(project.value.fingerprint)) return { servers, untrusted: project.value, broken }
  addServers(project.value)
  return { servers, untrusted: null, broken }
}

type ServersFileResult =
  | { readonly ok: true; readonly value: McpServersFile }
  | ({ readonly ok: false } & InvalidAgentFile)

/** Undefined if there is no such file. */
export const readProjectServers = (cwd: string): ServersFileResult | undefined =>
  readServersFile(join(cwd, '.amazonq', 'mcp.json'))

export function readServersFile(path: string): ServersFileResult | undefined {
  const bytes = readBytes(path)
  if (!bytes.ok) return undefined
  const read = parseServersFile(bytes.value.toString('utf8'))
  if (!read.ok) return { ok: false, path, faults: read.faults }
  const fingerprint = { path, sha256: sha256(bytes.value), prompt_sha256: null }
  return { ok: true, value: { servers: read.value, fingerprint } }
}

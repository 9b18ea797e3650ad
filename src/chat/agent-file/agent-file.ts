/** An agent file: prompt, tools, permissions, hooks and MCP servers; and its parser. */
import { NATIVE_TOOLS } from '../../conversation/limits.ts'
import type { Hook, HookTrigger } from '../../conversation/record.ts'
import { type FieldFault, FieldReader } from '../../lib/json/field-reader.ts'
import { JsonMap } from '../../lib/json/lossless.ts'
import {
  BUILTIN_SERVER,
  NO_TOOLS_SETTINGS,
  type PathSettings,
  type ToolsSettings,
} from '../tools/permission/permission.ts'

export interface AgentFile {
  readonly name: string
  readonly description: string | null
  /** The text itself, or the `file://` reference. */
  readonly prompt: string | null
  readonly mcpServers: ReadonlyMap<string, McpServerEntry>
  /** `*`, names, `@builtin`, `@server`, `@server/tool`. */
  readonly tools: readonly string[]
  readonly toolAliases: ReadonlyMap<string, string>
  readonly allowedTools: readonly string[]
  /** As written. Only those that begin with `file://` are context files. */
  readonly resources: readonly string[]
  readonly hooks: ReadonlyMap<HookTrigger, readonly Hook[]>
  readonly toolsSettings: ToolsSettings
  /** Whether the servers of `mcp.json` start too. */
  readonly useLegacyMcpJson: boolean
  readonly model: string | null
}

export type McpServerEntry = StdioServerEntry | HttpServerEntry

interface ServerEntry {
  /** Timeout per call. */
  readonly timeoutMs: number
  readonly disabled: boolean
}

export interface StdioServerEntry extends ServerEntry {
  readonly type: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  readonly env: ReadonlyMap<string, string>
}

export interface HttpServerEntry extends ServerEntry {
  readonly type: 'http'
  readonly url: string
  readonly headers: ReadonlyMap<string, string>
}

/** Amazon Q's name for the default agent, so that a saved conversation finds its agent there. */
export const DEFAULT_AGENT_NAME = 'q_cli_default'

export const DEFAULT_AGENT: AgentFile = {
  name: DEFAULT_AGENT_NAME,
  description: 'All tools, and the notes that projects keep for agents',
  prompt: null,
  mcpServers: new JsonMap(),
  tools: ['*'],
  toolAliases: new JsonMap(),
  allowedTools: [],
  resources: ['file://AmazonQ.md', 'file://AGENTS.md', 'file://README.md', 'file://.amazonq/rules/**/*.md'],
  hooks: new JsonMap(),
  toolsSettings: NO_TOOLS_SETTINGS,
  useLegacyMcpJson: true,
  model: null,
}

export const contextPathsOf = ({ resources }: AgentFile): readonly string[] =>
  resources.flatMap((one) => (one.startsWith('file://') ? [one.replace(/^(?:file:\/\/)+/, '')] : []))

export type AgentFileResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly faults: readonly FieldFault[] }

/** Leaves a `file://` prompt as written; `readAgentFile` reads what it names. */
export function parseAgentFile(text: string): AgentFileResult<AgentFile> {
  return parseFile(text, agentOf)
}

export function parseServersFile(text: string): AgentFileResult<ReadonlyMap<string, McpServerEntry>> {
  return parseFile(text, (reader) => serversOf(reader))
}

function parseFile<T>(text: string, read: (reader: FieldReader) => T): AgentFileResult<T> {
  const faults: FieldFault[] = []
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    const at = /position (\d+)/.exec(String(error))?.[1]
    const line = at === undefined ? '' : ` (line ${text.slice(0, Number(at)).split('\n').length})`
    return { ok: false, faults: [{ path: '', reason: `is not JSON${line}` }] }
  }
  const value = read(new FieldReader(json, '', faults))
  return faults.length === 0 ? { ok: true, value } : { ok: false, faults }
}

function agentOf(reader: FieldReader): AgentFile {
  reader.ignore('$schema')
  const agent = {
    name: reader.requiredText('name'),
    description: reader.text('description'),
    prompt: reader.text('prompt'),
    mcpServers: serversOf(reader),
    tools: reader.texts('tools'),
    toolAliases: new JsonMap(reader.textEntries('toolAliases')),
    allowedTools: reader.texts('allowedTools'),
    resources: reader.texts('resources'),
    hooks: hooksOf(reader),
    toolsSettings: settingsOf(reader),
    useLegacyMcpJson: reader.flag('useLegacyMcpJson', false),
    model: reader.text('model'),
  }
  reader.reportUnknown()
  return agent
}

const TRIGGERS: readonly HookTrigger[] = ['agentSpawn', 'userPromptSubmit', 'preToolUse', 'postToolUse', 'stop']

function hooksOf(reader: FieldReader): ReadonlyMap<HookTrigger, readonly Hook[]> {
  const triggers = reader.object('hooks')
  const hooks = new JsonMap<readonly Hook[]>()
  for (const trigger of TRIGGERS) {
    const list = triggers.list(trigger, (value, path) => hookOf(new FieldReader(value, path, reader.faults)))
    if (list.length > 0) hooks.set(trigger, list)
  }
  triggers.reportUnknown()
  return hooks
}

function hookOf(reader: FieldReader): Hook {
  reader.ignore('source')
  const command = reader.requiredText('command')
  const timeout_ms = reader.count('timeout_ms', 30_000)
  const max_output_size = reader.count('max_output_size', 10_240)
  const cache_ttl_seconds = reader.count('cache_ttl_seconds', 0)
  const matcher = reader.text('matcher')
  reader.reportUnknown()
  return { command, timeout_ms, max_output_size, cache_ttl_seconds, ...(matcher !== null && { matcher }) }
}

/** Ignores settings of tools we do not have. */
function settingsOf(reader: FieldReader): ToolsSettings {
  if (!reader.has('toolsSettings')) {
    reader.ignore('toolsSettings')
    return NO_TOOLS_SETTINGS
  }
  const tools = reader.object('toolsSettings')
  const read = tools.object('fs_read')
  const write = tools.object('fs_write')
  const shell = tools.object(tools.has('execute_bash') ? 'execute_bash' : 'execute_cmd')
  const settings = {
    fs_read: { ...pathSettings(read), allowReadOnly: read.flag('allowReadOnly', false) },
    fs_write: pathSettings(write),
    execute_bash: {
      allowedCommands: shell.texts('allowedCommands'),
      deniedCommands: shell.texts('deniedCommands'),
      autoAllowReadonly: shell.flag('autoAllowReadonly', false),
      denyByDefault: shell.flag('denyByDefault', false),
    },
  }
  for (const one of [read, write, shell]) one.reportUnknown()
  return settings
}

const pathSettings = (reader: FieldReader): PathSettings => ({
  allowedPaths: reader.texts('allowedPaths'),
  deniedPaths: reader.texts('deniedPaths'),
})

/** Reserved in permissions: `@builtin` allows the built-in tools. */
const RESERVED_SERVERS: ReadonlySet<string> = new Set(['', BUILTIN_SERVER, NATIVE_TOOLS])

function serversOf(reader: FieldReader): ReadonlyMap<string, McpServerEntry> {
  return new JsonMap(
    reader.entries('mcpServers', (value, path, name) => {
      if (RESERVED_SERVERS.has(name)) reader.faults.push({ path, reason: 'is a reserved name: rename the server' })
      return serverOf(new FieldReader(value, path, reader.faults))
    }),
  )
}

const CALL_TIMEOUT_MS = 120_000

function serverOf(reader: FieldReader): McpServerEntry {
  // Signing in is left to the server's own tool; a token goes into the headers.
  reader.ignore('oauthScopes', 'oauth', 'autoApprove')
  const type = reader.choice('type', ['stdio', 'http'])
  const common = { timeoutMs: reader.count('timeout', CALL_TIMEOUT_MS), disabled: reader.flag('disabled', false) }
  const entry: McpServerEntry =
    type === 'http'
      ? { ...common, type, url: reader.requiredText('url'), headers: new JsonMap(reader.textEntries('headers')) }
      : {
          ...common,
          type,
          command: reader.requiredText('command'),
          args: reader.texts('args'),
          env: new JsonMap(reader.textEntries('env')),
        }
  reader.ignore('url', 'headers', 'command', 'args', 'env')
  reader.reportUnknown()
  return entry
}

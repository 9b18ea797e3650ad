/** The text of an agent's file, read and checked field by field. */
import { NATIVE_TOOLS } from '../../conversation/limits.ts'
import type { Hook, HookTrigger } from '../../conversation/record.ts'
import { type Fault, FieldReader } from '../../lib/json/fields.ts'
import { JsonMap } from '../../lib/json/lossless.ts'
import { BUILTIN_SERVER } from '../tools/allow/patterns.ts'
import { NO_SETTINGS, type PathSettings, type ToolsSettings } from '../tools/permission.ts'
import type { AgentFile, McpServerEntry } from './agent-file.ts'

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly faults: readonly Fault[] }

/** The prompt is as written: whoever knows where the file lies reads what `file://` names. */
export function parseAgent(text: string): Parsed<AgentFile> {
  return parsed(text, agentOf)
}

/** `mcp.json`, as it was before agents had servers of their own. */
export function parseServers(text: string): Parsed<ReadonlyMap<string, McpServerEntry>> {
  return parsed(text, (reader) => serversOf(reader))
}

function parsed<T>(text: string, read: (reader: FieldReader) => T): Parsed<T> {
  const faults: Fault[] = []
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
  reader.pass('$schema')
  const agent = {
    name: reader.needed('name'),
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
  reader.end()
  return agent
}

const TRIGGERS: readonly HookTrigger[] = ['agentSpawn', 'userPromptSubmit', 'preToolUse', 'postToolUse', 'stop']

function hooksOf(reader: FieldReader): ReadonlyMap<HookTrigger, readonly Hook[]> {
  const triggers = reader.below('hooks')
  const hooks = new JsonMap<readonly Hook[]>()
  for (const trigger of TRIGGERS) {
    const list = triggers.list(trigger, (value, path) => hookOf(new FieldReader(value, path, reader.faults)))
    if (list.length > 0) hooks.set(trigger, list)
  }
  triggers.end()
  return hooks
}

function hookOf(reader: FieldReader): Hook {
  reader.pass('source')
  const command = reader.needed('command')
  const timeout_ms = reader.count('timeout_ms', 30_000)
  const max_output_size = reader.count('max_output_size', 10_240)
  const cache_ttl_seconds = reader.count('cache_ttl_seconds', 0)
  const matcher = reader.text('matcher')
  reader.end()
  return { command, timeout_ms, max_output_size, cache_ttl_seconds, ...(matcher !== null && { matcher }) }
}

/** Settings of tools that we do not have are let through. */
function settingsOf(reader: FieldReader): ToolsSettings {
  if (!reader.has('toolsSettings')) {
    reader.pass('toolsSettings')
    return NO_SETTINGS
  }
  const tools = reader.below('toolsSettings')
  const read = tools.below('fs_read')
  const write = tools.below('fs_write')
  const shell = tools.below(tools.has('execute_bash') ? 'execute_bash' : 'execute_cmd')
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
  for (const one of [read, write, shell]) one.end()
  return settings
}

const pathSettings = (reader: FieldReader): PathSettings => ({
  allowedPaths: reader.texts('allowedPaths'),
  deniedPaths: reader.texts('deniedPaths'),
})

/** Permissions give these names a meaning of their own: `@builtin` in an agent's file allows the built-in tools. */
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
  reader.pass('oauthScopes', 'oauth', 'autoApprove')
  const type = reader.choice('type', ['stdio', 'http'])
  const any = { timeoutMs: reader.count('timeout', CALL_TIMEOUT_MS), disabled: reader.flag('disabled', false) }
  const entry: McpServerEntry =
    type === 'http'
      ? { ...any, type, url: reader.needed('url'), headers: new JsonMap(reader.textEntries('headers')) }
      : {
          ...any,
          type,
          command: reader.needed('command'),
          args: reader.texts('args'),
          env: new JsonMap(reader.textEntries('env')),
        }
  reader.pass('url', 'headers', 'command', 'args', 'env')
  reader.end()
  return entry
}

/** An agent as its file describes it: what it is told, which tools it has, what it may do unasked. */
import type { Hook, HookTrigger } from '../../conversation/record.ts'
import { JsonMap } from '../../lib/json/lossless.ts'
import { NO_TOOLS_SETTINGS, type ToolsSettings } from '../tools/permission/permission.ts'

export interface AgentFile {
  readonly name: string
  readonly description: string | null
  /** The instruction itself: where the file names another file, what stands in that. */
  readonly prompt: string | null
  readonly mcpServers: ReadonlyMap<string, McpServerEntry>
  /** `*`, names, `@builtin`, `@server`, `@server/tool`. */
  readonly tools: readonly string[]
  readonly toolAliases: ReadonlyMap<string, string>
  readonly allowedTools: readonly string[]
  /** As written; only those that begin with `file://` are context files. */
  readonly resources: readonly string[]
  readonly hooks: ReadonlyMap<HookTrigger, readonly Hook[]>
  readonly toolsSettings: ToolsSettings
  /** Servers of `mcp.json` are started too. */
  readonly useLegacyMcpJson: boolean
  readonly model: string | null
}

export type McpServerEntry = StdioServerEntry | HttpServerEntry

interface ServerEntry {
  /** For a single call. */
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

/** As the original names it, so that a saved conversation finds its agent there too. */
export const DEFAULT_AGENT_NAME = 'q_cli_default'

/** What holds when nobody chose an agent. */
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

/** The paths and patterns of its context files. */
export const contextPathsOf = ({ resources }: AgentFile): readonly string[] =>
  resources.flatMap((one) => (one.startsWith('file://') ? [one.replace(/^(?:file:\/\/)+/, '')] : []))

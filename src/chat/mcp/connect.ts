/** Connects to MCP servers. Only this file imports the SDK at run time, when the first server starts. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JsonValue } from '../../lib/json/lossless.ts'
import { programPathOrMissing } from '../../lib/programs.ts'
import { type Phrase, phrase, untranslated } from '../../model/phrase.ts'
import type { HttpServerEntry, McpServerEntry, StdioServerEntry } from '../agent-file/agent-file.ts'
import { type EnvironmentBuilder, signalGroup } from '../processes/process-group.ts'
import { StdioTransport } from './stdio-transport.ts'

/** A server that takes longer joins later. */
export const START_WAIT_MS = 5000
/** Used if no user is waiting. */
export const START_WAIT_UNATTENDED_MS = 30_000
const MAX_LISTED_ITEMS = 1000
const MAX_LIST_LENGTH = 4_000_000
/** Pause before a changed list is read again; doubles while the server keeps reporting changes. */
export const FIRST_PAUSE_MS = 1000
export const MAX_PAUSE_MS = 60_000
export const MAX_TOOL_NAME_BYTES = 64
export const MAX_TOOL_DESCRIPTION_BYTES = 10_004

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

/** The protocol requires a new session in this case. */
export const isUnknownSession = (error: unknown): boolean => codeOf(error) === 404

export function mcpErrorReason(error: unknown): Phrase {
  const code = codeOf(error)
  if (code === 401)
    return phrase(
      'it requires authentication (401). Get a token from it, and add "headers": {"Authorization": "Bearer …"} to its entry under mcpServers',
      '認証が必要です（401）。サーバーからトークンを取得し、mcpServers の項目に "headers": {"Authorization": "Bearer …"} を加えてください',
    )
  if (code === 403)
    return phrase(
      'it denied access (403). Check the token in the headers of its entry',
      '認証はされましたが、拒まれました（403）。項目の headers にあるトークンを確認してください',
    )
  const text = error instanceof Error ? error.message : String(error)
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : ''
  return untranslated((text + cause).split('\n')[0] ?? '')
}

interface McpConnectOptions {
  readonly cwd: string
  readonly environment: EnvironmentBuilder
  readonly signal: AbortSignal
  readonly onStderr: (text: string) => void
  readonly onTools: () => void
  readonly onPrompts: () => void
  readonly onResources: () => void
  readonly onClose: () => void
}

export interface RemoteTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonValue
  readonly readOnly: boolean
  readonly destructive: boolean
}

export interface RemotePrompt {
  readonly name: string
  readonly description: string
  readonly arguments: readonly PromptArgument[]
}

export interface RemoteResource {
  readonly uri: string
  readonly name: string
}

interface PromptArgument {
  readonly name: string
  readonly required: boolean
  readonly description: string
}

export interface McpConnection {
  readonly client: Client
  readonly title: string | null
  listTools(): Promise<readonly RemoteTool[]>
  listPrompts(): Promise<readonly RemotePrompt[]>
  listResources(): Promise<readonly RemoteResource[]>
  /** Never rejects. */
  close(): Promise<void>
}

const MAX_PAGES = 100

/** Rejects with the reason if the connection fails; no process is left running. */
export async function connectMcpServer(entry: McpServerEntry, options: McpConnectOptions): Promise<McpConnection> {
  const [{ Client }, changes] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ])
  const client = new Client({ name: 'fumibako', version: '1' })
  const { transport, end } = entry.type === 'http' ? await openHttp(entry) : await openStdio(entry, options)
  let isClosing = false
  const close = async (): Promise<void> => {
    isClosing = true
    await Promise.all([client.close().catch(() => {}), end()])
  }
  const limits = { timeout: entry.timeoutMs, signal: options.signal }
  try {
    await client.connect(transport, limits)
  } catch (error) {
    await close()
    throw error
  }
  client.onclose = () => {
    if (!isClosing) options.onClose()
  }
  client.setNotificationHandler(changes.ToolListChangedNotificationSchema, options.onTools)
  client.setNotificationHandler(changes.PromptListChangedNotificationSchema, options.onPrompts)
  client.setNotificationHandler(changes.ResourceListChangedNotificationSchema, options.onResources)
  const { name, version } = client.getServerVersion() ?? { name: '', version: '' }
  return {
    client,
    title: name === '' ? null : `${name} ${version}`.trim(),
    close,
    async listTools() {
      if (!client.getServerCapabilities()?.tools) return []
      return listPages(async (params) => {
        const { tools, nextCursor } = await client.listTools(params, limits)
        return { items: tools.map(toRemoteTool), nextCursor }
      })
    },
    async listPrompts() {
      if (!client.getServerCapabilities()?.prompts) return []
      return listPages(async (params) => {
        const { prompts, nextCursor } = await client.listPrompts(params, limits)
        return { items: prompts.map(toRemotePrompt), nextCursor }
      })
    },
    async listResources() {
      if (!client.getServerCapabilities()?.resources) return []
      return listPages(async (params) => {
        const { resources, nextCursor } = await client.listResources(params, limits)
        return { items: resources.map(({ uri, name }) => ({ uri, name })), nextCursor }
      })
    },
  }
}

interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | undefined
}

async function listPages<T>(ask: (params: { cursor?: string }) => Promise<Page<T>>): Promise<readonly T[]> {
  const all: T[] = []
  let length = 0
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const { items, nextCursor } = await ask(cursor === undefined ? {} : { cursor })
    length += JSON.stringify(items).length
    if (all.length + items.length > MAX_LISTED_ITEMS || length > MAX_LIST_LENGTH)
      throw new Error(`the list has more than ${MAX_LISTED_ITEMS} items or ${MAX_LIST_LENGTH} characters`)
    all.push(...items)
    cursor = nextCursor
    if (cursor === undefined) break
  }
  return all
}

type ListResult<List extends 'listTools' | 'listPrompts'> = Awaited<ReturnType<Client[List]>>

function toRemoteTool(tool: ListResult<'listTools'>['tools'][number]): RemoteTool {
  const { name, description = '', inputSchema, annotations } = tool
  const readOnly = annotations?.readOnlyHint === true
  const destructive = !readOnly && annotations?.destructiveHint === true
  return { name, description, inputSchema: inputSchema as JsonValue, readOnly, destructive }
}

function toRemotePrompt(prompt: ListResult<'listPrompts'>['prompts'][number]): RemotePrompt {
  const { name, description = '', arguments: wanted = [] } = prompt
  const argument = (one: (typeof wanted)[number]): PromptArgument => {
    return { name: one.name, required: one.required === true, description: one.description ?? '' }
  }
  return { name, description, arguments: wanted.map(argument) }
}

interface OpenedTransport {
  readonly transport: Transport
  /** Kills everything the transport started, which the SDK does not do. */
  readonly end: () => Promise<void>
}

async function openStdio(entry: StdioServerEntry, options: McpConnectOptions): Promise<OpenedTransport> {
  const { cwd, environment, onStderr } = options
  const { command, args } = entry
  const env = environment(entry.env)
  if (process.platform !== 'win32') {
    const codec = await import('@modelcontextprotocol/sdk/shared/stdio.js')
    const transport = new StdioTransport({ command, args, env, cwd, onStderr }, codec)
    return { transport, end: () => transport.close() }
  }
  // Only the SDK's transport finds `npx.cmd` for `npx`.
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
  const transport = new StdioClientTransport({
    command: programPathOrMissing(command, env),
    args: [...args],
    env,
    cwd,
    stderr: 'pipe',
  })
  transport.stderr?.on('data', (bytes: Buffer) => onStderr(bytes.toString('utf8')))
  const end = async (): Promise<void> => {
    if (transport.pid !== null) signalGroup(transport.pid, 'SIGKILL')
  }
  return { transport, end }
}

async function openHttp({ url, headers }: HttpServerEntry): Promise<OpenedTransport> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: Object.fromEntries(headers) },
  })
  // Its session id may be undefined, which exactOptionalPropertyTypes tells from absent.
  return { transport: transport as Transport, end: async () => {} }
}

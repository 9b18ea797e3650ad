/** The way to an MCP server; the only file that knows the SDK, which is loaded when the first server is. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JsonValue } from '../../lib/json/lossless.ts'
import type { HttpServer, McpServerEntry, StdioServer } from '../agent-file/agent-file.ts'

export interface ConnectOptions {
  readonly cwd: string
  /** Ends the attempt. */
  readonly signal: AbortSignal
  readonly onStderr: (text: string) => void
  /** The server has other tools than before. */
  readonly onTools: () => void
  /** The server has other prompts than before. */
  readonly onPrompts: () => void
  /** It went away without being asked to. */
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

export interface PromptArgument {
  readonly name: string
  readonly required: boolean
  readonly description: string
}

export interface Connected {
  readonly client: Client
  readonly title: string | null
  listTools(): Promise<readonly RemoteTool[]>
  listPrompts(): Promise<readonly RemotePrompt[]>
  /** Never rejects. */
  close(): Promise<void>
}

const MOST_PAGES = 100

/** Rejects with the reason why there is no connection; nothing is left running then. */
export async function connect(entry: McpServerEntry, options: ConnectOptions): Promise<Connected> {
  const [{ Client }, { ToolListChangedNotificationSchema, PromptListChangedNotificationSchema }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ])
  const client = new Client({ name: 'fumibako', version: '1' })
  const { transport, end } = entry.type === 'http' ? await overHttp(entry) : await overStdio(entry, options)
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
  client.setNotificationHandler(ToolListChangedNotificationSchema, options.onTools)
  client.setNotificationHandler(PromptListChangedNotificationSchema, options.onPrompts)
  const { name, version } = client.getServerVersion() ?? { name: '', version: '' }
  return {
    client,
    title: name === '' ? null : `${name} ${version}`.trim(),
    close,
    async listTools() {
      if (!client.getServerCapabilities()?.tools) return []
      return pages(async (params) => {
        const { tools, nextCursor } = await client.listTools(params, limits)
        return { items: tools.map(remoteTool), nextCursor }
      })
    },
    async listPrompts() {
      if (!client.getServerCapabilities()?.prompts) return []
      return pages(async (params) => {
        const { prompts, nextCursor } = await client.listPrompts(params, limits)
        return { items: prompts.map(remotePrompt), nextCursor }
      })
    },
  }
}

interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | undefined
}

async function pages<T>(ask: (params: { cursor?: string }) => Promise<Page<T>>): Promise<readonly T[]> {
  const all: T[] = []
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const { items, nextCursor } = await ask(cursor === undefined ? {} : { cursor })
    all.push(...items)
    cursor = nextCursor
    if (cursor === undefined) break
  }
  return all
}

type Listed<List extends 'listTools' | 'listPrompts'> = Awaited<ReturnType<Client[List]>>

function remoteTool(tool: Listed<'listTools'>['tools'][number]): RemoteTool {
  const { name, description = '', inputSchema, annotations } = tool
  const readOnly = annotations?.readOnlyHint === true
  const destructive = !readOnly && annotations?.destructiveHint === true
  return { name, description, inputSchema: inputSchema as JsonValue, readOnly, destructive }
}

function remotePrompt(prompt: Listed<'listPrompts'>['prompts'][number]): RemotePrompt {
  const { name, description = '', arguments: wanted = [] } = prompt
  const argument = (one: (typeof wanted)[number]): PromptArgument => {
    return { name: one.name, required: one.required === true, description: one.description ?? '' }
  }
  return { name, description, arguments: wanted.map(argument) }
}

interface Way {
  readonly transport: Transport
  /** What the SDK leaves to chance: that nothing runs any more. */
  readonly end: () => Promise<void>
}

async function overStdio(entry: StdioServer, { cwd, onStderr }: ConnectOptions): Promise<Way> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
  const inherited = Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined)
  let pid: number | null = null
  class Started extends StdioClientTransport {
    override async start(): Promise<void> {
      await super.start()
      pid = this.pid
    }
  }
  const transport = new Started({
    command: entry.command,
    args: [...entry.args],
    env: { ...Object.fromEntries(inherited), ...Object.fromEntries(entry.env) },
    cwd,
    stderr: 'pipe',
  })
  transport.stderr?.on('data', (bytes: Buffer) => onStderr(bytes.toString('utf8')))
  return { transport, end: () => endProcess(pid) }
}

const GRACE_MS = 500
const LOOK_MS = 20

/** Its input has ended, which most servers take for the end. Those that do not are told, then stopped. */
async function endProcess(pid: number | null): Promise<void> {
  if (pid === null) return
  for (const signal of [0, 'SIGTERM', 'SIGKILL'] as const) {
    for (let waited = 0; waited < GRACE_MS; waited += LOOK_MS) {
      if (!told(pid, waited === 0 ? signal : 0)) return
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }
}

/** False when there is no such process any more. */
function told(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

async function overHttp({ url, headers }: HttpServer): Promise<Way> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: Object.fromEntries(headers) },
  })
  // Its session id may be undefined, which exactOptionalPropertyTypes tells from absent.
  return { transport: transport as Transport, end: async () => {} }
}

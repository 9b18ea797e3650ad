/** The MCP servers of a conversation: started side by side; one that fails is told and stops none of the others. */
import type { McpServerEntry } from '../agent-file/agent-file.ts'
import type { ChatTool } from '../tools/tool.ts'
import type { ServerPrompt } from './prompts.ts'
import { McpServer, type McpServerOptions, type McpServerReport } from './server.ts'

export class McpServers {
  readonly #servers: readonly McpServer[]

  constructor(entries: ReadonlyMap<string, McpServerEntry>, options: McpServerOptions) {
    this.#servers = [...entries].map(([name, entry]) => new McpServer(name, entry, options))
  }

  /** Until all are there or have failed, or the time is over: slower ones then join when they are ready. */
  async start(waitMs: number): Promise<readonly McpServerReport[]> {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise((resolve) => {
      timer = setTimeout(resolve, waitMs)
    })
    await Promise.race([Promise.all(this.#servers.map((server) => server.start())), timeout])
    clearTimeout(timer)
    return this.reports()
  }

  /** Of all that run, in the order in which the servers were named. */
  tools(): readonly ChatTool[] {
    return this.#servers.flatMap(({ tools }) => tools)
  }

  prompts(): readonly ServerPrompt[] {
    return this.#servers.flatMap(({ prompts }) => prompts)
  }

  reports(): readonly McpServerReport[] {
    return this.#servers.map((server) => server.report())
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop()))
  }
}

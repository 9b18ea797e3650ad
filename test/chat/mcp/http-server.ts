/** The test server for tools over HTTP, with a session per client. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { toolsServer } from './tools-server.mjs'

export interface HttpToolServer {
  readonly url: string
  /** Headers of all requests. */
  readonly seen: readonly IncomingHttpHeaders[]
  /** Stops listening. */
  close(): Promise<void>
  /** Forgets all sessions, as after a restart. */
  forget(): void
}

/** @param options.token requests with another token, or none, are rejected */
export async function startHttpToolServer({ token }: { readonly token?: string } = {}): Promise<HttpToolServer> {
  const seen: IncomingHttpHeaders[] = []
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const http = createServer(async (request, response) => {
    seen.push(request.headers)
    if (token !== undefined && request.headers.authorization !== token) {
      response.writeHead(401).end()
      return
    }
    const id = request.headers['mcp-session-id']
    const known = sessions.get(String(id))
    if (known) return known.handleRequest(request, response)
    if (id !== undefined) {
      response.writeHead(404).end()
      return
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void sessions.set(session, transport),
    })
    // biome-ignore lint/suspicious/noExplicitAny: the SDK's own types disagree under exactOptionalPropertyTypes
    await toolsServer().connect(transport as any)
    await transport.handleRequest(request, response)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    seen,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
    forget: () => sessions.clear(),
  }
}

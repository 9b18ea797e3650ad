/** What agents recall, over streamable HTTP: the Model Context Protocol at one path. */
import { randomBytes } from 'node:crypto'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { fieldsOf } from '../../lib/unknown-values.ts'
import { MemoryArchive } from '../../memory/archive.ts'
import { Connection } from '../../memory/protocol/connection.ts'
import { errorMessage, INVALID_REQUEST, type Outgoing, PARSE_ERROR } from '../../memory/protocol/message.ts'
import type { ServerContext } from '../context.ts'
import { MEMORY_PATH } from '../guard/check-access.ts'

const SESSION_HEADER = 'mcp-session-id'
/** Clients begin a new session when theirs is unknown. */
const MAX_SESSIONS = 500

export function memoryRoutes(api: OpenAPIHono, { app, version }: ServerContext): { close(): Promise<void> } {
  const archive = new MemoryArchive(app)
  const sessions = new Map<string, Connection>()

  const begin = (): string => {
    const id = randomBytes(18).toString('base64url')
    const [oldest] = sessions.keys()
    if (sessions.size >= MAX_SESSIONS && oldest !== undefined) end(oldest)
    // Over HTTP, the directory of the caller is unknown.
    sessions.set(id, new Connection({ archive, version, cwd: undefined, sessionIds: [] }))
    return id
  }
  const end = (id: string): void => {
    sessions.get(id)?.close()
    sessions.delete(id)
  }

  api.post(MEMORY_PATH, async (c) => {
    let body: unknown
    try {
      body = await c.req.json()
    } catch {
      return c.json(errorMessage(null, PARSE_ERROR, 'The body is not JSON.'), 400)
    }
    const isBeginning = fieldsOf(body)?.['method'] === 'initialize'
    const id = isBeginning ? begin() : c.req.header(SESSION_HEADER)
    if (id === undefined)
      return c.json(errorMessage(null, INVALID_REQUEST, 'Begin with initialize, then send Mcp-Session-Id.'), 400)
    const connection = sessions.get(id)
    if (!connection)
      return c.json(errorMessage(null, INVALID_REQUEST, 'Unknown session. Begin again with initialize.'), 404)
    // The one used longest ago is the first.
    sessions.delete(id)
    sessions.set(id, connection)
    const headers = isBeginning ? { [SESSION_HEADER]: id } : {}
    if (!expectsAnswer(body)) {
      await connection.receive(body, () => {})
      return c.body(null, 202, headers)
    }
    return wantsProgress(body)
      ? new Response(streamOf(connection, body), { headers: { ...headers, 'content-type': 'text/event-stream' } })
      : c.json(await collect(connection, body), 200, headers)
  })
  api.delete(MEMORY_PATH, (c) => {
    const id = c.req.header(SESSION_HEADER)
    if (id === undefined || !sessions.has(id)) return c.body(null, 404)
    end(id)
    return c.body(null, 204)
  })
  // The server never speaks first.
  api.get(MEMORY_PATH, (c) => c.body(null, 405, { allow: 'POST, DELETE' }))
  return {
    async close() {
      for (const id of [...sessions.keys()]) end(id)
      await archive.close()
    },
  }
}

const messagesOf = (body: unknown): readonly unknown[] => (Array.isArray(body) ? body : [body])

const expectsAnswer = (body: unknown): boolean =>
  messagesOf(body).some((one) => {
    const fields = fieldsOf(one)
    return !fields || fields['id'] !== undefined || typeof fields['method'] !== 'string'
  })

const wantsProgress = (body: unknown): boolean =>
  messagesOf(body).some(
    (one) => fieldsOf(fieldsOf(fieldsOf(one)?.['params'])?.['_meta'])?.['progressToken'] !== undefined,
  )

/** One message, or as many as the batch asked for. A cancelled request has no answer. */
async function collect(connection: Connection, body: unknown): Promise<Outgoing | readonly Outgoing[]> {
  const messages: Outgoing[] = []
  await connection.receive(body, (message) => messages.push(message))
  const [only] = messages
  return Array.isArray(body) || !only ? messages : only
}

function streamOf(connection: Connection, body: unknown): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let isOpen = true
  return new ReadableStream({
    async start(controller) {
      await connection.receive(body, (message) => {
        if (isOpen) controller.enqueue(encoder.encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`))
      })
      if (isOpen) controller.close()
      isOpen = false
    },
    cancel() {
      isOpen = false
    },
  })
}

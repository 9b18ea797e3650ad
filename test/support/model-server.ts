/** A local model server with scripted replies, which records its requests. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onCleanup } from './cleanup.ts'

export interface ModelRequest {
  readonly method: string
  /** Includes the query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  /** The body as JSON, if it is valid. */
  readonly body: { readonly [key: string]: unknown } & {
    readonly messages?: readonly { readonly [key: string]: unknown }[]
  }
}

export type Reply = (asked: ModelRequest, response: ServerResponse) => void | Promise<void>

export interface ModelServer {
  readonly baseURL: string
  readonly asked: readonly ModelRequest[]
  /** Appends replies to the script. After the last one the server answers 418. */
  say(...replies: readonly Reply[]): void
}

export const modelServer = (...replies: readonly Reply[]): Promise<ModelServer> => serverWith(replies, () => undefined)

/** @param apart handles requests outside the script, which are not recorded */
async function serverWith(
  replies: readonly Reply[],
  apart: (asked: ModelRequest) => Reply | undefined,
): Promise<ModelServer> {
  const asked: ModelRequest[] = []
  const script = [...replies]
  const server = createServer(async (request, response) => {
    const one = await readRequest(request)
    const known = apart(one)
    if (known) return known(one, response)
    asked.push(one)
    await (script.shift() ?? json({ error: { message: 'nothing left to say' } }, 418))(one, response)
  })
  onCleanup(() => {
    server.close()
    server.closeAllConnections()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { baseURL: `http://127.0.0.1:${port}/v1`, asked, say: (...more) => void script.push(...more) }
}

/** Also lists models, like vLLM, independent of the script. */
export async function chatServer(...replies: readonly Reply[]): Promise<ModelServer> {
  return listingServer([{ id: 'm', max_model_len: 100_000 }], replies)
}

export function listingServer(models: readonly object[], replies: readonly Reply[]): Promise<ModelServer> {
  return serverWith(replies, ({ method, path }) =>
    method === 'GET' && path.endsWith('/models') ? json({ object: 'list', data: models }) : undefined,
  )
}

async function readRequest(request: IncomingMessage): Promise<ModelRequest> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  const bytes = Buffer.concat(pieces)
  const isJson = /json/.test(request.headers['content-type'] ?? '')
  const body = isJson ? JSON.parse(bytes.toString()) : {}
  return { method: request.method ?? '', path: request.url ?? '', headers: request.headers, bytes, body }
}

export function json(body: unknown, status = 200, headers: { readonly [name: string]: string } = {}): Reply {
  return (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** Arbitrary bytes of any type. */
export function raw(bytes: string | Uint8Array, type = 'text/plain', status = 200): Reply {
  return (_, response) => void response.writeHead(status, { 'content-type': type }).end(bytes)
}

export interface Wire {
  /** Packets of this many bytes, so that characters are split. */
  readonly packet?: number
  /** Breaks the connection after this many bytes. */
  readonly cutAt?: number
  /** The body ends with the connection, so that a break looks like the end. */
  readonly untilClose?: boolean
  /** Omits `[DONE]`. */
  readonly noDone?: boolean
}

/** Chunks as server-sent events. */
export function events(chunks: readonly unknown[], wire: Wire = {}): Reply {
  return eventText(
    [...chunks.map((chunk) => JSON.stringify(chunk)), ...(wire.noDone ? [] : ['[DONE]'])].map(dataLine).join(''),
    wire,
  )
}

export const dataLine = (data: string): string => `data: ${data}\n\n`

/** The text of an event stream, valid or not. */
export function eventText(text: string, { packet = 4096, cutAt, untilClose = false }: Wire = {}): Reply {
  return async (_, response) => {
    const bytes = Buffer.from(text).subarray(0, cutAt)
    response.shouldKeepAlive = !untilClose
    response.useChunkedEncodingByDefault = !untilClose
    response.writeHead(200, { 'content-type': 'text/event-stream', ...(untilClose && { connection: 'close' }) })
    response.socket?.setNoDelay(true)
    for (let at = 0; at < bytes.length && !response.destroyed; at += packet) {
      response.write(bytes.subarray(at, at + packet))
      await new Promise(setImmediate)
    }
    if (cutAt === undefined || untilClose) response.end()
    else response.socket?.destroy()
  }
}

/** Accepts the request and sends nothing, or occasionally one byte of a comment, while the client waits. */
export function silence(drips = false): Reply {
  return (_, response) => {
    if (!drips) return
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':')
    const timer = setInterval(() => response.write(' '), 5)
    response.once('close', () => clearInterval(timer))
  }
}

/** Closes the connection without a reply. */
export const hangUp: Reply = (_, response) => void response.socket?.destroy()

/** Opens a port for a function from requests to responses, with TLS if there is a certificate. */
import { createServer as createPlain, type Server as HttpServer, type ServerResponse } from 'node:http'
import { createServer as createSecure } from 'node:https'
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { readUserFile } from '../lib/files/regular-file.ts'
import { isSystemError, systemErrorReason } from '../lib/files/system-error.ts'
import { AppError } from '../model/error.ts'
import { isLoopback } from './guard/check-request.ts'
import { isEventStream, sendStream } from './send-stream.ts'

export interface HttpServerOptions {
  readonly host: string
  readonly port: number
  /** Without it, the next free port is used. */
  readonly isPortFixed?: boolean
  readonly tls: Tls | undefined
  /** Milliseconds after which a client that reads nothing is disconnected. */
  readonly stall?: number | undefined
}

export interface OpenHttpServer {
  readonly port: number
  /** Ends all connections; the second part runs while the port closes. */
  close(meanwhile: () => Promise<void>): Promise<void>
}

const MAX_PORTS_TRIED = 50
/** A page holds at most six. */
const MAX_CONNECTIONS = 2000
const STALL_TIMEOUT_MS = 30_000

type Answer = (request: Request, env: { readonly [name: string]: unknown }) => Response | Promise<Response>

/** @param answer gets the Node request as `env.incoming` */
export async function openHttpServer(answer: Answer, options: HttpServerOptions): Promise<OpenHttpServer> {
  const { host, tls, stall = STALL_TIMEOUT_MS } = options
  const listener = getRequestListener(async (request, env) => {
    const response = await answer(request, env as never)
    const { outgoing } = env as { outgoing: ServerResponse }
    if (!isEventStream(response)) return response
    void sendStream(response, outgoing)
    return RESPONSE_ALREADY_SENT
  })
  const http = tls
    ? createSecure(tls, (request, response) => void listener(request, response))
    : createPlain((request, response) => void listener(request, response))
  http.requestTimeout = 30_000
  http.headersTimeout = 10_000
  http.keepAliveTimeout = 5_000
  http.maxConnections = MAX_CONNECTIONS
  dropStalled(http as HttpServer, stall)
  const port = await openPort(http as HttpServer, host, options)
  return {
    port,
    async close(meanwhile) {
      const closed = new Promise<void>((done) => http.close(() => done()))
      http.closeAllConnections()
      await meanwhile()
      await closed
    },
  }
}

export interface Tls {
  readonly cert: Buffer
  readonly key: Buffer
}

/** The address of a server for people: names of this machine instead of what it listens at. */
export function serverUrl(host: string, port: number, isSecure: boolean): string {
  const isHere = host === '0.0.0.0' || host === '::' || isLoopback(host)
  const name = isHere ? (host === '::1' ? '[::1]' : 'localhost') : host
  return `${isSecure ? 'https' : 'http'}://${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}:${port}/`
}

/** Disconnects only sockets with unsent data: others wait for a slow answer. */
function dropStalled(http: HttpServer, milliseconds: number): void {
  http.setTimeout(milliseconds, (socket) => {
    if (socket.writableLength > 0) socket.destroy()
  })
}

export function readTls({ cert, key }: { readonly cert?: string; readonly key?: string }): Tls | undefined {
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined)
    throw new AppError('bad_usage', 'TLS needs both --cert and --key.', 'TLS には --cert と --key の両方が必要です。')
  return { cert: readOptionFile('--cert', cert), key: readOptionFile('--key', key) }
}

function readOptionFile(option: string, path: string): Buffer {
  try {
    return readUserFile(path)
  } catch (error) {
    if (!isSystemError(error)) throw error
    const reason = systemErrorReason(error)
    throw new AppError(
      'not_found',
      `${option}: ${path} cannot be read (${reason}).`,
      `${option} の ${path} を読めません（${reason}）。`,
    )
  }
}

async function openPort(
  http: HttpServer,
  host: string,
  { port, isPortFixed = false }: HttpServerOptions,
): Promise<number> {
  for (let tried = 0; ; tried++) {
    const wanted = port === 0 ? 0 : port + tried
    const error = await new Promise<NodeJS.ErrnoException | undefined>((done) => {
      const failed = (problem: NodeJS.ErrnoException): void => done(problem)
      http.once('error', failed)
      http.listen(wanted, host, () => {
        http.off('error', failed)
        done(undefined)
      })
    })
    if (!error) {
      const address = http.address()
      return typeof address === 'object' && address ? address.port : wanted
    }
    if (error.code !== 'EADDRINUSE' || isPortFixed || tried >= MAX_PORTS_TRIED)
      throw new AppError(
        error.code === 'EADDRINUSE' ? 'busy' : 'no_permission',
        `${host}:${wanted} cannot be opened (${error.code ?? error.message}). Choose another with --port.`,
        `${host}:${wanted} を開けません（${error.code ?? error.message}）。--port で別のポートを指定してください。`,
      )
  }
}

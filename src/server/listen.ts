/** Opens the port: on loopback or the given address, with TLS if there is a certificate. */
import { createServer as createPlain, type Server as HttpServer, type ServerResponse } from 'node:http'
import { createServer as createSecure } from 'node:https'
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { App } from '../app.ts'
import { readUserFile } from '../lib/files/regular-file.ts'
import { isSystemError, systemErrorReason } from '../lib/files/system-error.ts'
import { AppError } from '../model/error.ts'
import { buildServer, type ServerOptions } from './build-server.ts'
import { isLoopback } from './guard/check-request.ts'
import { createSignInCode, signInLink, TokenFile } from './guard/sign-in.ts'
import { recordServer } from './running-servers.ts'
import { isEventStream, sendStream } from './send-stream.ts'

export interface ListenOptions
  extends Pick<ServerOptions, 'page' | 'version' | 'idle' | 'rate' | 'pollEvery' | 'retryEvery' | 'cwd' | 'linger'> {
  /** Milliseconds after which a client that reads nothing is disconnected. */
  readonly stall?: number
  readonly host?: string
  readonly port: number
  /** Without it, the next free port is used. */
  readonly isPortFixed?: boolean
  readonly cert?: string
  readonly key?: string
  readonly auth?: boolean
}

export interface RunningListener {
  /** Without the token. */
  readonly url: string
  /** A new sign-in link, valid once and for a minute. */
  link(): string
  readonly port: number
  readonly clients: () => number
  close(): Promise<void>
}

const DEFAULT_HOST = '127.0.0.1'
const MAX_PORTS_TRIED = 50
/** A page holds at most six. */
const MAX_CONNECTIONS = 2000
const STALL_TIMEOUT_MS = 30_000

export async function listen(app: App, options: ListenOptions): Promise<RunningListener> {
  const { host = DEFAULT_HOST, auth = true } = options
  if (!auth && !isLoopback(host))
    throw new AppError(
      'bad_usage',
      '--no-auth is for this machine alone: leave out --host, or use the token.',
      '--no-auth はこのマシンだけで使えます。--host を外すか、トークンを使ってください。',
    )
  const tls = readTls(options)
  const tokens = auth ? new TokenFile(app.directory) : undefined
  let port = options.port
  const server = buildServer(app, { ...options, host, port: () => port, tokens, secure: tls !== undefined })
  const listener = getRequestListener(async (request, env) => {
    const response = await server.api.fetch(request, env)
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
  dropStalled(http as HttpServer, options.stall ?? STALL_TIMEOUT_MS)
  port = await openPort(http as HttpServer, host, options)
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((done) => http.close(() => done()))
    http.closeAllConnections()
    await server.close()
    await closed
  }
  try {
    await server.start()
  } catch (error) {
    // An open port would keep the process alive without a page.
    await close()
    throw error
  }
  const name = host === '0.0.0.0' || host === '::' || isLoopback(host) ? (host === '::1' ? '[::1]' : 'localhost') : host
  const url = `${tls ? 'https' : 'http'}://${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}:${port}/`
  const forget = tokens
    ? recordServer(app.directory, port, { url, pid: process.pid, instance: tokens.instance })
    : () => {}
  return {
    url,
    link: () => (tokens ? signInLink(url, createSignInCode(tokens.token, tokens.instance)) : url),
    port,
    clients: () => app.events.subscribers,
    async close() {
      forget()
      await close()
    },
  }
}

/** Disconnects only sockets with unsent data: others wait for a slow answer. */
function dropStalled(http: HttpServer, milliseconds: number): void {
  http.setTimeout(milliseconds, (socket) => {
    if (socket.writableLength > 0) socket.destroy()
  })
}

function readTls({ cert, key }: ListenOptions): { readonly cert: Buffer; readonly key: Buffer } | undefined {
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

async function openPort(http: HttpServer, host: string, { port, isPortFixed = false }: ListenOptions): Promise<number> {
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

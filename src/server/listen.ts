/** Starts the server of this machine: on loopback or the given address, with TLS if there is a certificate. */
import type { App } from '../app.ts'
import { AppError } from '../model/error.ts'
import { buildServer, type ServerOptions } from './build-server.ts'
import { isLoopback } from './guard/check-request.ts'
import { createSignInCode, signInLink, TokenFile } from './guard/sign-in.ts'
import { openHttpServer, readTls, serverUrl } from './http-server.ts'
import { recordServer } from './running-servers.ts'

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
  const http = await openHttpServer((request, env) => server.api.fetch(request, env), { ...options, host, tls })
  port = http.port
  const close = (): Promise<void> => http.close(() => server.close())
  try {
    await server.start()
  } catch (error) {
    // An open port would keep the process alive without a page.
    await close()
    throw error
  }
  const url = serverUrl(host, port, tls !== undefined)
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

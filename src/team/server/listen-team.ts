/** Opens the port of a team server: with TLS, behind a proxy that has it, or on loopback. */
import { join } from 'node:path'
import { AppError } from '../../model/error.ts'
import type { PriceList } from '../../model/prices.ts'
import { isLoopback } from '../../server/guard/check-request.ts'
import { openHttpServer, readTls, serverUrl } from '../../server/http-server.ts'
import { TeamDatabase } from '../postgres/database.ts'
import { migrate } from '../postgres/migrate.ts'
import { buildTeamServer, type TeamServer } from './build-team-server.ts'
import type { OidcOptions } from './oidc.ts'

export interface ListenTeamOptions {
  readonly database: string
  readonly schema?: string
  readonly host?: string | undefined
  readonly port: number
  readonly isPortFixed?: boolean
  readonly cert?: string | undefined
  readonly key?: string | undefined
  /** The address that people use, if it is not that of this machine. */
  readonly publicUrl?: string | undefined
  /** A proxy in front has TLS. */
  readonly isBehindProxy?: boolean
  readonly page: string
  /** Data directory of this machine. */
  readonly directory: string
  readonly version: string
  readonly prices: () => Promise<PriceList>
  readonly oidc?: OidcOptions | undefined
  readonly rate?: { readonly burst: number; readonly perSecond: number }
  readonly connections?: number
}

export interface RunningTeamServer {
  readonly url: string
  readonly server: TeamServer
  readonly database: TeamDatabase
  close(): Promise<void>
}

export async function listenTeam(options: ListenTeamOptions): Promise<RunningTeamServer> {
  const { host = '127.0.0.1', cert, key, publicUrl, isBehindProxy = false } = options
  const tls = readTls({ ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) })
  assertEncrypted(host, tls !== undefined, isBehindProxy, publicUrl)
  const database = new TeamDatabase(options.database, {
    ...(options.schema !== undefined && { schema: options.schema }),
    ...(options.connections !== undefined && { connections: options.connections }),
  })
  let close = (): Promise<void> => database.close()
  try {
    await migrate(database)
    let port = options.port
    const isSecure = tls !== undefined || (publicUrl?.startsWith('https:') ?? false)
    const url = (): string =>
      publicUrl === undefined ? serverUrl(host, port, tls !== undefined) : publicUrl.replace(/\/*$/, '/')
    const server = buildTeamServer(database, {
      ...options,
      host,
      port: () => port,
      secure: isSecure,
      url,
      isBehindProxy,
      folder: join(options.directory, 'team-server', `${process.pid}-${Math.trunc(performance.now())}`),
    })
    close = () => server.close()
    const http = await openHttpServer((request, env) => server.api.fetch(request, env), {
      host,
      port,
      tls,
      ...(options.isPortFixed !== undefined && { isPortFixed: options.isPortFixed }),
    })
    port = http.port
    close = () => http.close(() => server.close())
    await server.start()
    return { url: url(), server, database, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Codes, tokens and conversations must not cross a network in the clear. */
function assertEncrypted(host: string, hasTls: boolean, isBehindProxy: boolean, publicUrl: string | undefined): void {
  if (isBehindProxy && !publicUrl?.startsWith('https:'))
    throw new AppError(
      'bad_usage',
      '--behind-proxy needs the address that the proxy serves: --url https://…',
      '--behind-proxy には、プロキシーが提供するアドレスが必要です: --url https://…',
    )
  if (hasTls || isBehindProxy || isLoopback(host)) return
  throw new AppError(
    'bad_usage',
    `TLS is required to accept requests from other machines. Pass --cert and --key, or --behind-proxy with --url https://… if a proxy in front has TLS.`,
    'ほかのマシンからの要求を受け付けるには TLS が必要です。--cert と --key を指定するか、TLS を持つプロキシーの後ろなら --behind-proxy と --url https://… を指定してください。',
  )
}

/** The server of a team as one function from requests to responses. */
import { OpenAPIHono } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { warn } from '../../lib/logger.ts'
import type { PageFeature } from '../../model/api/machine.ts'
import { AppError } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import type { PriceList } from '../../model/prices.ts'
import { ApiProblem, toApiProblem, toProblemResponse } from '../../server/api-problem.ts'
import {
  addSecurityHeaders,
  checkRequestTarget,
  clientAddress,
  isLoopback,
  limitRate,
} from '../../server/guard/check-request.ts'
import { servePage } from '../../server/page-files.ts'
import { isExhausted, type TeamDatabase } from '../postgres/database.ts'
import { checkTeamAccess } from './access.ts'
import { TeamContext } from './context.ts'
import { deviceRoutes } from './device-routes.ts'
import { type OidcOptions, oidcRoutes, providerName } from './oidc.ts'
import { OpenSessions } from './open-sessions.ts'
import { pageRoutes } from './page-routes.ts'
import { applyRetention } from './remove-sessions.ts'
import { removeExpired } from './tokens.ts'

export interface TeamServerOptions {
  readonly host: string
  readonly port: () => number
  /** TLS here or at the proxy. */
  readonly secure: boolean
  /** The address that people use, ending with a slash. */
  readonly url: () => string
  /** Requests come through a proxy that sets X-Forwarded-For. */
  readonly isBehindProxy: boolean
  /** Folder of the built page. */
  readonly page: string
  /** Folder of this server alone. */
  readonly folder: string
  readonly version: string
  readonly prices: () => Promise<PriceList>
  readonly oidc?: OidcOptions | undefined
  readonly rate?: { readonly burst: number; readonly perSecond: number } | undefined
}

export interface TeamServer {
  readonly api: OpenAPIHono
  readonly context: TeamContext
  start(): Promise<void>
  close(): Promise<void>
}

/** Of what the page can do beyond list, search, conversation and statistics: what needs the logs or programs of a machine stays there. */
const OFFERS: readonly PageFeature[] = []
const DEFAULT_RATE = { burst: 1000, perSecond: 200 }
const MAX_BODY_BYTES = 80_000_000
/** Retention and expired codes. */
const HOUSEKEEPING_MS = 3_600_000

export function buildTeamServer(database: TeamDatabase, options: TeamServerOptions): TeamServer {
  const { version, folder, oidc } = options
  const context = new TeamContext(database, new OpenSessions(folder, version), version, options.prices)
  const addressOf = (c: Context): string => clientOf(c, options.isBehindProxy)
  const api = new OpenAPIHono()
  api.onError((error) => {
    const problem = toTeamProblem(error)
    if (problem.code === 'internal_error') warn(error.stack ?? error.message)
    return toProblemResponse(problem)
  })
  api.notFound((c) =>
    toProblemResponse(
      new ApiProblem(
        'not_found',
        phrase(`The server of a team has no ${c.req.path}.`, `チームのサーバーに ${c.req.path} はありません。`),
      ),
    ),
  )
  api.use(addSecurityHeaders)
  api.use(checkRequestTarget)
  api.use(checkTeamOrigin(options))
  api.use(limitRate(options.rate ?? DEFAULT_RATE, addressOf))
  api.use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: () => toProblemResponse(TOO_LARGE) }))
  if (oidc) oidcRoutes(api, context, oidc, options)
  api.use(checkTeamAccess(context, { ...options, addressOf, provider: oidc && providerName(oidc) }))
  deviceRoutes(api, context)
  pageRoutes(api, context)
  api.use(servePage(options.page, OFFERS))
  let timer: NodeJS.Timeout | undefined
  const maintain = async (): Promise<void> => {
    try {
      await removeExpired(database)
      await applyRetention(database, (await context.team()).policy.retention_days)
    } catch (error) {
      warn(`housekeeping: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return {
    api,
    context,
    async start() {
      await context.start()
      await maintain()
      timer = setInterval(() => void maintain(), HOUSEKEEPING_MS)
      timer.unref()
    },
    async close() {
      clearInterval(timer)
      await context.open.end()
      await database.close()
    },
  }
}

const TOO_LARGE = new ApiProblem('body_too_large', phrase('The request body is too large.', '送る内容が大きすぎます。'))

/** A database that is full or unreachable is no bug: devices try again. */
function toTeamProblem(error: unknown): ApiProblem {
  if (isExhausted(error) || (error instanceof AppError && error.code === 'busy'))
    return new ApiProblem(
      'unavailable',
      error instanceof AppError
        ? error.phrase
        : phrase(
            'The database of the team has no room or no connection left. Try again later.',
            'チームのデータベースに空きがありません。あとでもう一度試してください。',
          ),
    )
  if (error instanceof AppError && error.code === 'no_permission') return new ApiProblem('forbidden', error.phrase)
  if (error instanceof AppError && error.code === 'not_found') return new ApiProblem('not_found', error.phrase)
  return toApiProblem(error)
}

/** The first address that the proxy added. */
function clientOf(c: Context, isBehindProxy: boolean): string {
  const forwarded = isBehindProxy ? c.req.header('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined
  return forwarded ?? clientAddress(c)
}

/** Answers under its own names only, and changes nothing for other sites. */
function checkTeamOrigin({ url, host, port }: TeamServerOptions): MiddlewareHandler {
  return async (c, next) => {
    const given = (c.req.header('host') ?? '').toLowerCase()
    const names = [new URL(url()).host.toLowerCase(), `${host.toLowerCase()}:${port()}`]
    const isOurs = names.includes(given) || (isLoopback(host) && LOOPBACK.test(given) && given.endsWith(`:${port()}`))
    if (!isOurs)
      throw new ApiProblem(
        'forbidden',
        phrase(`This server does not answer as ${given}.`, `このサーバーは ${given} という名前では応答しません。`),
      )
    const origin = c.req.header('origin')
    const isSame = origin === undefined || origin.replace(/^https?:\/\//, '').toLowerCase() === given
    const isNavigation =
      c.req.method === 'GET' && c.req.header('sec-fetch-mode') === 'navigate' && !c.req.path.startsWith('/api/')
    const isFromUs = ['none', 'same-origin'].includes(c.req.header('sec-fetch-site') ?? 'none')
    if (!isSame || !(isFromUs || isNavigation))
      throw new ApiProblem(
        'forbidden',
        phrase('The server refuses requests from other sites.', 'ほかのサイトからの要求は拒否します。'),
      )
    await next()
  }
}

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\]):\d+$/

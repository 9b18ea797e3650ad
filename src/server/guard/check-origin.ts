/** From where a request may come: other sites that the browser shows must not reach us, by whatever name they call us. */

import { isIP } from 'node:net'
import { hostname } from 'node:os'
import type { MiddlewareHandler } from 'hono'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../api-problem.ts'

export interface OriginOptions {
  /** The name or address that the server listens at. */
  readonly host: string
  readonly port: () => number
  /** Over TLS. */
  readonly secure: boolean
}

const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '::1']

export const isLoopback = (host: string): boolean => LOOPBACK_NAMES.includes(host) || /^127\.\d+\.\d+\.\d+$/.test(host)

/**
 * A site that lets its own name point at this machine still sends that name as `Host`: only our own ones are answered. An
 * address is nobody's name, so that any will do where others than this machine may ask.
 */
export function checkOrigin({ host, port, secure }: OriginOptions): MiddlewareHandler {
  const names = isLoopback(host) ? LOOPBACK_NAMES : [...LOOPBACK_NAMES, host.toLowerCase(), hostname().toLowerCase()]
  const isOurs = (given: { readonly name: string; readonly port: number }): boolean =>
    given.port === port() && (names.includes(given.name) || (isIP(given.name) > 0 && !isLoopback(host)))
  return async (c, next) => {
    const hostHeader = c.req.header('host')
    const parsedHost = hostHeader === undefined ? undefined : parseHost(hostHeader, secure ? 443 : 80)
    if (!parsedHost || !isOurs(parsedHost))
      throw new ApiProblem(
        'forbidden',
        phrase(
          `This server is not ${hostHeader ?? 'without a name'}.`,
          hostHeader === undefined ? 'Host ヘッダーがありません。' : `このサーバーは ${hostHeader} ではありません。`,
        ),
      )
    const origin = c.req.header('origin')
    if (origin !== undefined && !isSameOrigin(origin, hostHeader ?? '')) throw new ApiProblem('forbidden', OTHER_SITE)
    const isNavigation = c.req.header('sec-fetch-mode') === 'navigate' && c.req.method === 'GET'
    const site = c.req.header('sec-fetch-site') ?? 'none'
    if (!['none', 'same-origin'].includes(site) && !(isNavigation && !c.req.path.startsWith('/api/')))
      throw new ApiProblem('forbidden', OTHER_SITE)
    if (
      CHANGING_METHODS.has(c.req.method) &&
      !/^application\/json\b/i.test(c.req.header('content-type') ?? 'application/json')
    )
      throw new ApiProblem(
        'forbidden',
        phrase('Only application/json is taken.', '受け付けるのは application/json だけです。'),
      )
    await next()
  }
}

const OTHER_SITE = phrase('Requests from other sites are not answered.', 'ほかのサイトからの要求には応答しません。')

/** A form of another site can send the other types. */
const CHANGING_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** @param defaultPort the port that browsers leave out */
function parseHost(host: string, defaultPort: number): { readonly name: string; readonly port: number } | undefined {
  const match = /^(?:\[([\da-f:.]+)\]|([^\s:/@[\]]+))(?::(\d{1,5}))?$/i.exec(host)
  if (!match) return undefined
  return { name: (match[1] ?? match[2] ?? '').toLowerCase(), port: Number(match[3] ?? defaultPort) }
}

function isSameOrigin(origin: string, host: string): boolean {
  const match = /^https?:\/\/(.+)$/i.exec(origin)
  return match?.[1]?.toLowerCase() === host.toLowerCase()
}

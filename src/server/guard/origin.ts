/** From where a request may come: other sites that the browser shows must not reach us, by whatever name they call us. */

import { isIP } from 'node:net'
import { hostname } from 'node:os'
import type { MiddlewareHandler } from 'hono'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../problem.ts'

export interface OriginOptions {
  /** The name or address that the server listens at. */
  readonly host: string
  readonly port: () => number
  /** Over TLS. */
  readonly secure: boolean
}

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '::1']

export const isLoopback = (host: string): boolean => LOOPBACK.includes(host) || /^127\.\d+\.\d+\.\d+$/.test(host)

/**
 * A site that lets its own name point at this machine still sends that name as `Host`: only our own ones are answered. An
 * address is nobody's name, so that any will do where others than this machine may ask.
 */
export function checkOrigin({ host, port, secure }: OriginOptions): MiddlewareHandler {
  const names = isLoopback(host) ? LOOPBACK : [...LOOPBACK, host.toLowerCase(), hostname().toLowerCase()]
  const isOurs = (given: { readonly name: string; readonly port: number }): boolean =>
    given.port === port() && (names.includes(given.name) || (isIP(given.name) > 0 && !isLoopback(host)))
  return async (c, next) => {
    const asked = c.req.header('host')
    const place = asked === undefined ? undefined : placeOf(asked, secure ? 443 : 80)
    if (!place || !isOurs(place))
      throw new ApiProblem(
        'forbidden',
        phrase(
          `This server is not ${asked ?? 'without a name'}.`,
          asked === undefined ? 'Host ヘッダーがありません。' : `このサーバーは ${asked} ではありません。`,
        ),
      )
    const origin = c.req.header('origin')
    if (origin !== undefined && !isSameOrigin(origin, asked ?? '')) throw new ApiProblem('forbidden', OTHER_SITE)
    const isNavigation = c.req.header('sec-fetch-mode') === 'navigate' && c.req.method === 'GET'
    const site = c.req.header('sec-fetch-site') ?? 'none'
    if (!['none', 'same-origin'].includes(site) && !(isNavigation && !c.req.path.startsWith('/api/')))
      throw new ApiProblem('forbidden', OTHER_SITE)
    if (CHANGES.has(c.req.method) && !/^application\/json\b/i.test(c.req.header('content-type') ?? 'application/json'))
      throw new ApiProblem(
        'forbidden',
        phrase('Only application/json is taken.', '受け付けるのは application/json だけです。'),
      )
    await next()
  }
}

const OTHER_SITE = phrase('Requests from other sites are not answered.', 'ほかのサイトからの要求には応答しません。')

/** A form of another site can send the other types. */
const CHANGES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** @param usual the port that browsers leave out */
function placeOf(host: string, usual: number): { readonly name: string; readonly port: number } | undefined {
  const match = /^(?:\[([\da-f:.]+)\]|([^\s:/@[\]]+))(?::(\d{1,5}))?$/i.exec(host)
  if (!match) return undefined
  return { name: (match[1] ?? match[2] ?? '').toLowerCase(), port: Number(match[3] ?? usual) }
}

function isSameOrigin(origin: string, host: string): boolean {
  const match = /^https?:\/\/(.+)$/i.exec(origin)
  return match?.[1]?.toLowerCase() === host.toLowerCase()
}

/** Who may ask: a link carries the token once and leaves a cookie; scripts send it with each request. */

import type { Context, MiddlewareHandler } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../problem.ts'
import { addressOf, type Bucket, bucket } from './limits.ts'
import type { TokenKeeper } from './token.ts'

export interface AccessOptions {
  /** Nobody is asked for it where there is none. */
  readonly tokens: TokenKeeper | undefined
  readonly port: () => number
  readonly secure: boolean
}

const YEAR = 31_536_000
/** Needs no token, and says next to nothing. */
const OPEN = '/api/health'

export function access({ tokens, port, secure }: AccessOptions): MiddlewareHandler {
  if (!tokens) return (_, next) => next()
  const wrong = bucket({ burst: 20, perSecond: 0.2 })
  return async (c, next) => {
    const given = c.req.query('token')
    if (given !== undefined && c.req.method === 'GET' && !c.req.path.startsWith('/api/')) {
      if (!tokens.accepts(refuseMany(c, wrong, given, tokens))) throw unknown()
      // Cookies of one host are shared by all its ports.
      setCookie(c, cookieName(port()), tokens.cookie, {
        httpOnly: true,
        sameSite: 'Strict',
        secure,
        path: '/',
        maxAge: YEAR,
      })
      return c.redirect(withoutToken(c.req.url), 303)
    }
    const cookie = getCookie(c, cookieName(port()))
    if (cookie !== undefined && tokens.acceptsCookie(cookie)) return next()
    const bearer = /^Bearer (\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
    if (bearer !== undefined && tokens.accepts(refuseMany(c, wrong, bearer, tokens))) return next()
    if (c.req.path === OPEN) {
      c.set('stranger', true)
      return next()
    }
    throw unknown()
  }
}

/** Guesses are few: whoever is wrong too often waits. */
function refuseMany(c: Context, wrong: Bucket, given: string, tokens: TokenKeeper): string {
  if (!tokens.accepts(given) && !wrong.take(addressOf(c)))
    throw new ApiProblem(
      'too_many_requests',
      phrase('Too many wrong tokens. Wait a minute.', '誤ったトークンが多すぎます。1 分ほど待ってください。'),
    )
  return given
}

export const cookieName = (port: number): string => `fumi_${port}`

const unknown = (): ApiProblem =>
  new ApiProblem(
    'unauthorized',
    phrase(
      'Open the link that fumi serve prints, or send the token that fumi token prints as Authorization: Bearer …',
      'fumi serve が表示するリンクを開くか、fumi token が表示するトークンを Authorization: Bearer … として送ってください。',
    ),
  )

function withoutToken(address: string): string {
  const url = new URL(address)
  url.searchParams.delete('token')
  return `${url.pathname}${url.search}`
}

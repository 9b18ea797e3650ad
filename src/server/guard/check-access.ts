/** Who may ask: browsers exchange a one-time code for a cookie; scripts send the token with each request. */

import type { Context, MiddlewareHandler } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { fieldsOf, stringOf } from '../../lib/unknown-values.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../api-problem.ts'
import { clientAddress, createRateBucket, type RateBucket } from './limits.ts'
import { type SignInResult, SignIns } from './sign-in.ts'
import { renderSignInPage, SIGN_IN_PATH } from './sign-in-page.ts'
import type { TokenFile } from './token.ts'

export interface AccessOptions {
  /** Nobody is asked for it where there is none. */
  readonly tokens: TokenFile | undefined
  readonly port: () => number
  readonly secure: boolean
}

const YEAR_SECONDS = 31_536_000
/** Needs no token, and says next to nothing. */
const OPEN_PATH = '/api/health'

export function checkAccess({ tokens, port, secure }: AccessOptions): MiddlewareHandler {
  if (!tokens) return (_, next) => next()
  const wrong = createRateBucket({ burst: 20, perSecond: 0.2 })
  const signIns = new SignIns(tokens)
  return async (c, next) => {
    const { method, path } = c.req
    const cookie = getCookie(c, cookieName(port()))
    const isSignedIn = cookie !== undefined && signIns.accepts(cookie)
    const isRead = method === 'GET' || method === 'HEAD'
    if (path === SIGN_IN_PATH && isRead) return renderSignInPage(c, 200)
    if (path === SIGN_IN_PATH && method === 'POST') {
      const session = signIn(await readCode(c), signIns, isSignedIn ? cookie : undefined, () => limitGuesses(c, wrong))
      // Cookies of one host are shared by all its ports.
      if (session !== undefined)
        setCookie(c, cookieName(port()), session, {
          httpOnly: true,
          sameSite: 'Strict',
          secure,
          path: '/',
          maxAge: YEAR_SECONDS,
        })
      return c.json({ data: { status: 'ok' }, meta: {} })
    }
    if (isSignedIn) return next()
    const bearer = /^Bearer (\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
    if (bearer !== undefined) {
      if (tokens.accepts(bearer)) return next()
      limitGuesses(c, wrong)
    }
    if (path === OPEN_PATH) {
      c.set('stranger', true)
      return next()
    }
    const wantsPage = isRead && !path.startsWith('/api/') && /\btext\/html\b/.test(c.req.header('accept') ?? '')
    if (wantsPage && bearer === undefined) return renderSignInPage(c, 401)
    throw new ApiProblem('unauthorized', UNKNOWN)
  }
}

/** Guesses are few: whoever is wrong too often waits. */
function limitGuesses(c: Context, wrong: RateBucket): void {
  if (!wrong.take(clientAddress(c)))
    throw new ApiProblem(
      'too_many_requests',
      phrase('Too many wrong tokens. Wait a minute.', '誤ったトークンが多すぎます。1 分ほど待ってください。'),
    )
}

async function readCode(c: Context): Promise<string> {
  const body: unknown = await c.req.json().catch(() => undefined)
  return stringOf(fieldsOf(body)?.['code']) ?? ''
}

/** Nothing for a browser that is signed in already: it may open the same link twice, or one that has expired. */
function signIn(code: string, signIns: SignIns, cookie: string | undefined, onWrong: () => void): string | undefined {
  const signedIn = signIns.exchange(code, cookie)
  if (signedIn.kind === 'session') return signedIn.cookie
  if (signedIn.kind === 'signed_in' || (cookie !== undefined && signedIn.kind !== 'used')) return undefined
  if (signedIn.kind === 'wrong') onWrong()
  throw new ApiProblem('unauthorized', REFUSED[signedIn.kind])
}

const EXPIRED = phrase('This link has expired.', 'このリンクは期限切れです。')

const REFUSED: { readonly [kind in Exclude<SignInResult['kind'], 'session' | 'signed_in'>]: Phrase } = {
  // What an earlier run of the server gave is of no use either, and looks the same.
  wrong: EXPIRED,
  expired: EXPIRED,
  used: phrase(
    'This link was used before, so the browser that used it is signed out. If that was not you, somebody else on this machine saw the link.',
    'このリンクはすでに使われていたため、先に使ったブラウザーをサインアウトさせました。心当たりがなければ、このマシンのほかの利用者にリンクを見られています。',
  ),
}

export const cookieName = (port: number): string => `fumi_${port}`

const UNKNOWN = phrase(
  'Open the link that fumi token --link prints, or send the token that fumi token prints as Authorization: Bearer …',
  'fumi token --link が表示するリンクを開くか、fumi token が表示するトークンを Authorization: Bearer … として送ってください。',
)

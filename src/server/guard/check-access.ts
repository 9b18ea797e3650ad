/** Checks access: browsers exchange a one-time code for a cookie, scripts send the token with each request. */

import type { Context, MiddlewareHandler } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { fieldsOf, stringOf } from '../../lib/unknown-values.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../api-problem.ts'
import { clientAddress, createRateBucket, type RateBucket } from './check-request.ts'
import { isMemoryToken, type SignInResult, SignIns, type TokenFile } from './sign-in.ts'
import { createSignInPage } from './sign-in-page.ts'

export interface AccessOptions {
  /** Undefined: no token is needed. */
  readonly tokens: TokenFile | undefined
  readonly port: () => number
  readonly secure: boolean
}

const YEAR_SECONDS = 31_536_000
/** Needs no token, and then returns only its status. */
const OPEN_PATH = '/api/health'
/** For MCP clients, which also may send a token that is good for nothing else. */
export const MEMORY_PATH = '/mcp'

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
      // All ports of a host share their cookies.
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
      if (path === MEMORY_PATH && isMemoryToken(tokens.directory, bearer)) return next()
      limitGuesses(c, wrong)
    }
    if (path === OPEN_PATH) {
      c.set('stranger', true)
      return next()
    }
    if (path === MEMORY_PATH) throw new ApiProblem('unauthorized', UNKNOWN_MEMORY)
    const wantsPage = isRead && !path.startsWith('/api/') && /\btext\/html\b/.test(c.req.header('accept') ?? '')
    if (wantsPage && bearer === undefined) return renderSignInPage(c, 401)
    throw new ApiProblem('unauthorized', UNKNOWN)
  }
}

function limitGuesses(c: Context, wrong: RateBucket): void {
  if (!wrong.take(clientAddress(c)))
    throw new ApiProblem(
      'too_many_requests',
      phrase(
        'Too many wrong tokens. Wait a minute, then try again.',
        '誤ったトークンが多すぎます。1 分ほど待ってから、もう一度試してください。',
      ),
    )
}

async function readCode(c: Context): Promise<string> {
  const body: unknown = await c.req.json().catch(() => undefined)
  return stringOf(fieldsOf(body)?.['code']) ?? ''
}

/** Undefined for a browser that is signed in: it may open a link twice, or an expired one. */
function signIn(code: string, signIns: SignIns, cookie: string | undefined, onWrong: () => void): string | undefined {
  const signedIn = signIns.exchange(code, cookie)
  if (signedIn.kind === 'session') return signedIn.cookie
  if (signedIn.kind === 'signed_in' || (cookie !== undefined && signedIn.kind !== 'used')) return undefined
  if (signedIn.kind === 'wrong') onWrong()
  throw new ApiProblem('unauthorized', REFUSED[signedIn.kind])
}

const EXPIRED = phrase(
  'This link has expired. Get a new one.',
  'このリンクは期限切れです。新しいリンクを表示してください。',
)

const REFUSED: { readonly [kind in Exclude<SignInResult['kind'], 'session' | 'signed_in'>]: Phrase } = {
  // A code of an earlier run of the server looks the same.
  wrong: EXPIRED,
  expired: EXPIRED,
  used: phrase(
    'This link was already used. fumibako has signed out the browser that used it. If that was not you, another user of this machine has seen the link.',
    'このリンクはすでに使われていたため、先に使ったブラウザーをサインアウトさせました。心当たりがなければ、このマシンのほかの利用者にリンクを見られています。',
  ),
}

const cookieName = (port: number): string => `fumi_${port}`

const UNKNOWN = phrase(
  'Open the link that fumi token --link prints, or send the token that fumi token prints as Authorization: Bearer …',
  'fumi token --link が表示するリンクを開くか、fumi token が表示するトークンを Authorization: Bearer … として送ってください。',
)

const UNKNOWN_MEMORY = phrase(
  'Send the token that fumi token --scope memory prints as Authorization: Bearer …',
  'fumi token --scope memory が表示するトークンを Authorization: Bearer … として送ってください。',
)

export const SIGN_IN_PATH = '/login'

const HOW_TO_SIGN_IN = phrase(
  'Run this in a terminal on the machine where fumibako runs, and open the link that it prints:',
  'fumibako を実行しているマシンの端末で次のコマンドを実行し、表示されたリンクを開いてください。',
)
const LIFETIME = phrase('The link works once, for 60 seconds.', 'リンクは 60 秒以内に 1 回だけ使えます。')
const OLD_LINK = phrase('Links with ?token= no longer work.', '?token= の付いたリンクは使えなくなりました。')

/**
 * Browsers do not send the part after the # to servers, so link previews cannot use the code and proxies cannot log it. The
 * script removes it from the address, then sends it.
 */
const SCRIPT = `
function signIn() {
  const code = location.hash.slice(1)
  if (code === '') return
  history.replaceState(null, '', location.pathname)
  const said = document.getElementById('said')
  fetch('${SIGN_IN_PATH}', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
    credentials: 'same-origin',
  }).then(async (answer) => {
    if (answer.ok) return location.replace('/')
    const { errors: [error] } = await answer.json()
    said.textContent = document.documentElement.lang === 'ja' ? error.detail_ja : error.detail
  }).catch((error) => { said.textContent = String(error) })
}
signIn()
addEventListener('hashchange', signIn)
`
const STYLE = `
:root { color-scheme: light dark }
body { font: 1rem/1.6 system-ui, sans-serif; max-width: 36rem; margin: 15vh auto; padding: 0 1rem }
code { font-size: 1.1rem }
`

const signInPage = createSignInPage({ script: SCRIPT, style: STYLE })

/** The page that signs a browser in with the code after the # of its address, or explains how to get one. */
function renderSignInPage(c: Context, status: 200 | 401): Response {
  return signInPage(c, status, (isJapanese) => {
    const say = ({ en, ja }: Phrase): string => (isJapanese ? ja : en)
    return `<p id="said" role="status">${c.req.query('token') === undefined ? '' : say(OLD_LINK)}</p>
<p>${say(HOW_TO_SIGN_IN)}</p>
<p><code>fumi token --link</code></p>
<p>${say(LIFETIME)}</p>`
  })
}

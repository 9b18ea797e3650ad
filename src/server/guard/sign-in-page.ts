/** The page that signs a browser in with the code behind the # of its address, or says how to get one. */
import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { type Phrase, phrase } from '../../model/phrase.ts'

export const SIGN_IN_PATH = '/login'

const HOW_TO_SIGN_IN = phrase(
  'Run this in a terminal on the machine where fumibako runs, and open the link that it prints:',
  'fumibako を実行しているマシンの端末で次のコマンドを実行し、表示されたリンクを開いてください。',
)
const LIFETIME = phrase('A link works once, within 60 seconds.', 'リンクは 60 秒以内に 1 回だけ使えます。')
const OLD_LINK = phrase('Links with ?token= no longer work.', '?token= の付いたリンクは使えなくなりました。')

/**
 * What follows the # reaches no server by itself: neither a program that previews links nor a proxy's log uses the code up
 * or keeps it. The script sends it, and takes it out of the address first.
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

const cspHashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const POLICY = [
  "default-src 'none'",
  `script-src ${cspHashOf(SCRIPT)}`,
  `style-src ${cspHashOf(STYLE)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function renderSignInPage(c: Context, status: 200 | 401): Response {
  const isJapanese = /^ja\b/i.test(c.req.header('accept-language') ?? '')
  const say = ({ en, ja }: Phrase): string => (isJapanese ? ja : en)
  const html = `<!doctype html>
<html lang="${isJapanese ? 'ja' : 'en'}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>fumibako</title>
<style>${STYLE}</style>
<h1>fumibako</h1>
<p id="said" role="status">${c.req.query('token') === undefined ? '' : say(OLD_LINK)}</p>
<p>${say(HOW_TO_SIGN_IN)}</p>
<p><code>fumi token --link</code></p>
<p>${say(LIFETIME)}</p>
<script>${SCRIPT}</script>
</html>
`
  return c.body(html, status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY,
    'cache-control': 'no-store',
    vary: 'accept-language',
  })
}

/** The page that a browser sees before it is signed in: one file, which loads nothing. */
import { createHash } from 'node:crypto'
import type { Context } from 'hono'

type SignInPage = (c: Context, status: 200 | 401, body: (isJapanese: boolean) => string) => Response

/** @returns a function that renders a body, in the language of the browser, with this script and style only */
export function createSignInPage({ script, style }: { readonly script: string; readonly style: string }): SignInPage {
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
  return (c, status, body) => {
    const isJapanese = /^ja\b/i.test(c.req.header('accept-language') ?? '')
    const html = `<!doctype html>
<html lang="${isJapanese ? 'ja' : 'en'}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>fumibako</title>
<style>${style}</style>
<h1>fumibako</h1>
${body(isJapanese)}
<script>${script}</script>
</html>
`
    return c.body(html, status, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'cache-control': 'no-store',
      vary: 'accept-language',
    })
  }
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

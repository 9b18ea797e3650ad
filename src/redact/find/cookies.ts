/** Finds session ids and tokens in `Cookie:` and `Set-Cookie:` headers. */
import { isPlaceholder, isReference } from './placeholder.ts'
import { looksRandom } from './plausible-value.ts'
import type { RedactionSpan } from './span.ts'

const HEADER =
  /cookies?(?:["'`]?\s{0,3}[:=]\s{0,3}\\?["'`]?|\s+\\?["'])((?:[\w.!#$%&'*+^|~-]{1,80}=[^;\s"'\\]{0,4096};?\s{0,2}){1,60})/iy
const PAIR = /([\w.!#$%&'*+^|~-]{1,80})=([^;\s"'\\]{0,4096})/g
const OF_SESSION =
  /sess|sid|token|auth|jwt|csrf|xsrf|remember|login|user|secret|key|__secure|__host|_ga_session|clearance|ticket|identity/i

/** Cookies that count visitors. */
const OF_VISITORS = /^_(?:ga|gid|gcl|gat|fbp|fbc|hj|clck|clsk|uet)|^ajs_|^optanon|^mp_/i

/** @param at of `cookie` in any case */
export function findInCookies(text: string, at: number, spans: RedactionSpan[]): void {
  HEADER.lastIndex = at
  const header = HEADER.exec(text)
  if (!header) return
  const offset = at + header[0].length - (header[1]?.length ?? 0)
  for (const pair of (header[1] ?? '').matchAll(PAIR)) {
    const [all, name = '', value = ''] = pair
    if (!isSecretCookie(name, value)) continue
    const end = offset + pair.index + all.length
    spans.push({ start: end - value.length, end, kind: 'cookie' })
  }
}

const isSecretCookie = (name: string, value: string): boolean => {
  if (OF_VISITORS.test(name) || value.length < 8 || isReference(value) || isPlaceholder(value)) return false
  return OF_SESSION.test(name) ? /\d/.test(value) && (/[A-Za-z]/.test(value) || value.length >= 16) : looksRandom(value)
}

/** Far enough for a long value before the flag. */
const MAX_BEFORE = 4400
const STORED = /"name"\s?:\s?"([\w.!#$%&'*+^|~-]{1,80})"\s?,\s{0,20}"value"\s?:\s?"([^"\\\s]{8,4096})"[^{}]{0,200}$/

/** A cookie as browsers and their recordings list it. @param at of `"httpOnly"` */
export function findStoredCookie(text: string, at: number, spans: RedactionSpan[]): void {
  const from = Math.max(0, at - MAX_BEFORE)
  const before = text.slice(from, at)
  const found = STORED.exec(before.slice(before.lastIndexOf('{') + 1))
  const [all, name = '', value = ''] = found ?? []
  if (all === undefined || !isSecretCookie(name, value)) return
  const start =
    from + before.lastIndexOf('{') + 1 + (found?.index ?? 0) + all.indexOf(value, all.indexOf('"value"') + 8)
  spans.push({ start, end: start + value.length, kind: 'cookie' })
}

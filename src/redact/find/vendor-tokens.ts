/** Finds tokens of the documented formats in `formats/`. */
import { AI_FORMATS } from '../formats/ai.ts'
import { CLOUD_FORMATS } from '../formats/cloud.ts'
import { CODE_FORMATS } from '../formats/code.ts'
import type { TokenFormat } from '../formats/format.ts'
import { KEY_FORMATS } from '../formats/keys.ts'
import { SERVICE_FORMATS } from '../formats/services.ts'
import { isPlaceholder } from './placeholder.ts'
import { hasFewDistinct, looksRandom } from './plausible-value.ts'
import type { RedactionSpan } from './span.ts'

/** One prefix of a format. */
export interface TokenMatcher {
  readonly kind: string
  readonly prefix: string
  readonly body: RegExp
  /** Another letter or digit before the prefix means that it is the end of a word. */
  readonly needsBoundary: boolean
  readonly isRandom: boolean
}

export const TOKEN_MATCHERS: readonly TokenMatcher[] = [
  ...AI_FORMATS,
  ...CODE_FORMATS,
  ...CLOUD_FORMATS,
  ...SERVICE_FORMATS,
  ...KEY_FORMATS,
].flatMap(toMatchers)

function toMatchers({ kind, prefixes, body, isRandom = false }: TokenFormat): readonly TokenMatcher[] {
  const pattern = new RegExp(body, 'y')
  return prefixes.map((prefix) => ({
    kind,
    prefix,
    body: pattern,
    needsBoundary: /^[A-Za-z0-9]/.test(prefix),
    isRandom,
  }))
}

/** At least three characters each, with which the token of a matcher begins. */
export function startsOf({ prefix }: TokenMatcher): readonly string[] {
  if (prefix.length >= 3) return [prefix]
  return Array.from('0123456789abcdef', (digit) => prefix + digit)
}

export function findToken(text: string, at: number, matcher: TokenMatcher, spans: RedactionSpan[]): void {
  const { kind, prefix, body, needsBoundary, isRandom } = matcher
  if (!text.startsWith(prefix, at) || (needsBoundary && !isBoundary(text, at))) return
  // The end of a name in words, as in `a-key-of-the-page`.
  if (isRandom && /[_-]/.test(text[at - 1] ?? '')) return
  body.lastIndex = at + prefix.length
  const found = body.exec(text)
  if (!found) return
  const [all, group] = found
  const start = group === undefined ? at : at + prefix.length + all.lastIndexOf(group)
  const end =
    at + prefix.length + all.length - (group === undefined ? 0 : all.length - all.lastIndexOf(group) - group.length)
  const secret = text.slice(start, end)
  const random = group ?? all
  if (isRandom && !looksRandom(random)) return
  if (isPlaceholder(secret) || isPlaceholder(random) || hasFewDistinct(random)) return
  spans.push({ start, end, kind })
}

/** The letter of an escape sequence (`\n`) and the percent code of a sign (`%3D`) are not part of the word. */
export function isBoundary(text: string, at: number): boolean {
  if (at === 0 || !/[A-Za-z0-9]/.test(text[at - 1] ?? '')) return true
  if (text[at - 2] === '\\' && /[nrtbf0]/.test(text[at - 1] ?? '')) return true
  return (
    (text[at - 3] === '%' && /^[0-9A-F]{2}$/i.test(text.slice(at - 2, at))) ||
    /\\u00[0-9a-f]{2}$|\\x[0-9a-f]{2}$|\x1b\[[\d;]*m$/i.test(text.slice(Math.max(0, at - 12), at))
  )
}

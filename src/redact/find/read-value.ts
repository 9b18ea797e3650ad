/** Reads the value behind a name: a text in quotes, also escaped ones, or what follows up to a delimiter. */

export interface ReadValue {
  readonly start: number
  readonly end: number
  /** Where reading continues, behind the closing quote. */
  readonly next: number
}

const MAX_VALUE = 8000
const OPENING_QUOTE = /[bBrRfFuUN@$]{0,2}(\\{0,7})(["'`“‘「『])/y
const CLOSING: { readonly [opening: string]: string } = { '“': '”', '‘': '’', '「': '」', '『': '』' }

/** Undefined if there is no quoted text at `at`. A text whose end is missing ends with its line. */
export function readQuoted(text: string, at: number): ReadValue | undefined {
  OPENING_QUOTE.lastIndex = at
  const opening = OPENING_QUOTE.exec(text)
  if (!opening) return undefined
  const [all, escapes = '', quote = ''] = opening
  const closing = CLOSING[quote] ?? quote
  const tripled = text.startsWith(quote + quote, at + all.length) ? quote.repeat(3) : undefined
  const start = at + all.length + (tripled ? 2 : 0)
  const end = tripled ? text.indexOf(tripled, start) : findClosing(text, start, closing, escapes.length)
  if (end < 0 || end - start > MAX_VALUE) return undefined
  return { start, end, next: end + (tripled ? 3 : escapes.length + 1) }
}

/** The quote with as many backslashes before it as the opening one has. */
function findClosing(text: string, from: number, quote: string, escapes: number): number {
  const limit = Math.min(text.length, from + MAX_VALUE)
  let backslashes = 0
  for (let at = from; at < limit; at++) {
    const character = text[at]
    if (character === '\\') backslashes++
    else if (character === '\n') return at
    else {
      if (character === quote && backslashes <= escapes && (escapes === 0 ? backslashes === 0 : true))
        return at - backslashes
      backslashes = 0
    }
  }
  return limit
}

/** Up to the first character that the pattern does not match. @param pattern sticky */
export function readBare(text: string, at: number, pattern: RegExp): ReadValue | undefined {
  pattern.lastIndex = at
  const found = pattern.exec(text)?.[0]
  if (!found) return undefined
  // Signs that end a clause; a password may end with others.
  const value = found.replace(/[.,;:]+$/, '')
  return { start: at, end: at + value.length, next: at + found.length }
}

/** In code. */
export const BARE_VALUE = /[^\s"'`,;&|<>(){}[\]\\“”「」、。]{1,4000}/y
/** In an address. */
export const QUERY_VALUE = /[^\s"'`&#<>()[\]{}\\,;|]{1,4000}/y
/** Between `;`. */
export const CONNECTION_VALUE = /[^\s"';<>\\]{1,400}/y
/** Up to a blank: settings, and arguments of commands. */
export const LINE_VALUE = /(?:[^\s"'`\\]|\\[^nrt\s"]){1,4000}/y

/** Finds tokens that JSON.parse would change: spellings of numbers, reordered keys, repeated keys. */
import { findStringEnd, unquote } from './scanner.ts'

export interface JsonFailure {
  readonly ok: false
  /** Never quotes the text. */
  readonly reason: string
  /** Index into the text, if the parser reports it. */
  readonly at?: number
}

export interface LossyTokenScan {
  /** The text, with the tokens found replaced by marked strings. */
  readonly text: string
  /** Prefix of every marked string, and of no other string in the text. Absent if nothing was found. */
  readonly marker?: string
  /** Number of marked strings, and whether the first is in the second half of the text. */
  readonly marked: number
  readonly late: boolean
  readonly depth: number
}

interface LossyToken {
  readonly start: number
  readonly end: number
  readonly kind: 'n' | 'k' | 'd'
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
const MINUS = 45
const POINT = 46
const LARGE_E = 69
const SMALL_E = 101
const ZERO = 48
const NINE = 57
const UNDERSCORE = 95
export const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Invalid JSON stays invalid: only tokens in valid positions are replaced. */
export function scanLossyTokens(text: string, duplicates: boolean): LossyTokenScan {
  const tokens: LossyToken[] = []
  const keys = duplicates ? new OpenObjectKeys(text) : undefined
  const deepest = scanText(text, tokens, keys)
  const first = tokens[0]
  if (!first) return { text, marked: 0, late: false, depth: deepest }
  return { ...markTokens(text, tokens), marked: tokens.length, late: first.start > text.length / 2, depth: deepest }
}

/** Runs for every unit of the text, so rare cases are handled elsewhere. Returns the nesting depth. */
function scanText(text: string, tokens: LossyToken[], keys: OpenObjectKeys | undefined): number {
  const length = text.length
  let depth = 0
  let deepest = 0
  let at = 0
  while (at < length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const start = at
      const first = text.charCodeAt(at + 1)
      at = findStringEnd(text, at + 1)
      if (at < 0) break
      if ((first <= NINE && first >= ZERO && at - start <= 12) || (first === UNDERSCORE && at - start === 11) || keys)
        checkKey(text, start, at, tokens, keys)
    } else if (code === COMMA || code === COLON) {
      at++
    } else if ((code >= ZERO && code <= NINE) || code === MINUS) {
      const start = at++
      let next = text.charCodeAt(at)
      while (next >= ZERO && next <= NINE) next = text.charCodeAt(++at)
      if (next === POINT || next === SMALL_E || next === LARGE_E || at - start > 15 || code === MINUS)
        at = checkNumber(text, start, tokens)
    } else {
      if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
        depth++
        if (depth > deepest) deepest = depth
        keys?.open(code === OPEN_OBJECT)
      } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) {
        depth--
        keys?.close()
      }
      at++
    }
  }
  return deepest
}

function checkKey(
  text: string,
  start: number,
  end: number,
  tokens: LossyToken[],
  keys: OpenObjectKeys | undefined,
): void {
  if (!isKey(text, end)) return
  if (keys?.isDuplicate(start, end)) tokens.push({ start, end, kind: 'd' })
  else if (end - start <= 12 && MOVED_KEY.test(text.slice(start + 1, end - 1))) tokens.push({ start, end, kind: 'k' })
}

/** Returns the index after the number. */
function checkNumber(text: string, start: number, tokens: LossyToken[]): number {
  let end = start + 1
  while (isNumberPart(text.charCodeAt(end))) end++
  if (isRespelled(text.slice(start, end)) && !isKey(text, end)) tokens.push({ start, end, kind: 'n' })
  return end
}

const MOVED_KEY = /^(?:0|[1-9]\d{0,9}|__proto__)$/

function isKey(text: string, end: number): boolean {
  let at = end
  while (text.charCodeAt(at) <= 32) at++
  return text.charCodeAt(at) === COLON
}

function isNumberPart(code: number): boolean {
  return (
    (code >= ZERO && code <= NINE) ||
    code === POINT ||
    code === SMALL_E ||
    code === LARGE_E ||
    code === 43 ||
    code === MINUS
  )
}

function isRespelled(token: string): boolean {
  return String(Number(token)) !== token && JSON_NUMBER.test(token)
}

/**
 * Control characters in JSON must be escaped. A run of escapes that does not occur in the text is therefore a unique
 * prefix.
 */
function markTokens(text: string, tokens: readonly LossyToken[]): { readonly text: string; readonly marker: string } {
  let length = 1
  while (text.includes('\\u0001'.repeat(length))) length++
  const mark = `"${'\\u0001'.repeat(length)}`
  const parts: string[] = []
  let from = 0
  tokens.forEach(({ start, end, kind }, index) => {
    const inner = kind === 'n' ? text.slice(start, end) : text.slice(start + 1, end - 1)
    parts.push(text.slice(from, start), mark, kind === 'd' ? `d${index}:` : kind, inner, '"')
    from = end
  })
  parts.push(text.slice(from))
  return { text: parts.join(''), marker: '\u0001'.repeat(length) }
}

/** Keys of the objects that are open at the current position. */
class OpenObjectKeys {
  readonly #text: string
  readonly #open: (Set<string> | undefined)[] = []

  constructor(text: string) {
    this.#text = text
  }

  open(isObject: boolean): void {
    this.#open.push(isObject ? new Set() : undefined)
  }

  close(): void {
    this.#open.pop()
  }

  isDuplicate(start: number, end: number): boolean {
    const keys = this.#open.at(-1)
    if (!keys) return false
    const key = unquote(this.#text.slice(start, end))
    if (keys.has(key)) return true
    keys.add(key)
    return false
  }
}

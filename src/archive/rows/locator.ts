/** Locators in few bytes: without what their row tells already, and with their usual phrases as one character each. */

type Locator = { readonly [key: string]: unknown }

/** What the row of a message knows beside the locator. */
export interface Known {
  readonly line: number
  readonly time: string
  readonly session: string
}

const KNOWN = ['line', 'time', 'session'] as const

/** A stretch of JSON never holds a character below the space: these stand for phrases. Never changed, only added. */
const PHRASES = [
  '"at":[',
  ',"call":[',
  ',"marks":{',
  '"usage":{"input_tokens":',
  ',"cached_input_tokens":',
  ',"output_tokens":',
  ',"reasoning_output_tokens":',
  ',"total_tokens":',
  '"duplicates":["',
  '"duplicate_of":"',
  '"enriches":"',
  ',"found":{"exit_code":',
  '"duration_ms":',
  '"replayed":true',
  '"timestamp_inferred":true',
  '"entry":',
  ',"part":',
  ',"check":',
] as const

/** The first code is no NUL: SQLite's own tools end a text there. */
const codeOf = (at: number): string => String.fromCharCode(at + 1)
const CODES = new Map<string, string>(PHRASES.map((phrase, at) => [phrase, codeOf(at)]))
const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
const FIND = new RegExp(PHRASES.map(escaped).join('|'), 'g')
const CODE = new RegExp(`[${codeOf(0)}-${codeOf(PHRASES.length - 1)}]`, 'g')

/** The other messages that a locator names were said in the same hour. */
const HOUR = '2026-01-05T08:'.length
const SAME_HOUR = '\x1f'

/** Long numbers, of which offsets and check sums are made, in base 36 with a mark. */
const NUMBER = /(?<![\d.\w"#:-])[1-9]\d{5,14}(?![\d.eE\w"])/g
const SHORT = /\x1e([0-9a-z]+)/g
const shorter = (digits: string): string => `\x1e${Number(digits).toString(36)}`
const longer = (_: string, digits: string): string => String(Number.parseInt(digits, 36))

export function packLocator(locator: Locator, known: Known): string {
  let left = 0
  const rest: Record<string, unknown> = {}
  for (const key in locator) {
    const at = KNOWN.indexOf(key as 'line')
    if (at >= 0 && locator[key] === known[KNOWN[at] ?? 'line']) left |= 1 << at
    else rest[key] = locator[key]
  }
  const text = JSON.stringify(rest).slice(1, -1)
  const brief = text.replace(FIND, (phrase) => CODES.get(phrase) ?? phrase).replace(NUMBER, shorter)
  return left + brief.replaceAll(known.time.slice(0, HOUR), SAME_HOUR)
}

export function unpackLocator(packed: string, known: Known): Locator {
  const left = Number(packed[0])
  const same = packed.slice(1).replaceAll(SAME_HOUR, known.time.slice(0, HOUR))
  const text = same.replace(SHORT, longer).replace(CODE, (code) => PHRASES[code.charCodeAt(0) - 1] ?? '')
  const locator: Record<string, unknown> = JSON.parse(`{${text}}`)
  KNOWN.forEach((key, at) => {
    if (left & (1 << at)) locator[key] = known[key]
  })
  return locator
}

/** Collects the parts of a text's identifiers, each identifier once. */

import { ASCII, DIGIT, IGNORED, LOWER, MARK, UNDERSCORE, UPPER } from './characters.ts'
import { partsOf } from './parts.ts'

/** A word that stands between the text and the parts of each identifier, so that no phrase reaches across. */
export const BOUNDARY = '___'

/** How far a word has been seen. Only words that end as `MIXED` can have parts. */
export const OUTSIDE = 0
const SMALL = 1
const CAPITAL = 2
const CAPITALS = 3
const NUMBER = 4
export const MIXED = 5

/** By state and kind: the next state. */
export const NEXT: Uint8Array = new Uint8Array(8 * 16)
for (const state of [SMALL, CAPITAL, CAPITALS, NUMBER, MIXED]) {
  NEXT.fill(state === NUMBER ? NUMBER : MIXED, state * 16 + LOWER, state * 16 + UNDERSCORE)
  NEXT[state * 16 + UNDERSCORE] = MIXED
  NEXT[state * 16 + MARK] = state
  NEXT[state * 16 + IGNORED] = state
}
NEXT[SMALL * 16 + LOWER] = SMALL
NEXT[CAPITAL * 16 + LOWER] = SMALL
NEXT[CAPITAL * 16 + UPPER] = CAPITALS
NEXT[CAPITALS * 16 + UPPER] = CAPITALS
NEXT[OUTSIDE * 16 + LOWER] = SMALL
NEXT[OUTSIDE * 16 + MARK] = SMALL
NEXT[OUTSIDE * 16 + UPPER] = CAPITAL
NEXT[OUTSIDE * 16 + DIGIT] = NUMBER
NEXT[OUTSIDE * 16 + UNDERSCORE] = MIXED

/** By state and ASCII character. */
const NEXT_ASCII: Uint8Array = Uint8Array.from(
  { length: 8 * 128 },
  (_, at) => NEXT[(at >> 7) * 16 + (ASCII[at & 127] ?? 0)] ?? OUTSIDE,
)

interface Known {
  /** Each part with the boundary before the first; empty when there are none. */
  readonly parts: string
  /** The text in which it was last seen. */
  text: number
}

/** Texts repeat their identifiers, and so do the texts after them. */
const known = new Map<string, Known>()
const MOST_KNOWN = 20_000
let texts = 0

/** What to add to an ASCII text. */
export function identifiersIn(text: string): string {
  let added = ''
  let state = OUTSIDE
  let start = 0
  beginText()
  for (let at = 0; at < text.length; at++) {
    const next = NEXT_ASCII[(state << 7) | text.charCodeAt(at)] ?? OUTSIDE
    if (next === OUTSIDE) {
      if (state === MIXED) added += partsOnce(text.slice(start, at))
    } else if (state === OUTSIDE) start = at
    state = next
  }
  return state === MIXED ? added + partsOnce(text.slice(start)) : added
}

/** Begins a new text, whose identifiers may all be added again. */
export function beginText(): void {
  texts++
}

/** What to add for an identifier; nothing when the text had it before. */
export function partsOnce(word: string, write: (part: string) => string = asItIs): string {
  const before = known.get(word)
  if (before) {
    if (before.text === texts) return ''
    before.text = texts
    return before.parts
  }
  if (known.size >= MOST_KNOWN) known.clear()
  const parts = partsOf(word).map(write)
  const added = parts.length === 0 ? '' : ` ${BOUNDARY} ${parts.join(' ')}`
  known.set(word, { parts: added, text: texts })
  return added
}

const asItIs = (part: string): string => part

/** Finds in a text what a term looks for, as FTS5 would find it in the index. */
import {
  folded,
  GAP,
  isAscii,
  isInRun,
  isInWord,
  kindAt,
  kindBefore,
  normalised,
  SEPARATOR,
  UPPER,
  withoutIgnored,
} from './characters.ts'
import { LONGEST_NAME, partsOf } from './parts.ts'
import type { Sought } from './sought.ts'

/** A text, made ready to be searched. Both are of the same length, unit by unit. */
export interface Haystack {
  readonly normal: string
  readonly folded: string
}

export type Place = readonly [start: number, end: number]

export function haystackOf(text: string): Haystack {
  if (isAscii(text)) return { normal: text, folded: text.toLowerCase() }
  const normal = withoutIgnored(normalised(text))
  return { normal, folded: folded(normal) }
}

/** The first place at or behind `from`. */
export function find(haystack: Haystack, sought: Sought, from = 0): Place | undefined {
  const first = sought.units[0]?.text ?? ''
  for (let at = haystack.folded.indexOf(first, from); at >= 0; at = haystack.folded.indexOf(first, at + 1)) {
    const end = endAt(haystack, sought, at) ?? endOfParts(haystack, sought, at)
    if (end !== undefined) return [at, end]
  }
  return undefined
}

/** Where the units end that begin there, if they all follow each other. */
function endAt({ normal, folded: text }: Haystack, { units, prefix }: Sought, start: number): number | undefined {
  const last = units.at(-1)
  let at = start
  if (units[0]?.kind === 'word' && isInWord(kindBefore(normal, start))) return undefined
  for (const unit of units) {
    if (at > start) while (at < text.length && kindAt(normal, at) === SEPARATOR && text[at] !== GAP) at++
    if (!text.startsWith(unit.text, at)) return undefined
    at += unit.text.length
    const mayGoOn = unit === last && (unit.kind !== 'word' || prefix)
    if (mayGoOn) continue
    const next = kindAt(normal, at)
    if (unit.kind === 'word' ? isInWord(next) : unit.kind === 'run' && isInRun(next)) return undefined
  }
  return at
}

/** The same for words that are parts of one identifier. */
function endOfParts({ normal, folded: text }: Haystack, { units, prefix }: Sought, start: number): number | undefined {
  const before = kindBefore(normal, start)
  const here = kindAt(normal, start)
  const mayBegin = here === UPPER || here !== before
  if (!mayBegin || units.some((unit) => unit.kind !== 'word')) return undefined
  const [from, to] = wordAround(normal, start)
  let at = from
  let met = 0
  for (const part of partsOf(normal.slice(from, to))) {
    const unit = units[met]
    if (at >= start && unit) {
      const isLast = met === units.length - 1
      const isWhole = unit.text.length === part.length
      const mayGoOn = isLast && prefix && unit.text.length < part.length
      if (!text.startsWith(unit.text, at) || !(isWhole || mayGoOn)) return undefined
      if (isLast) return at + unit.text.length
      met++
    }
    at += part.length
    if (at > start && met === 0) return undefined
  }
  return undefined
}

/** Not farther than a name can reach. */
function wordAround(normal: string, at: number): Place {
  let from = at
  let to = at
  while (from > at - LONGEST_NAME && isWordUnit(normal, from - 1)) from--
  while (to <= from + LONGEST_NAME && isWordUnit(normal, to)) to++
  return [from, to]
}

/** Either half of a pair belongs to a word when the pair does. */
function isWordUnit(normal: string, at: number): boolean {
  const isLow = (normal.charCodeAt(at) & 0xfc00) === 0xdc00
  return isInWord(isLow ? kindBefore(normal, at + 1) : kindAt(normal, at))
}

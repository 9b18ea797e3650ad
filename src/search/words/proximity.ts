/** How close together the terms of a question are in a text. */
import { characterKindBefore, isInWord } from './characters.ts'
import { type NormalizedText, toNormalizedText } from './term-spellings.ts'

export interface ProximityTerm {
  readonly text: string
  readonly forms?: { readonly beginning: string }
}

/** Characters of a text that are compared. */
const MAX_TEXT = 100_000
/** Places of one term. */
const MAX_PLACES = 40
/** Terms within so many characters are together. */
const WINDOW = 160

interface Place {
  readonly at: number
  readonly term: number
}

/**
 * The part of the question that is within a few lines of the text: 0 to 1.
 *
 * @param rarities of each term; the more, the more it counts
 */
export function proximityOf(text: string, terms: readonly ProximityTerm[], rarities: readonly number[]): number {
  const all = rarities.reduce((sum, one) => sum + one, 0)
  if (all === 0) return 0
  const normalized = toNormalizedText(text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text)
  const places = terms.flatMap((term, at) => ((rarities[at] ?? 0) > 0 ? placesOf(normalized, term, at) : []))
  places.sort((a, b) => a.at - b.at)
  /** How many places of each term are in the window. */
  const inside = new Uint8Array(terms.length)
  let mass = 0
  let best = 0
  let first = 0
  for (const { at, term } of places) {
    const before = inside[term] ?? 0
    if (before === 0) mass += rarities[term] ?? 0
    inside[term] = before + 1
    for (let old = places[first]; old && old.at < at - WINDOW; old = places[++first]) {
      const left = (inside[old.term] ?? 0) - 1
      inside[old.term] = left
      if (left === 0) mass -= rarities[old.term] ?? 0
    }
    best = Math.max(best, mass)
  }
  return best / all
}

function placesOf({ normal, folded }: NormalizedText, { text, forms }: ProximityTerm, term: number): readonly Place[] {
  const wanted = forms?.beginning ?? text
  const places: Place[] = []
  for (let at = folded.indexOf(wanted); at >= 0 && places.length < MAX_PLACES; at = folded.indexOf(wanted, at + 1)) {
    const isInside = isInWord(characterKindBefore(normal, at)) && /^\w/.test(wanted)
    if (!isInside) places.push({ at, term })
  }
  return places
}

/** How close together the terms of a question are in a text. */
import { characterKindAt, characterKindBefore, isInWord, SEPARATOR } from './characters.ts'
import { type NormalizedText, toNormalizedText } from './term-spellings.ts'

export interface ProximityTerm {
  readonly text: string
  readonly forms?: { readonly beginning: string }
  /** Number of its unit in the question. */
  readonly unit: number
  /** Further words that count as the term. */
  readonly related?: readonly { readonly text: string; readonly forms?: { readonly beginning: string } }[]
}

/** Both are parts of the question, by the rarity of its terms: 0 to 1. */
export interface Proximity {
  /** Terms that are within a few lines of the text. */
  readonly near: number
  /** Terms that follow each other in the text as they do in the question. */
  readonly adjacent: number
  /** For each term, how much it and its follower are of `adjacent`. */
  readonly pairs: Float64Array
}

/** Characters of a text that are compared. */
const MAX_TEXT = 100_000
/** Places of one term. */
const MAX_PLACES = 40
/** Terms within so many characters are together. */
const WINDOW = 160

/** At most so many separators are between adjacent words. */
const MAX_GAP = 4

interface Place {
  readonly at: number
  readonly end: number
  readonly term: number
}

const FAR_APART: Proximity = { near: 0, adjacent: 0, pairs: new Float64Array(0) }

/** @param rarities of each term; the more, the more it counts */
export function proximityOf(text: string, terms: readonly ProximityTerm[], rarities: readonly number[]): Proximity {
  const all = rarities.reduce((sum, one) => sum + one, 0)
  if (all === 0) return FAR_APART
  const normalized = toNormalizedText(text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text)
  const places = terms.flatMap((term, at) =>
    (rarities[at] ?? 0) > 0 ? (term.related ?? [term]).flatMap((one) => placesOf(normalized, one, at)) : [],
  )
  places.sort((a, b) => a.at - b.at)
  const pairs = partsInOrder(normalized, places, terms, rarities)
  return { near: partInWindow(places, rarities) / all, adjacent: pairs.reduce((sum, one) => sum + one, 0), pairs }
}

/** The most that is in one window. */
function partInWindow(places: readonly Place[], rarities: readonly number[]): number {
  /** How many places of each term are in the window. */
  const inside = new Uint8Array(rarities.length)
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
  return best
}

/** Pairs of terms that are adjacent in the question, by the number of the first. */
function pairsInQuestion(terms: readonly ProximityTerm[]): readonly (readonly number[])[] {
  return terms.map((term, at) =>
    terms.flatMap((other, next) => {
      const follows =
        other.unit === term.unit + 1 ||
        // Pairs of characters of one run overlap.
        (other.unit === term.unit &&
          next === at + 1 &&
          isPair(term) &&
          isPair(other) &&
          term.text.endsWith(other.text[0] ?? ''))
      return follows ? next : []
    }),
  )
}

const isPair = ({ text, forms }: ProximityTerm): boolean => !forms && text.length === 2 && text > '\u2e80'

function partsInOrder(
  { normal }: NormalizedText,
  places: readonly Place[],
  terms: readonly ProximityTerm[],
  rarities: readonly number[],
): Float64Array {
  const pairs = pairsInQuestion(terms)
  const weightOf = (a: number, b: number): number => Math.max(rarities[a] ?? 0, rarities[b] ?? 0)
  const all = pairs.reduce((sum, next, at) => sum + next.reduce((most, one) => Math.max(most, weightOf(at, one)), 0), 0)
  const found = new Float64Array(terms.length)
  if (all === 0) return found
  for (const [n, { end, term }] of places.entries()) {
    const followers = pairs[term] ?? []
    if (followers.length === 0) continue
    for (let next = n + 1; next < places.length; next++) {
      const other = places[next]
      if (!other || other.at > end + MAX_GAP) break
      const isOverlap = terms[other.term]?.unit === terms[term]?.unit
      if (!followers.includes(other.term) || (isOverlap ? other.at !== end - 1 : !isGap(normal, end, other.at)))
        continue
      found[term] = Math.max(found[term] ?? 0, weightOf(term, other.term) / all)
    }
  }
  return found
}

/** Whether nothing but separators is between two places. */
function isGap(normal: string, from: number, to: number): boolean {
  if (from > to) return false
  for (let at = from; at < to; at++) if (characterKindAt(normal, at) !== SEPARATOR) return false
  return true
}

function placesOf(
  { normal, folded }: NormalizedText,
  { text, forms }: Pick<ProximityTerm, 'text' | 'forms'>,
  term: number,
): readonly Place[] {
  const wanted = forms?.beginning ?? text
  const places: Place[] = []
  for (let at = folded.indexOf(wanted); at >= 0 && places.length < MAX_PLACES; at = folded.indexOf(wanted, at + 1)) {
    const isInside = isInWord(characterKindBefore(normal, at)) && /^\w/.test(wanted)
    if (isInside) continue
    let end = at + wanted.length
    // The end of a form.
    if (forms) for (let n = 0; n < MAX_ENDING && isInWord(characterKindAt(normal, end)); n++) end++
    places.push({ at, end, term })
  }
  return places
}

const MAX_ENDING = 4

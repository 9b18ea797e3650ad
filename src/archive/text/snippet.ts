/** The part of a text that shows best why it was found. */
import { never } from '../../model/error.ts'
import { edgeAfter, edgeBefore } from './edges.ts'
import { PatternTime, placesOfPattern } from './patterns.ts'
import type { Node, Query, Term } from './query.ts'
import { find, type Haystack, haystackOf, type Place } from './words/find.ts'
import { placesIn } from './words/places.ts'
import { type Sought, soughtOf } from './words/sought.ts'

export interface Snippet {
  /** A stretch of the text as it was said. */
  readonly text: string
  /** Where in it the words and patterns stand that were asked for, in UTF-16 units, in order, apart from each other. */
  readonly highlights: readonly Place[]
  /** The text goes on before and after it. */
  readonly cutBefore: boolean
  readonly cutAfter: boolean
}

/** What is asked for more often than this is not looked at again. */
const MOST_PLACES = 64

/** A place, and the number of the term or pattern that was found there. */
interface Hit {
  readonly start: number
  readonly end: number
  readonly of: number
}

/**
 * Where most of the different words stand together, or the beginning where none of them stands.
 *
 * @param length at most this many UTF-16 units
 */
export function snippet(query: Query, text: string, length: number, time: PatternTime = new PatternTime()): Snippet {
  const hits = hitsIn(query, text, time)
  const [start, end] = windowOf(text, bestHits(hits, length), length)
  const inside = hits.filter((hit) => hit.start < end && hit.end > start)
  return {
    text: text.slice(start, end),
    highlights: merged(inside.map((hit) => [Math.max(hit.start, start) - start, Math.min(hit.end, end) - start])),
    cutBefore: start > 0,
    cutAfter: end < text.length,
  }
}

/** In the order of the text. */
function hitsIn(query: Query, text: string, time: PatternTime): readonly Hit[] {
  const haystack = haystackOf(text)
  const inText = placesIn(text, haystack.normal)
  const terms = soughtIn(query)
  const places = [
    ...terms.map((spellings) => spellings.flatMap((sought) => allPlaces(haystack, sought)).map(inText)),
    ...query.patterns
      .filter(({ not }) => !not)
      .map(({ expression }) => placesOfPattern(expression, text, MOST_PLACES, time)),
  ]
  return places
    .flatMap((found, of) => found.map(([start, end]) => ({ start, end, of })))
    .sort((a, b) => a.start - b.start || b.end - a.end)
}

const known = new WeakMap<Query, readonly (readonly Sought[])[]>()

/** The same for every text of a search. */
function soughtIn(query: Query): readonly (readonly Sought[])[] {
  let sought = known.get(query)
  if (!sought) {
    sought = query.must ? termsOf(query.must).map(soughtOf) : []
    known.set(query, sought)
  }
  return sought
}

/** What is asked for, without what is excluded. */
function termsOf(node: Node): readonly Term[] {
  switch (node.kind) {
    case 'term':
      return [node]
    case 'any':
    case 'all':
      return node.of.flatMap(termsOf)
    default:
      return never(node)
  }
}

function allPlaces(haystack: Haystack, sought: Sought): readonly Place[] {
  const places: Place[] = []
  for (let at = 0; places.length < MOST_PLACES; ) {
    const place = find(haystack, sought, at)
    if (!place) break
    places.push(place)
    at = place[1]
  }
  return places
}

/** Of the hits that fit into one snippet, those with most different words; then those that are most; then the first. */
function bestHits(hits: readonly Hit[], length: number): readonly Hit[] {
  let best: readonly Hit[] = []
  let bestScore = 0
  for (const [at, first] of hits.entries()) {
    const after = hits.slice(at, at + MOST_PLACES)
    const together = after.filter((hit) => hit.end <= first.start + length)
    const score = new Set(together.map((hit) => hit.of)).size * MOST_PLACES * 2 + together.length
    if (score > bestScore) {
      best = together
      bestScore = score
    }
  }
  return best.length > 0 ? best : hits.slice(0, 1)
}

/** The hits with some of the text before and behind them, cut between words where one ends nearby. */
function windowOf(text: string, hits: readonly Hit[], length: number): Place {
  if (text.length <= length) return [0, text.length]
  const first = hits[0]?.start ?? 0
  const last = Math.max(...hits.map((hit) => hit.end), first)
  const room = Math.max(0, length - (last - first))
  const wanted = Math.max(0, Math.min(first - Math.floor(room / 3), text.length - length))
  const start = wanted === 0 ? 0 : afterSpace(text, wanted, first)
  const end = Math.min(text.length, start + length)
  return [start, end === text.length ? end : Math.max(beforeSpace(text, end, last), start)]
}

/** So far a cut may move to spare a word. */
const NEARBY = 24

function afterSpace(text: string, at: number, most: number): number {
  const space = /\s/.exec(text.slice(at - 1, Math.min(most, at + NEARBY)))
  return space ? at + space.index : Math.min(edgeAfter(text, at), most)
}

function beforeSpace(text: string, at: number, least: number): number {
  const from = Math.max(least, at - NEARBY)
  const space = /\s(?=\S*$)/.exec(text.slice(from, at + 1))
  return space ? from + space.index : edgeBefore(text, at)
}

function merged(places: readonly Place[]): readonly Place[] {
  const all: Place[] = []
  for (const [start, end] of places) {
    const last = all.at(-1)
    if (last && start <= last[1]) all[all.length - 1] = [last[0], Math.max(last[1], end)]
    else all.push([start, end])
  }
  return all
}

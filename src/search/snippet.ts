/** The part of a text that shows best why it was found. */
import { assertNever } from '../model/error.ts'
import { edgeAfter, edgeBefore } from './character-edges.ts'
import { findPattern, PatternTimeLimit } from './patterns.ts'
import type { ParsedQuery, QueryNode, QueryTerm } from './query/query.ts'
import { normalise, removeIgnored } from './words/characters.ts'
import { findSpelling, type NormalizedText, type TextRange, toNormalizedText } from './words/find-in-text.ts'
import { spellingsOfTerm, type TermSpelling } from './words/term-spellings.ts'

export interface Snippet {
  /** A stretch of the text as it was said. */
  readonly text: string
  /** Where in it the words and patterns stand that were asked for, in UTF-16 units, in order, apart from each other. */
  readonly highlights: readonly TextRange[]
  /** The text goes on before and after it. */
  readonly cutBefore: boolean
  readonly cutAfter: boolean
}

/** What is asked for more often than this is not looked at again. */
const MAX_RANGES_PER_TERM = 64

/** A place, and the number of the term or pattern that was found there. */
interface TermHit {
  readonly start: number
  readonly end: number
  readonly of: number
}

/**
 * Where most of the different words stand together, or the beginning where none of them stands.
 *
 * @param length at most this many UTF-16 units
 */
export function makeSnippet(
  query: ParsedQuery,
  text: string,
  length: number,
  time: PatternTimeLimit = new PatternTimeLimit(),
): Snippet {
  const hits = findHits(query, text, time)
  const [start, end] = chooseWindow(text, bestHits(hits, length), length)
  const inside = hits.filter((hit) => hit.start < end && hit.end > start)
  return {
    text: text.slice(start, end),
    highlights: mergeRanges(inside.map((hit) => [Math.max(hit.start, start) - start, Math.min(hit.end, end) - start])),
    cutBefore: start > 0,
    cutAfter: end < text.length,
  }
}

/** In the order of the text. */
function findHits(query: ParsedQuery, text: string, time: PatternTimeLimit): readonly TermHit[] {
  const normalizedText = toNormalizedText(text)
  const toOriginal = originalRanges(text, normalizedText.normal)
  const terms = spellingsOfQuery(query)
  const ranges = [
    ...terms.map((spellings) =>
      spellings.flatMap((spelling) => findAllRanges(normalizedText, spelling)).map(toOriginal),
    ),
    ...query.patterns
      .filter(({ not }) => !not)
      .map(({ expression }) => findPattern(expression, text, MAX_RANGES_PER_TERM, time)),
  ]
  return ranges
    .flatMap((found, of) => found.map(([start, end]) => ({ start, end, of })))
    .sort((a, b) => a.start - b.start || b.end - a.end)
}

const spellingsByQuery = new WeakMap<ParsedQuery, readonly (readonly TermSpelling[])[]>()

/** The same for every text of a search. */
function spellingsOfQuery(query: ParsedQuery): readonly (readonly TermSpelling[])[] {
  let spelling = spellingsByQuery.get(query)
  if (!spelling) {
    spelling = query.must ? requiredTerms(query.must).map(spellingsOfTerm) : []
    spellingsByQuery.set(query, spelling)
  }
  return spelling
}

/** What is asked for, without what is excluded. */
function requiredTerms(node: QueryNode): readonly QueryTerm[] {
  switch (node.kind) {
    case 'term':
      return [node]
    case 'any':
    case 'all':
      return node.of.flatMap(requiredTerms)
    default:
      return assertNever(node)
  }
}

function findAllRanges(normalizedText: NormalizedText, spelling: TermSpelling): readonly TextRange[] {
  const ranges: TextRange[] = []
  for (let at = 0; ranges.length < MAX_RANGES_PER_TERM; ) {
    const range = findSpelling(normalizedText, spelling, at)
    if (!range) break
    ranges.push(range)
    at = range[1]
  }
  return ranges
}

/** Of the hits that fit into one snippet, those with most different words; then those that are most; then the first. */
function bestHits(hits: readonly TermHit[], length: number): readonly TermHit[] {
  let best: readonly TermHit[] = []
  let bestScore = 0
  for (const [at, first] of hits.entries()) {
    const after = hits.slice(at, at + MAX_RANGES_PER_TERM)
    const fitting = after.filter((hit) => hit.end <= first.start + length)
    const score = new Set(fitting.map((hit) => hit.of)).size * MAX_RANGES_PER_TERM * 2 + fitting.length
    if (score > bestScore) {
      best = fitting
      bestScore = score
    }
  }
  return best.length > 0 ? best : hits.slice(0, 1)
}

/** The hits with some of the text before and behind them, cut between words where one ends nearby. */
function chooseWindow(text: string, hits: readonly TermHit[], length: number): TextRange {
  if (text.length <= length) return [0, text.length]
  const first = hits[0]?.start ?? 0
  const last = Math.max(...hits.map((hit) => hit.end), first)
  const spare = Math.max(0, length - (last - first))
  const wanted = Math.max(0, Math.min(first - Math.floor(spare / 3), text.length - length))
  const start = wanted === 0 ? 0 : afterSpace(text, wanted, first)
  const end = Math.min(text.length, start + length)
  return [start, end === text.length ? end : Math.max(beforeSpace(text, end, last), start)]
}

/** So far a cut may move to spare a word. */
const MAX_CUT_SHIFT = 24

function afterSpace(text: string, at: number, most: number): number {
  const space = /\s/.exec(text.slice(at - 1, Math.min(most, at + MAX_CUT_SHIFT)))
  return space ? at + space.index : Math.min(edgeAfter(text, at), most)
}

function beforeSpace(text: string, at: number, least: number): number {
  const from = Math.max(least, at - MAX_CUT_SHIFT)
  const space = /\s(?=\S*$)/.exec(text.slice(from, at + 1))
  return space ? from + space.index : edgeBefore(text, at)
}

function mergeRanges(ranges: readonly TextRange[]): readonly TextRange[] {
  const all: TextRange[] = []
  for (const [start, end] of ranges) {
    const last = all.at(-1)
    if (last && start <= last[1]) all[all.length - 1] = [last[0], Math.max(last[1], end)]
    else all.push([start, end])
  }
  return all
}

// Finds in the text as it was said what was found in its normal form, whose characters are fewer or more.

/** What may compose with the character before it: marks, the half-width voicing marks, and the later letters of a Korean syllable. */
const COMPOSES = '\\p{M}\\uff9e\\uff9f\\u1160-\\u11ff\\u3131-\\u318e\\uffa0-\\uffdc'
/** Before one of these a text may be cut before it is normalised. */
const INERT = new RegExp(`[^${COMPOSES}]`, 'gu')
const CLUSTER = new RegExp(`[\\s\\S][${COMPOSES}]*`, 'gu')
const BLOCK_LENGTH = 512

interface TextBlock {
  readonly start: number
  readonly normalStart: number
  readonly text: string
}

/** From places in the normal form to places in the text. */
function originalRanges(text: string, normal: string): (range: TextRange) => TextRange {
  if (text === normal) return (range) => range
  const blocks = blocksOf(text)
  return ([start, end]) => [clusterAt(blocks, start)[0], clusterAt(blocks, Math.max(start, end - 1))[1]]
}

function blocksOf(text: string): readonly TextBlock[] {
  const blocks: TextBlock[] = []
  for (let start = 0, normalStart = 0; start < text.length; ) {
    INERT.lastIndex = start + BLOCK_LENGTH
    const block = text.slice(start, INERT.exec(text)?.index ?? text.length)
    blocks.push({ start, normalStart, text: block })
    start += block.length
    normalStart += normalLength(block)
  }
  return blocks
}

/** The characters of the text that became the one at `at` of the normal form. */
function clusterAt(blocks: readonly TextBlock[], at: number): TextRange {
  const block = blocks.findLast((one) => one.normalStart <= at)
  if (!block) return [0, 0]
  let remaining = at - block.normalStart
  for (const { 0: cluster, index } of block.text.matchAll(CLUSTER)) {
    let start = block.start + index
    for (const piece of splitCluster(cluster)) {
      remaining -= normalLength(piece)
      if (remaining < 0) return [start, start + piece.length]
      start += piece.length
    }
  }
  return [block.start + block.text.length, block.start + block.text.length]
}

/** The characters of a cluster where each stays by itself; all of it where some compose, change places or vanish. */
function splitCluster(cluster: string): readonly string[] {
  const characters = Array.from(cluster)
  if (characters.length === 1) return characters
  const normal = characters.map(normalFormOf)
  return !normal.includes('') && normal.join('') === normalFormOf(cluster) ? characters : [cluster]
}

const normalFormOf = (text: string): string => removeIgnored(normalise(text))
const normalLength = (text: string): number => normalFormOf(text).length

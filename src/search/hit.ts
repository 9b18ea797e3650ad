/** A search hit: a message with the snippet that shows best why it matches. */

import type { IndexedMessage } from '../index/records.ts'
import { assertNever } from '../model/error.ts'
import type { SessionId } from '../model/ids.ts'
import type { NormalizedMessage, Role, SourceType } from '../model/normalized.ts'
import { type SearchableTextOptions, searchableTextOf } from '../model/searchable-text.ts'
import { findTouchedFiles } from '../model/touched-files.ts'
import { findPattern, matchesQuery, PatternTimeLimit } from './matching.ts'
import type { ParsedQuery, QueryNode, QueryTerm, ScopedFields, SearchScope } from './query/query.ts'
import { normalise, removeIgnored } from './words/characters.ts'
import {
  findSpelling,
  type NormalizedText,
  spellingsOfTerm,
  type TermSpelling,
  type TextRange,
  toNormalizedText,
} from './words/term-spellings.ts'

/**
 * Characters that belong to the one before them: marks, joiners, selectors, skin tones, half-width voicing marks, later
 * letters of a Korean syllable.
 */
const EXTENDS_CHARACTER = /^(?:\u200d|[\p{M}\uff9e\uff9f\u1160-\u11ff\p{Emoji_Modifier}\u{e0020}-\u{e007f}])/u
/** Two of these letters make a flag. */
const FLAG_LETTERS = /\p{Regional_Indicator}+$/u
const MAX_CHARACTER_LENGTH = 32

/** The nearest character boundary at or before `at`. Cuts characters of absurd length. */
export function edgeBefore(text: string, at: number): number {
  let edge = Math.max(0, Math.min(at, text.length))
  const first = edge - MAX_CHARACTER_LENGTH
  while (edge > first && isInsideCharacter(text, edge)) edge--
  return isInsidePair(text, edge) ? edge - 1 : edge
}

/** The nearest character boundary at or after `at`. */
export function edgeAfter(text: string, at: number): number {
  let edge = Math.max(0, Math.min(at, text.length))
  const last = edge + MAX_CHARACTER_LENGTH
  while (edge < last && isInsideCharacter(text, edge)) edge++
  return isInsidePair(text, edge) ? edge + 1 : edge
}

function isInsideCharacter(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false
  if (isInsidePair(text, at) || text[at - 1] === '\u200d') return true
  const next = String.fromCodePoint(text.codePointAt(at) ?? 0)
  if (EXTENDS_CHARACTER.test(next)) return true
  const flags = FLAG_LETTERS.test(next)
    ? FLAG_LETTERS.exec(text.slice(Math.max(0, at - MAX_CHARACTER_LENGTH), at))
    : undefined
  return flags ? (flags[0].length / 2) % 2 === 1 : false
}

const isInsidePair = (text: string, at: number): boolean =>
  (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800

export interface Snippet {
  /** Part of the original text. */
  readonly text: string
  /** Matches of words and patterns, in UTF-16 units, in order and without overlap. */
  readonly highlights: readonly TextRange[]
  /** Whether text was cut off before and after the snippet. */
  readonly cutBefore: boolean
  readonly cutAfter: boolean
}

/** Further matches of the same term are ignored. */
const MAX_RANGES_PER_TERM = 64

/** A match and the number of its term or pattern. */
interface TermHit {
  readonly start: number
  readonly end: number
  readonly of: number
}

/**
 * Returns the part of the text with the most different terms, or the beginning if none occurs in it.
 *
 * @param length maximum, in UTF-16 units
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

/** Sorted by position. */
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

/** Cached, because they are the same for every text of a search. */
function spellingsOfQuery(query: ParsedQuery): readonly (readonly TermSpelling[])[] {
  let spelling = spellingsByQuery.get(query)
  if (!spelling) {
    spelling = query.must ? requiredTerms(query.must).map(spellingsOfTerm) : []
    spellingsByQuery.set(query, spelling)
  }
  return spelling
}

/** Terms that must or may match, without the excluded ones. */
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

/** Of the groups of hits that fit into a snippet: the most different terms, then the most hits, then the first. */
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

/** Surrounds the hits with text, cut between words if a boundary is close. */
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

/** How far a cut may move to avoid splitting a word. */
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

/**
 * Characters that may compose with the one before: marks, half-width voicing marks, later letters of a Korean syllable.
 */
const COMPOSES = '\\p{M}\\uff9e\\uff9f\\u1160-\\u11ff\\u3131-\\u318e\\uffa0-\\uffdc'
/** A text can be cut before one of these without changing its normal form. */
const INERT = new RegExp(`[^${COMPOSES}]`, 'gu')
const CLUSTER = new RegExp(`[\\s\\S][${COMPOSES}]*`, 'gu')
const BLOCK_LENGTH = 512

interface TextBlock {
  readonly start: number
  readonly normalStart: number
  readonly text: string
}

/** Maps ranges of the normal form to ranges of the original text, whose length may differ. */
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

/** The range of the text that became the character at `at` of the normal form. */
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

/** Splits a cluster into characters, or returns it unsplit if some of them compose, reorder or disappear. */
function splitCluster(cluster: string): readonly string[] {
  const characters = Array.from(cluster)
  if (characters.length === 1) return characters
  const normal = characters.map(normalFormOf)
  return !normal.includes('') && normal.join('') === normalFormOf(cluster) ? characters : [cluster]
}

const normalFormOf = (text: string): string => removeIgnored(normalise(text))
const normalLength = (text: string): number => normalFormOf(text).length

export interface MessageHit {
  readonly session_id: SessionId
  readonly message_id: string
  /** Null if the log records no time. */
  readonly timestamp: string | null
  readonly role: Role
  readonly source_type: SourceType
  readonly tool?: string
  /** The field that matched. */
  readonly scope: SearchScope
  /** Absent if the source is gone. */
  readonly snippet?: Snippet
  /** Only names of arguments or of fields in output match, not their values or anything that was said. */
  readonly keys_only?: true
  /** The source is gone, and the index cannot decide whether the message matches: it does not know the order of words. */
  readonly unverified?: true
}

/** UTF-16 units. */
export const DEFAULT_SNIPPET_LENGTH = 240

export type HitBase = Omit<MessageHit, 'scope' | 'snippet'>

export function hitBaseOf({ session, id, timestamp, role, source_type, tool }: IndexedMessage): HitBase {
  return { session_id: session, message_id: id, timestamp, role, source_type, ...(tool !== undefined && { tool }) }
}

/**
 * A snippet of arguments or output shows their values, without names, where these match.
 *
 * @param scope the field that shows best why the message matches
 * @param snippet of this field, with names
 */
export function withoutKeys(
  query: ParsedQuery,
  message: NormalizedMessage,
  { scope, snippet }: { readonly scope: SearchScope; readonly snippet: Snippet },
  length: number,
  time?: PatternTimeLimit,
): Pick<MessageHit, 'snippet' | 'keys_only'> {
  if (scope !== 'arguments' && scope !== 'output') return { snippet }
  const fields = searchFieldsOf(message, query, { withoutKeys: true })
  if (query.must && query.patterns.length === 0 && !matchesQuery(query, fields)) return { snippet, keys_only: true }
  const values = makeSnippet(query, fields[scope] ?? '', length, time)
  return { snippet: values.highlights.length < snippet.highlights.length ? snippet : values }
}

export function searchFieldsOf(
  message: NormalizedMessage,
  query: ParsedQuery,
  options?: SearchableTextOptions,
): ScopedFields {
  const { context, ...searchable } = searchableTextOf(message, options)
  const files = findTouchedFiles(message)
  return {
    ...searchable,
    ...(files.length > 0 && { file: files.map(({ path }) => path).join('\n') }),
    ...(context !== undefined && query.scopes?.includes('context') && { context }),
  }
}

const SCOPE_WEIGHTS: { readonly [scope in SearchScope]?: number } = {
  prompt: 3,
  answer: 2,
  title: 3,
  reasoning: 1,
  arguments: 1,
  output: 0.5,
}

/** Snippet of the field that shows best why the message matches. */
export function bestSnippet(query: ParsedQuery, fields: ScopedFields, length: number, time?: PatternTimeLimit) {
  let best: { scope: SearchScope; snippet: Snippet; score: number } | undefined
  for (const [scope, text] of Object.entries(fields) as [SearchScope, string][]) {
    if (query.scopes && !query.scopes.includes(scope)) continue
    const excerpt = makeSnippet(query, text, length, time)
    const score = (Math.min(excerpt.highlights.length, 8) * (SCOPE_WEIGHTS[scope] ?? 1)) / Math.log2(16 + text.length)
    if (!best || score > best.score) best = { scope, snippet: excerpt, score }
  }
  return best ?? { scope: 'prompt' as const, snippet: EMPTY_SNIPPET, score: 0 }
}

const EMPTY_SNIPPET: Snippet = { text: '', highlights: [], cutBefore: false, cutAfter: false }

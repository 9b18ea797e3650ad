/**
 * Ranks rows by relevance: BM25 over the fields of each message, with a weight for each field, and a bonus for recent
 * messages.
 */
import { timeOfId } from '../../index/row-encoding.ts'
import { scopeOfTraits } from '../../index/text-segments.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { TEXT_SCOPES, type TextScope } from '../../model/searchable-text.ts'
import type { ParsedQuery } from '../query/query.ts'
import type { PostingList } from '../segments/blocks.ts'
import { lengthOfCode } from '../segments/term-builder.ts'
import { filterRows, isInRanges, type RowSearchOptions, searchConditions, traitTestOf } from './find-rows.ts'
import { matchSegment, planOf, wordsOfPlan } from './query-plan.ts'
import { type LoadedSegment, loadSegment, lookUp, readSegments, removedTest } from './segment-reader.ts'

export interface RankedRows {
  /** The best first. */
  readonly rows: readonly number[]
  readonly doubtful: ReadonlySet<number>
  /** Number of rows that may match, before the limit. */
  readonly matched: number
}

/** What people say is worth more than what tools print. */
const SCOPE_WEIGHTS: { readonly [scope in TextScope]: number } = {
  prompt: 3,
  answer: 2,
  reasoning: 1,
  file: 1,
  arguments: 0.8,
  context: 0.5,
  output: 0.4,
}
const WEIGHTS = TEXT_SCOPES.map((scope) => SCOPE_WEIGHTS[scope])

/** How fast repetitions of a word count less. */
const SATURATION = 1.2
/** How much a long field counts less. */
const LENGTH_PENALTY = 0.6
/** A message of today counts this much more than a very old one. */
const RECENCY_BONUS = 0.5
const RECENCY_HALF_LIFE_MS = 30 * 86_400_000

interface SegmentPostings {
  readonly segment: LoadedSegment
  /** Messages that may match, and those of them that match for sure. */
  readonly messages: ReadonlySet<number>
  readonly sure: ReadonlySet<number>
  /** For each word of the query. */
  readonly lists: readonly PostingList[]
}

export function rankRows(db: Db, query: ParsedQuery, options: RowSearchOptions): RankedRows {
  const plan = planOf(query)
  const words = wordsOfPlan(plan)
  const { where, ranges } = searchConditions(db, query, options, { withoutTraits: true })
  const hasTraits = traitTestOf(query.filters)
  const found: SegmentPostings[] = []
  const frequencies = words.map(() => 0)
  let documents = 0
  let length = 0
  for (const row of readSegments(db)) {
    const segment = loadSegment(db, row)
    documents += row.documents
    length += wordsIn(segment)
    const lists = words.map(({ bytes, isPrefix }) => lookUp(db, segment, bytes, isPrefix))
    for (const [at, { count }] of lists.entries()) frequencies[at] = (frequencies[at] ?? 0) + count
    if (lists.every(({ count }) => count === 0)) continue
    if (!ranges.some(({ low, high }) => row.low < high && row.high >= low)) continue
    const { sure, maybe } = matchSegment(db, segment, plan)
    if (maybe.length > 0) found.push({ segment, messages: new Set(maybe), sure: new Set(sure), lists })
  }
  const rarities = frequencies.map((count) => Math.log(1 + (documents - count + 0.5) / (count + 0.5)))
  const isRemoved = removedTest(db)
  const newest = timeOfId(found.reduce((high, { segment }) => Math.max(high, segment.row.high), 0))
  const scores = new Map<number, number>()
  const doubtful = new Set<number>()
  for (const postings of found) {
    const { segment, sure } = postings
    for (const [message, score] of scoresOf(postings, rarities, length / Math.max(1, documents), plan.scopes)) {
      const row = segment.rows[message] ?? 0
      if (row === 0 || isRemoved?.(row, segment.row.id) || !isInRanges(row, ranges)) continue
      if (!hasTraits(segment.traits[message] ?? 0)) continue
      const age = Math.max(0, newest - timeOfId(row))
      scores.set(row, score * (1 + RECENCY_BONUS * 2 ** (-age / RECENCY_HALF_LIFE_MS)))
      if (!sure.has(message)) doubtful.add(row)
    }
  }
  const ranked = [...scores].sort(([a, scoreA], [b, scoreB]) => scoreB - scoreA || b - a).map(([row]) => row)
  const rows = filterRows(db, ranked, where, options.limit).slice(0, options.limit)
  return { rows, doubtful, matched: ranked.length }
}

function scoresOf(
  { segment, messages, lists }: SegmentPostings,
  rarities: readonly number[],
  averageLength: number,
  scopes: number,
): ReadonlyMap<number, number> {
  const scores = new Map<number, number>()
  for (const message of messages) scores.set(message, 0)
  for (const [word, list] of lists.entries())
    for (let at = 0; at < list.count; at++) {
      const document = list.documents[at] ?? 0
      const message = segment.messages[document] ?? 0
      const scope = scopeOfTraits(segment.traits[document] ?? 0)
      if ((scopes & (1 << scope)) === 0) continue
      const before = scores.get(message)
      if (before === undefined) continue
      const frequency = list.frequencies[at] ?? 1
      const relativeLength = lengthOfCode(segment.lengths[document] ?? 0) / averageLength
      const norm = SATURATION * (1 - LENGTH_PENALTY + LENGTH_PENALTY * relativeLength)
      const score = ((rarities[word] ?? 0) * frequency * (SATURATION + 1)) / (frequency + norm)
      scores.set(message, before + score * (WEIGHTS[scope] ?? 1))
    }
  return scores
}

const wordCounts = new WeakMap<LoadedSegment, number>()

function wordsIn(segment: LoadedSegment): number {
  let words = wordCounts.get(segment)
  if (words === undefined) {
    words = segment.lengths.reduce((sum, code) => sum + lengthOfCode(code), 0)
    wordCounts.set(segment, words)
  }
  return words
}

/**
 * Ranks rows by relevance: BM25 over the fields of each message, with a weight for each field, and a bonus for recent
 * messages.
 */
import { timeOfId } from '../../index/row-encoding.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { TEXT_SCOPES, type TextScope } from '../../model/searchable-text.ts'
import type { ParsedQuery } from '../query/query.ts'
import { PostingList } from '../segments/postings.ts'
import { lengthOfCode } from '../segments/term-builder.ts'
import { selectMessages } from './conditions.ts'
import type { RowCount, RowSearchOptions } from './find-rows.ts'
import { MAYBE, matchSegment, planOf, wordsOfPlan } from './query-plan.ts'
import { type LoadedSegment, loadSegment, lookUp, readSegments } from './segment-reader.ts'

export interface RankedRows {
  /** The best first. */
  readonly rows: readonly number[]
  readonly doubtful: ReadonlySet<number>
  /** Of all rows that match, not only of the best. */
  readonly count: RowCount
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
  readonly matches: Uint8Array
  /** For each word of the query. */
  readonly lists: readonly PostingList[]
}

export function rankRows(db: Db, query: ParsedQuery, options: RowSearchOptions): RankedRows {
  const plan = planOf(query)
  const words = wordsOfPlan(plan)
  const selection = selectMessages(db, query.filters, options)
  const found: SegmentPostings[] = []
  const frequencies = words.map(() => 0)
  let documents = 0
  let length = 0
  for (const row of readSegments(db)) {
    const segment = loadSegment(db, row)
    documents += row.documents
    length += wordsIn(segment)
    const lists = words.map(({ bytes, isPrefix }) => {
      const list = new PostingList()
      lookUp(db, segment, bytes, isPrefix, list)
      return list
    })
    for (const [at, { count }] of lists.entries()) frequencies[at] = (frequencies[at] ?? 0) + count
    if (!selection.mayContain(row) || lists.every(({ count }) => count === 0)) continue
    const matches = matchSegment(db, segment, plan)
    if (matches) found.push({ segment, matches: matches.slice(), lists })
  }
  const rarities = frequencies.map((count) => Math.log(1 + (documents - count + 0.5) / (count + 0.5)))
  const newest = timeOfId(found.reduce((high, { segment }) => Math.max(high, segment.row.high), 0))
  const ranked: { readonly row: number; readonly score: number }[] = []
  const doubtful = new Set<number>()
  for (const postings of found) {
    const { segment, matches } = postings
    selection.restrict(segment, matches)
    const scores = scoresOf(postings, rarities, length / Math.max(1, documents), plan.scopes)
    for (const [message, score] of scores.entries()) {
      if ((matches[message] ?? 0) === 0) continue
      const row = segment.messages.rows[message] ?? 0
      const age = Math.max(0, newest - timeOfId(row))
      ranked.push({ row, score: score * (1 + RECENCY_BONUS * 2 ** (-age / RECENCY_HALF_LIFE_MS)) })
      if (matches[message] === MAYBE) doubtful.add(row)
    }
  }
  ranked.sort((a, b) => b.score - a.score || b.row - a.row)
  return {
    rows: ranked.slice(0, options.limit).map(({ row }) => row),
    doubtful,
    count: { sure: ranked.length - doubtful.size, doubtful: doubtful.size },
  }
}

/** For each message of the segment. */
function scoresOf(
  { segment, matches, lists }: SegmentPostings,
  rarities: readonly number[],
  averageLength: number,
  scopes: number,
): Float64Array {
  const { ofDocument, scopes: scopesOfDocuments, lengths, count } = segment.messages
  const scores = new Float64Array(count)
  for (const [word, list] of lists.entries())
    for (let at = 0; at < list.count; at++) {
      const document = list.documents[at] ?? 0
      const message = ofDocument[document] ?? count
      const scope = scopesOfDocuments[document] ?? 0
      if ((scopes & (1 << scope)) === 0 || (matches[message] ?? 0) === 0) continue
      const frequency = list.frequencies[at] ?? 1
      const relativeLength = lengthOfCode(lengths[document] ?? 0) / averageLength
      const norm = SATURATION * (1 - LENGTH_PENALTY + LENGTH_PENALTY * relativeLength)
      const score = ((rarities[word] ?? 0) * frequency * (SATURATION + 1)) / (frequency + norm)
      scores[message] = (scores[message] ?? 0) + score * (WEIGHTS[scope] ?? 1)
    }
  return scores
}

const wordCounts = new WeakMap<LoadedSegment, number>()

function wordsIn(segment: LoadedSegment): number {
  let words = wordCounts.get(segment)
  if (words === undefined) {
    words = segment.messages.lengths.reduce((sum, code) => sum + lengthOfCode(code), 0)
    wordCounts.set(segment, words)
  }
  return words
}

/**
 * Ranks messages that contain any of some terms. A message is the better the rarer the terms it contains, the more of
 * them, the more often, in the better field and the shorter text; and the more of them its session contains.
 */
import { timeOfId } from '../../index/row-encoding.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { TEXT_SCOPES, type TextScope } from '../../model/searchable-text.ts'
import type { QueryFilter, SearchScope } from '../query/query.ts'
import { PostingList } from '../segments/postings.ts'
import { lengthOfCode } from '../segments/term-builder.ts'
import { type SelectionOptions, selectMessages } from './conditions.ts'
import type { RankedTerm } from './question-terms.ts'
import { type LoadedSegment, loadSegment, lookUp, lookUpForms, readSegments } from './segment-reader.ts'

export interface RankAnyOptions extends SelectionOptions {
  readonly filters?: readonly QueryFilter[]
  /** Fields to search; default: all except `context`. */
  readonly scopes?: readonly SearchScope[] | undefined
  readonly limit: number
}

export interface RankedRow {
  readonly row: number
  readonly score: number
  /** Numbers of the terms that the message contains. */
  readonly terms: readonly number[]
  /** How much of the question they are, by their rarity: 0 to 1. */
  readonly coverage: number
}

export interface RankedRows {
  /** The best first. */
  readonly rows: readonly RankedRow[]
  /** Messages that contain at least half of the question, and how many that would be without filters. */
  readonly total: number
  readonly unfiltered: number
  /** For each term, how much it says: 0 if nothing contains it. */
  readonly rarities: readonly number[]
}

/** What people say is worth more than what tools print. */
const SCOPE_WEIGHTS: { readonly [scope in TextScope]: number } = {
  prompt: 1.5,
  answer: 1.3,
  reasoning: 0.8,
  file: 0.9,
  arguments: 0.9,
  context: 0.3,
  output: 0.7,
}
const weightsOf = (scopes: readonly SearchScope[] | undefined): readonly number[] =>
  TEXT_SCOPES.map((scope) => ((scopes ? scopes.includes(scope) : scope !== 'context') ? SCOPE_WEIGHTS[scope] : 0))

/** How fast repetitions of a word count less. */
const SATURATION = 1.2
/** How much a field that is longer than usual counts less. */
const LENGTH_PENALTY = 0.5
/** A message of today counts this much more than a very old one. */
const RECENCY_BONUS = 0.1
const RECENCY_HALF_LIFE_MS = 60 * 86_400_000
/** How much a session counts besides its best message. Question and answer are different messages. */
const SESSION_SHARE = 0.7
/** How much of a tool's output counts for its session: it lists many things that the session is not about. */
const OUTPUT_SHARE = 0.5
const OUTPUT = TEXT_SCOPES.indexOf('output')
/** Of these a message must contain half. */
const GOOD_COVERAGE = 0.5

interface SegmentPostings {
  readonly segment: LoadedSegment
  readonly mayMatch: boolean
  /** One for each term. */
  readonly lists: readonly PostingList[]
}

/** @param terms at most 32 */
export function rankAny(db: Db, terms: readonly RankedTerm[], options: RankAnyOptions): RankedRows {
  const selection = selectMessages(db, options.filters ?? [], options)
  const found: SegmentPostings[] = []
  const frequencies = terms.map(() => 0)
  const lengths = new FieldLengths()
  let documents = 0
  for (const row of readSegments(db)) {
    const segment = loadSegment(db, row)
    documents += row.documents
    lengths.add(segment)
    const lists = terms.map((term) => postingsOf(db, segment, term))
    for (const [at, { count }] of lists.entries()) frequencies[at] = (frequencies[at] ?? 0) + count
    if (lists.some(({ count }) => count > 0)) found.push({ segment, mayMatch: selection.mayContain(row), lists })
  }
  const rarities = frequencies.map((count, at) =>
    count === 0 ? 0 : (terms[at]?.weight ?? 0) * Math.log(1 + (documents - count + 0.5) / (count + 0.5)),
  )
  const weights = weightsOf(options.scopes)
  const order = orderOfTerms(rarities)
  const best = new BestRows(options.limit * 4)
  const sessionTerms = new SessionTerms(terms.length)
  let total = 0
  let unfiltered = 0
  const newest = timeOfId(found.reduce((high, { segment }) => Math.max(high, segment.row.high), 0))
  for (const postings of found) {
    const { segment, mayMatch } = postings
    const { count, rows, sessions } = segment.messages
    scorer.score(postings, rarities, order, weights, lengths, sessionTerms)
    const { scores, coverages, masks, touched, touchedCount } = scorer
    const isSelected = scorer.allSelected(count)
    if (mayMatch) selection.restrict(segment, isSelected)
    for (let at = 0; at < touchedCount; at++) {
      const message = touched[at] ?? 0
      if (message === count) continue
      const session = sessions[message] ?? 0
      const mask = masks[message] ?? 0
      const coverage = coverages[message] ?? 0
      const isGood = coverage >= GOOD_COVERAGE
      if (isGood) unfiltered++
      if (!mayMatch || isSelected[message] === 0) continue
      if (isGood) total++
      const least = (scores[message] ?? 0) * coverage
      if (least * (1 + RECENCY_BONUS) <= best.least) continue
      const row = rows[message] ?? 0
      const age = Math.max(0, newest - timeOfId(row))
      const score = least * (1 + RECENCY_BONUS * 2 ** (-age / RECENCY_HALF_LIFE_MS))
      if (score > best.least) best.add({ row, score, mask, coverage, session })
    }
  }
  const ranked = best
    .take()
    .map(({ row, score, mask, coverage, session }) => ({
      row,
      score: score + SESSION_SHARE * sessionTerms.scoreOf(session, rarities),
      terms: terms.flatMap((_, at) => (mask & (1 << at) ? at : [])),
      coverage,
    }))
    .sort((a, b) => b.score - a.score || b.row - a.row)
  return { rows: ranked.slice(0, options.limit), total, unfiltered, rarities }
}

function postingsOf(db: Db, segment: LoadedSegment, { word, forms }: RankedTerm): PostingList {
  const list = new PostingList()
  if (forms) lookUpForms(db, segment, forms.beginning, forms.endings, list)
  else lookUp(db, segment, word, false, list)
  return list
}

interface TermOrder {
  /** The rarest first. */
  readonly terms: readonly number[]
  /** So many of them make up most of the question. A message without any of them is not among the best. */
  readonly essential: number
}

/** What the other terms may be of a question. Less than `GOOD_COVERAGE`. */
const MAX_FREQUENT_PART = 0.4

function orderOfTerms(rarities: readonly number[]): TermOrder {
  const terms = rarities.map((_, at) => at).sort((a, b) => (rarities[b] ?? 0) - (rarities[a] ?? 0))
  let rest = rarities.reduce((sum, one) => sum + one, 0)
  const most = rest * MAX_FREQUENT_PART
  let essential = 0
  for (const term of terms) {
    if (rest <= most) break
    rest -= rarities[term] ?? 0
    essential++
  }
  return { terms, essential }
}

/** Adds up the scores of a segment's messages, in buffers that all segments share. */
class Scorer {
  scores = new Float64Array(0)
  coverages = new Float64Array(0)
  /** The terms of a message, one bit each. */
  masks = new Uint32Array(0)
  /** Messages with an essential term. `count` stands for documents without a message. */
  touched = new Uint32Array(0)
  touchedCount = 0
  #selected = new Uint8Array(0)

  score(
    { segment, lists }: SegmentPostings,
    rarities: readonly number[],
    { terms, essential }: TermOrder,
    weights: readonly number[],
    lengths: FieldLengths,
    sessionTerms: SessionTerms,
  ): void {
    const { ofDocument, scopes, lengths: codes, count, sessions } = segment.messages
    const { scores, coverages, masks, touched } = this.#clear(count + 1)
    const all = rarities.reduce((sum, one) => sum + one, 0)
    for (const [place, term] of terms.entries()) {
      const list = lists[term]
      if (!list) continue
      const rarity = rarities[term] ?? 0
      const bit = 1 << term
      for (let at = 0; at < list.count; ) {
        const message = ofDocument[list.documents[at] ?? 0] ?? count
        const isSkipped = place >= essential && masks[message] === 0
        let frequency = 0
        let forSession = 0
        // The documents of a message are adjacent.
        do {
          const document = list.documents[at] ?? 0
          const scope = scopes[document] ?? 0
          const weight = weights[scope] ?? 0
          if (!isSkipped && weight > 0) {
            const share = ((list.frequencies[at] ?? 1) * weight) / lengths.norm(scope, codes[document] ?? 0)
            frequency += share
            forSession += scope === OUTPUT ? share * OUTPUT_SHARE : share
          }
          at++
        } while (at < list.count && ofDocument[list.documents[at] ?? 0] === message)
        if (frequency === 0) continue
        if (message < count) sessionTerms.add(sessions[message] ?? 0, term, forSession / (forSession + SATURATION))
        if (masks[message] === 0) touched[this.touchedCount++] = message
        scores[message] = (scores[message] ?? 0) + (rarity * frequency) / (frequency + SATURATION)
        coverages[message] = (coverages[message] ?? 0) + rarity / all
        masks[message] = (masks[message] ?? 0) | bit
      }
    }
  }

  /** One for each message. */
  allSelected(count: number): Uint8Array {
    if (this.#selected.length < count) this.#selected = new Uint8Array(count * 2)
    return this.#selected.subarray(0, count).fill(1)
  }

  #clear(count: number): this {
    this.touchedCount = 0
    if (this.scores.length < count) {
      this.scores = new Float64Array(count * 2)
      this.coverages = new Float64Array(count * 2)
      this.masks = new Uint32Array(count * 2)
      this.touched = new Uint32Array(count * 2)
    } else {
      this.scores.fill(0, 0, count)
      this.coverages.fill(0, 0, count)
      this.masks.fill(0, 0, count)
    }
    return this
  }
}

const scorer = new Scorer()

/** Lengths of the fields of each scope, for the norm of their frequencies. */
class FieldLengths {
  readonly #words = new Float64Array(8)
  readonly #fields = new Float64Array(8)
  readonly #norms = new Float64Array(8 * 256)

  add(segment: LoadedSegment): void {
    const { words, fields } = fieldsIn(segment)
    for (let scope = 0; scope < 8; scope++) {
      this.#words[scope] = (this.#words[scope] ?? 0) + (words[scope] ?? 0)
      this.#fields[scope] = (this.#fields[scope] ?? 0) + (fields[scope] ?? 0)
    }
  }

  /** @param code see `lengthCode` */
  norm(scope: number, code: number): number {
    const at = scope * 256 + code
    const known = this.#norms[at] ?? 0
    if (known > 0) return known
    const average = (this.#words[scope] ?? 0) / Math.max(1, this.#fields[scope] ?? 0)
    const norm = 1 - LENGTH_PENALTY + (LENGTH_PENALTY * lengthOfCode(code)) / Math.max(1, average)
    this.#norms[at] = norm
    return norm
  }
}

interface FieldCounts {
  readonly words: Float64Array
  readonly fields: Float64Array
}

const countsBySegment = new WeakMap<LoadedSegment, FieldCounts>()

function fieldsIn(segment: LoadedSegment): FieldCounts {
  const known = countsBySegment.get(segment)
  if (known) return known
  const words = new Float64Array(8)
  const fields = new Float64Array(8)
  const { scopes, lengths } = segment.messages
  for (let document = 0; document < scopes.length; document++) {
    const scope = scopes[document] ?? 0
    words[scope] = (words[scope] ?? 0) + lengthOfCode(lengths[document] ?? 0)
    fields[scope] = (fields[scope] ?? 0) + 1
  }
  const counts = { words, fields }
  countsBySegment.set(segment, counts)
  return counts
}

/** How well each session matches each term: as its best message does. */
class SessionTerms {
  readonly #terms: number
  #best = new Float32Array(0)

  constructor(terms: number) {
    this.#terms = terms
  }

  /** @param share 0 to 1 */
  add(session: number, term: number, share: number): void {
    const at = session * this.#terms + term
    if (at >= this.#best.length) {
      const grown = new Float32Array(Math.max(this.#best.length * 2, at + 1, 1024))
      grown.set(this.#best)
      this.#best = grown
    }
    if (share > (this.#best[at] ?? 0)) this.#best[at] = share
  }

  /** A session that matches all terms counts more than one that matches half of them twice as well. */
  scoreOf(session: number, rarities: readonly number[]): number {
    let sum = 0
    let all = 0
    for (const [term, rarity] of rarities.entries()) {
      sum += rarity * (this.#best[session * this.#terms + term] ?? 0)
      all += rarity
    }
    return all === 0 ? 0 : sum ** 2 / all
  }
}

interface ScoredRow {
  readonly row: number
  readonly score: number
  readonly mask: number
  readonly coverage: number
  readonly session: number
}

/** Keeps the best of many rows. */
class BestRows {
  /** No row with this score or less is among the best. */
  least = 0
  readonly #limit: number
  #rows: ScoredRow[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  add(row: ScoredRow): void {
    this.#rows.push(row)
    if (this.#rows.length < this.#limit * 4) return
    this.#rows = this.take().slice(0, this.#limit)
    this.least = this.#rows.at(-1)?.score ?? 0
  }

  take(): ScoredRow[] {
    return this.#rows.sort((a, b) => b.score - a.score || b.row - a.row)
  }
}

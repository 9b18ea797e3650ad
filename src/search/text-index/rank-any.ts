/**
 * Ranks messages that contain any of some terms. First the sessions that say most about the question are found, then
 * their messages: the rarer the terms in and near a message, the more of them, the more often and in the better field,
 * the better.
 */
import { cachedQuery } from '../../index/query-cache.ts'
import { timeOfId } from '../../index/row-encoding.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { getValue } from '../../lib/sqlite/statements.ts'
import { TEXT_SCOPES, type TextScope } from '../../model/searchable-text.ts'
import type { QueryFilter, SearchScope } from '../query/query.ts'
import { PostingList } from '../segments/postings.ts'
import { lengthOfCode } from '../segments/term-builder.ts'
import { type SelectionOptions, selectMessages } from './conditions.ts'
import { type FoundMessage, type ScoredMessage, scoreTogether } from './nearby-evidence.ts'
import { addUp, inBoth } from './posting-sets.ts'
import type { RankedTerm, RelatedTerm } from './question-terms.ts'
import { type LoadedSegment, loadSegment, lookUp, lookUpForms, readSegments } from './segment-reader.ts'
import { SessionEvidence, type TermRarities } from './session-evidence.ts'

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
/** What it counts that a text contains a word at all, also if the text is long. */
const PRESENCE_SHARE = 0.8
/** How much a field that is longer than usual counts less. */
const LENGTH_PENALTY = 0.5
/** A message of today counts this much more than a very old one. */
const RECENCY_BONUS = 0.1
const RECENCY_HALF_LIFE_MS = 60 * 86_400_000
const OUTPUT = TEXT_SCOPES.indexOf('output')
/** Of these a message must contain half. */
const GOOD_COVERAGE = 0.5

interface SegmentPostings {
  readonly segment: LoadedSegment
  /** 1 for each message that passes the filters; undefined if none does. */
  readonly selected: Uint8Array | undefined
  /** One for each term. */
  readonly lists: readonly PostingList[]
}

/** @param terms at most 32 */
export function rankAny(db: Db, terms: readonly RankedTerm[], options: RankAnyOptions): RankedRows {
  const selection = selectMessages(db, options.filters ?? [], options)
  const found: SegmentPostings[] = []
  const frequencies = terms.map(() => 0)
  const lengths = new FieldLengths(weightsOf(options.scopes))
  let documents = 0
  for (const row of readSegments(db)) {
    const segment = loadSegment(db, row)
    documents += row.documents
    lengths.add(segment)
    const lists = terms.map((term) => postingsOf(db, segment, term))
    for (const [at, { count }] of lists.entries()) frequencies[at] = (frequencies[at] ?? 0) + count
    if (lists.every(({ count }) => count === 0)) continue
    const selected = selection.mayContain(row) ? new Uint8Array(segment.messages.count).fill(1) : undefined
    if (selected) selection.restrict(segment, selected)
    found.push({ segment, selected, lists })
  }
  const typed = terms.map(({ related, weight }) => (related ? 0 : weight))
  const evidence = new SessionEvidence(terms.length)
  const parts = partsOf(frequencies, documents, typed)
  const { total, unfiltered, sessions } = countGood(found, parts, lengths, evidence)
  const rarities = evidence.rarities(
    terms.map(({ weight }) => weight),
    countSessions(db),
  )
  const best = new Set(evidence.best(rarities, (session) => sessions.has(session)))
  const newest = timeOfId(found.reduce((high, { segment }) => Math.max(high, segment.row.high), 0))
  const most = sumOf(rarities.said)
  const typedRarities = rarities.said.map((one, at) => ((typed[at] ?? 0) > 0 ? one : 0))
  const mostTyped = sumOf(typedRarities)
  // Related words alone are a guess: only for a question whose own words nobody used.
  const isTyped = sumOf(typedRarities) > 0 ? maskOf(typedRarities) : ~0
  const rows = rankMessages(found, best, rarities, lengths, isTyped).map(({ row, mask, score }): RankedRow => {
    const inMessage = terms.flatMap((_, at) => (mask & (1 << at) ? at : []))
    const coverage = inMessage.reduce((sum, at) => sum + (typedRarities[at] ?? 0), 0)
    const age = Math.max(0, newest - timeOfId(row))
    return {
      row,
      // A message that says everything counts more than one that says half twice as well.
      score: (score ** 2 / most) * (1 + RECENCY_BONUS * 2 ** (-age / RECENCY_HALF_LIFE_MS)),
      terms: inMessage,
      coverage: mostTyped === 0 ? 0 : coverage / mostTyped,
    }
  })
  rows.sort((a, b) => b.score - a.score || b.row - a.row)
  return { rows: rows.slice(0, options.limit), total, unfiltered, rarities: rarities.said }
}

/** What each term is of the question, by its rarity among documents. */
function partsOf(frequencies: readonly number[], documents: number, weights: readonly number[]): readonly number[] {
  const rarities = frequencies.map((count, at) =>
    count === 0 ? 0 : (weights[at] ?? 0) * Math.log(1 + (documents - count + 0.5) / (count + 0.5)),
  )
  const all = sumOf(rarities)
  return rarities.map((one) => (all === 0 ? 0 : one / all))
}

interface GoodMessages {
  readonly total: number
  readonly unfiltered: number
  /** Those with a message that passes the filters. */
  readonly sessions: ReadonlySet<number>
}

/** Counts the messages with half of the question, and adds up what the sessions say. */
function countGood(
  found: readonly SegmentPostings[],
  parts: readonly number[],
  lengths: FieldLengths,
  evidence: SessionEvidence,
): GoodMessages {
  let total = 0
  let unfiltered = 0
  const selectedSessions = new Set<number>()
  for (const postings of found) {
    const { segment, selected } = postings
    const { count, sessions } = segment.messages
    const coverages = new Float32Array(count)
    let last = -1
    walk(postings, lengths, undefined, (message, term, said, printed) => {
      const session = sessions[message] ?? 0
      evidence.add(session, term, said, printed)
      coverages[message] = (coverages[message] ?? 0) + (parts[term] ?? 0)
      if (selected?.[message] !== 1 || session === last) return
      last = session
      selectedSessions.add(session)
    })
    for (let message = 0; message < count; message++) {
      if ((coverages[message] ?? 0) < GOOD_COVERAGE) continue
      unfiltered++
      if (selected?.[message] === 1) total++
    }
  }
  return { total, unfiltered, sessions: selectedSessions }
}

/** The messages of the best sessions, in no order. */
function rankMessages(
  found: readonly SegmentPostings[],
  best: ReadonlySet<number>,
  { said: saidRarities, printed: printedRarities }: TermRarities,
  lengths: FieldLengths,
  /** A session without any of these terms is left out. */
  required: number,
): readonly ScoredMessage[] {
  const bySession = new Map<number, FoundMessage[]>()
  for (const [number, postings] of found.entries()) {
    const { rows, sessions } = postings.segment.messages
    const byPlace = new Map<number, FoundMessage>()
    walk(postings, lengths, best, (place, term, said, printed) => {
      let message = byPlace.get(place)
      if (!message) {
        message = {
          row: rows[place] ?? 0,
          segment: number,
          place,
          isSelected: postings.selected?.[place] === 1,
          shares: new Float32Array(saidRarities.length),
          mask: 0,
        }
        byPlace.set(place, message)
        const session = sessions[place] ?? 0
        const list = bySession.get(session)
        if (list) list.push(message)
        else bySession.set(session, [message])
      }
      message.shares[term] = Math.max((saidRarities[term] ?? 0) * said, (printedRarities[term] ?? 0) * printed)
      message.mask |= 1 << term
    })
  }
  return [...bySession.values()].flatMap((messages) =>
    messages.some(({ mask }) => (mask & required) !== 0) ? bestOf(scoreTogether(messages)) : [],
  )
}

/** What is near a good message scores well too: a few messages of a session stand for it. */
const MESSAGES_PER_SESSION = 4

const bestOf = (messages: readonly ScoredMessage[]): readonly ScoredMessage[] =>
  messages.toSorted((a, b) => b.score - a.score || b.row - a.row).slice(0, MESSAGES_PER_SESSION)

/** A bit for each value that is not 0. */
const maskOf = (values: readonly number[]): number =>
  values.reduce((mask, one, at) => (one > 0 ? mask | (1 << at) : mask), 0)

const sumOf = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0)

const countSessions = (db: Db): number =>
  cachedQuery(db, 'sessions', () => getValue<number>(db, 'SELECT count(*) FROM session') ?? 0)

/** Calls back for each message with a term, with how well it matches: what was said, and what a tool printed. */
function walk(
  { segment, lists }: SegmentPostings,
  lengths: FieldLengths,
  /** Undefined: all. */
  wanted: ReadonlySet<number> | undefined,
  each: (message: number, term: number, said: number, printed: number) => void,
): void {
  const { ofDocument, scopes, lengths: codes, count, sessions } = segment.messages
  for (const [term, { documents, frequencies, count: postings }] of lists.entries()) {
    for (let at = 0; at < postings; ) {
      const message = ofDocument[documents[at] ?? 0] ?? count
      const isWanted = message !== count && (wanted === undefined || wanted.has(sessions[message] ?? 0))
      let said = 0
      let printed = 0
      // The documents of a message are adjacent.
      do {
        const document = documents[at] ?? 0
        const scope = scopes[document] ?? 0
        if (isWanted) {
          const share = (frequencies[at] ?? 1) * lengths.weight(scope, codes[document] ?? 0)
          if (scope === OUTPUT) printed += share
          else said += share
        }
        at++
      } while (at < postings && ofDocument[documents[at] ?? 0] === message)
      if (said + printed > 0) each(message, term, shareOf(said), shareOf(printed))
    }
  }
}

/** 0 to 1. */
const shareOf = (frequency: number): number =>
  frequency === 0 ? 0 : PRESENCE_SHARE + ((1 - PRESENCE_SHARE) * frequency) / (frequency + SATURATION)

function postingsOf(db: Db, segment: LoadedSegment, { word, forms, related }: RankedTerm): PostingList {
  if (related)
    return addUp(
      segment.row.documents,
      related.map((one) => postingsOfRelated(db, segment, one)),
    )
  const list = new PostingList()
  if (forms) lookUpForms(db, segment, forms.beginning, forms.endings, list)
  else lookUp(db, segment, word, false, list)
  return list
}

function postingsOfRelated(db: Db, segment: LoadedSegment, { words, forms }: RelatedTerm): PostingList {
  const [first, ...rest] = words
  let list = new PostingList()
  if (!first) return list
  if (forms) lookUpForms(db, segment, forms.beginning, forms.endings, list)
  else lookUp(db, segment, first, false, list)
  for (const word of rest) {
    if (list.count === 0) break
    const other = new PostingList()
    lookUp(db, segment, word, false, other)
    list = inBoth(list, other)
  }
  return list
}

/** How much a field counts: by its scope, and less if it is longer than usual there. */
class FieldLengths {
  readonly #scopeWeights: readonly number[]
  readonly #words = new Float64Array(8)
  readonly #fields = new Float64Array(8)
  /** -1 if not computed. */
  readonly #weights = new Float64Array(8 * 256).fill(-1)

  constructor(scopeWeights: readonly number[]) {
    this.#scopeWeights = scopeWeights
  }

  /** Call it for all segments first. */
  add(segment: LoadedSegment): void {
    const { words, fields } = fieldsIn(segment)
    for (let scope = 0; scope < 8; scope++) {
      this.#words[scope] = (this.#words[scope] ?? 0) + (words[scope] ?? 0)
      this.#fields[scope] = (this.#fields[scope] ?? 0) + (fields[scope] ?? 0)
    }
  }

  /** @param code see `lengthCode` */
  weight(scope: number, code: number): number {
    const at = scope * 256 + code
    const known = this.#weights[at] ?? 0
    if (known >= 0) return known
    const average = (this.#words[scope] ?? 0) / Math.max(1, this.#fields[scope] ?? 0)
    const norm = 1 - LENGTH_PENALTY + (LENGTH_PENALTY * lengthOfCode(code)) / Math.max(1, average)
    const weight = (this.#scopeWeights[scope] ?? 0) / norm
    this.#weights[at] = weight
    return weight
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

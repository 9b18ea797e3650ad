/** The words to look up for a query, and the documents of a segment that match. */
import { scopeOfTraits } from '../../index/text-segments.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { assertNever } from '../../model/error.ts'
import { TEXT_SCOPES } from '../../model/searchable-text.ts'
import type { ParsedQuery, QueryNode } from '../query/query.ts'
import { MAX_WORD_BYTES, type PostingList } from '../segments/blocks.ts'
import { toIndexWord } from '../words/characters.ts'
import { BOUNDARY } from '../words/identifiers.ts'
import { spellingsOfTerm, type TermSpelling, type TermUnit } from '../words/term-spellings.ts'
import { type LoadedSegment, lookUp } from './segment-reader.ts'

/** A query as words of the text index. */
export interface QueryPlan {
  readonly must: PlanNode | undefined
  readonly mustNot: readonly PlanNode[]
  /** One bit per scope of `TEXT_SCOPES`. */
  readonly scopes: number
}

type PlanNode =
  | { readonly kind: 'term'; readonly alternatives: readonly WordSet[] }
  | { readonly kind: 'any'; readonly of: readonly PlanNode[] }
  | { readonly kind: 'all'; readonly of: readonly PlanNode[]; readonly not: readonly PlanNode[] }

/** Words that one field must contain. */
interface WordSet {
  readonly words: readonly IndexWord[]
  /** Their order need not be checked: there is only one. */
  readonly isExact: boolean
}

export interface IndexWord {
  readonly bytes: Uint8Array
  readonly isPrefix: boolean
}

export function planOf(query: ParsedQuery): QueryPlan {
  return {
    must: query.must && nodeOf(query.must),
    mustNot: query.mustNot.map(nodeOf),
    scopes: scopesOf(query),
  }
}

/** The words that a match may contain, without those of excluded terms. */
export function wordsOfPlan({ must }: QueryPlan): readonly IndexWord[] {
  const words = new Map<string, IndexWord>()
  const collect = (node: PlanNode): void => {
    if (node.kind !== 'term') for (const one of node.of) collect(one)
    else
      for (const alternative of node.alternatives)
        for (const word of alternative.words)
          words.set(`${word.isPrefix} ${Buffer.from(word.bytes).toString('latin1')}`, word)
  }
  if (must) collect(must)
  return [...words.values()]
}

const CONTEXT_BIT = 1 << TEXT_SCOPES.indexOf('context')
const ALL_BUT_CONTEXT = ((1 << TEXT_SCOPES.length) - 1) & ~CONTEXT_BIT

function scopesOf({ scopes }: ParsedQuery): number {
  if (!scopes) return ALL_BUT_CONTEXT
  return TEXT_SCOPES.reduce((bits, scope, at) => (scopes.includes(scope) ? bits | (1 << at) : bits), 0)
}

function nodeOf(node: QueryNode): PlanNode {
  switch (node.kind) {
    case 'term':
      return { kind: 'term', alternatives: spellingsOfTerm(node).map(wordSetOf) }
    case 'any':
      return { kind: 'any', of: node.of.map(nodeOf) }
    case 'all':
      return { kind: 'all', of: node.of.map(nodeOf), not: node.not.map(nodeOf) }
    default:
      return assertNever(node)
  }
}

/** The index contains each single character of a run, and all pairs. */
function wordSetOf({ units, prefix }: TermSpelling): WordSet {
  const last = units.at(-1)
  const words = new Map<string, IndexWord>()
  let count = 0
  let isCut = false
  for (const unit of units)
    for (const text of wordsOfUnit(unit)) {
      count++
      const isPrefix = prefix && unit === last && unit.kind === 'word'
      const complete = Buffer.from(text)
      // A term of this length may be the beginning of several words.
      if (complete.length >= MAX_WORD_BYTES) isCut = true
      words.set(`${isPrefix} ${text}`, { bytes: complete.subarray(0, MAX_WORD_BYTES), isPrefix })
    }
  return { words: [...words.values()], isExact: count === 1 && !isCut }
}

function wordsOfUnit({ kind, text }: TermUnit): readonly string[] {
  if (kind !== 'run') return [toIndexWord(text)]
  const characters = [...text].map(toIndexWord)
  if (characters.length === 1) return [`${BOUNDARY}${characters[0]}`]
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`)
}

/** Numbers of documents or messages of a segment, ascending. */
export type Numbers = Uint32Array | readonly number[]

/** The messages that match for sure, and all that may match. Both are the same list if nothing is in doubt. */
export interface SegmentMatches {
  readonly sure: Numbers
  readonly maybe: Numbers
}

const NOTHING: SegmentMatches = { sure: [], maybe: [] }

const both = (numbers: Numbers): SegmentMatches => ({ sure: numbers, maybe: numbers })

/** The messages of a segment that match; each is the number of its first document. */
export function matchSegment(db: Db, segment: LoadedSegment, { must, mustNot, scopes }: QueryPlan): SegmentMatches {
  if (!must || scopes === 0) return NOTHING
  return without(db, segment, matchNode(db, segment, must, scopes), mustNot, scopes)
}

/** The messages of a segment that one of the excluded nodes matches. */
export function matchExcluded(db: Db, segment: LoadedSegment, { mustNot, scopes }: QueryPlan): SegmentMatches {
  return scopes === 0 ? NOTHING : matchAny(db, segment, mustNot, scopes)
}

function matchNode(db: Db, segment: LoadedSegment, node: PlanNode, scopes: number): SegmentMatches {
  switch (node.kind) {
    case 'term':
      return node.alternatives.map((words) => matchWords(db, segment, words, scopes)).reduce(eitherOf, NOTHING)
    case 'any':
      return matchAny(db, segment, node.of, scopes)
    case 'all': {
      let found: SegmentMatches | undefined
      for (const one of node.of) {
        if (found?.maybe.length === 0) return NOTHING
        const next = matchNode(db, segment, one, scopes)
        found = found ? bothOf(found, next) : next
      }
      return without(db, segment, found ?? NOTHING, node.not, scopes)
    }
    default:
      return assertNever(node)
  }
}

const matchAny = (db: Db, segment: LoadedSegment, nodes: readonly PlanNode[], scopes: number): SegmentMatches =>
  nodes.map((node) => matchNode(db, segment, node, scopes)).reduce(eitherOf, NOTHING)

function without(
  db: Db,
  segment: LoadedSegment,
  found: SegmentMatches,
  not: readonly PlanNode[],
  scopes: number,
): SegmentMatches {
  if (not.length === 0 || found.maybe.length === 0) return found
  const excluded = matchAny(db, segment, not, scopes)
  const maybe = difference(found.maybe, excluded.sure)
  if (found.sure === found.maybe && excluded.sure === excluded.maybe) return both(maybe)
  return { sure: difference(found.sure, excluded.maybe), maybe }
}

function matchWords(db: Db, segment: LoadedSegment, { words, isExact }: WordSet, scopes: number): SegmentMatches {
  let documents: Numbers | undefined
  for (const { bytes, isPrefix } of words) {
    const { documents: found, count }: PostingList = lookUp(db, segment, bytes, isPrefix)
    if (count === 0) return NOTHING
    const next = found.subarray(0, count)
    documents = documents ? intersection(documents, next) : next
  }
  const messages: number[] = []
  for (const document of documents ?? []) {
    if ((scopes & (1 << scopeOfTraits(segment.traits[document] ?? 0))) === 0) continue
    const message = segment.messages[document] ?? 0
    if (messages.at(-1) !== message) messages.push(message)
  }
  return isExact ? both(messages) : { sure: [], maybe: messages }
}

function eitherOf(a: SegmentMatches, b: SegmentMatches): SegmentMatches {
  const maybe = union(a.maybe, b.maybe)
  return a.sure === a.maybe && b.sure === b.maybe ? both(maybe) : { sure: union(a.sure, b.sure), maybe }
}

function bothOf(a: SegmentMatches, b: SegmentMatches): SegmentMatches {
  const maybe = intersection(a.maybe, b.maybe)
  return a.sure === a.maybe && b.sure === b.maybe ? both(maybe) : { sure: intersection(a.sure, b.sure), maybe }
}

function intersection(a: Numbers, b: Numbers): Numbers {
  const found: number[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const left = a[i] ?? 0
    const right = b[j] ?? 0
    if (left === right) found.push(left)
    if (left <= right) i++
    if (right <= left) j++
  }
  return found
}

function union(a: Numbers, b: Numbers): Numbers {
  if (a.length === 0) return b
  if (b.length === 0) return a
  const found: number[] = []
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const left = a[i] ?? Number.POSITIVE_INFINITY
    const right = b[j] ?? Number.POSITIVE_INFINITY
    found.push(Math.min(left, right))
    if (left <= right) i++
    if (right <= left) j++
  }
  return found
}

function difference(a: Numbers, b: Numbers): Numbers {
  if (b.length === 0) return a
  const found: number[] = []
  let j = 0
  for (const one of a) {
    while (j < b.length && (b[j] ?? 0) < one) j++
    if (b[j] !== one) found.push(one)
  }
  return found
}

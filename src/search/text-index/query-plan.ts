/** The words to look up for a query, and the messages of a segment that match. */
import type { Db } from '../../lib/sqlite/own-database.ts'
import { assertNever } from '../../model/error.ts'
import { TEXT_SCOPES } from '../../model/searchable-text.ts'
import type { ParsedQuery, QueryNode } from '../query/query.ts'
import { MAX_WORD_BYTES } from '../segments/blocks.ts'
import { PostingList } from '../segments/postings.ts'
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

/** How sure it is that a message matches. A segment does not know the order of words. */
export const NO = 0
export const MAYBE = 1
export const SURE = 2

/** `NO`, `MAYBE` or `SURE` for each message of a segment. Undefined if no message matches. */
export type Matches = Uint8Array | undefined

/** The messages of a segment that match. Valid until the next call. */
export function matchSegment(db: Db, segment: LoadedSegment, { must, mustNot, scopes }: QueryPlan): Matches {
  takenMatches = 0
  if (!must || scopes === 0) return undefined
  return without(db, segment, matchNode(db, segment, must, scopes), mustNot, scopes)
}

/** The messages of a segment that one of the excluded nodes matches. Valid until the next call. */
export function matchExcluded(db: Db, segment: LoadedSegment, { mustNot, scopes }: QueryPlan): Matches {
  takenMatches = 0
  return scopes === 0 ? undefined : matchAny(db, segment, mustNot, scopes)
}

function matchNode(db: Db, segment: LoadedSegment, node: PlanNode, scopes: number): Matches {
  switch (node.kind) {
    case 'term':
      return eitherOf(node.alternatives.map((words) => matchWords(db, segment, words, scopes)))
    case 'any':
      return matchAny(db, segment, node.of, scopes)
    case 'all': {
      let found: Matches
      for (const [at, one] of node.of.entries()) {
        const next = matchNode(db, segment, one, scopes)
        if (!next) return undefined
        found = at === 0 ? next : bothOf(found, next)
      }
      return without(db, segment, found, node.not, scopes)
    }
    default:
      return assertNever(node)
  }
}

const matchAny = (db: Db, segment: LoadedSegment, nodes: readonly PlanNode[], scopes: number): Matches =>
  eitherOf(nodes.map((node) => matchNode(db, segment, node, scopes)))

function without(db: Db, segment: LoadedSegment, found: Matches, not: readonly PlanNode[], scopes: number): Matches {
  if (not.length === 0 || !found) return found
  const excluded = matchAny(db, segment, not, scopes)
  if (excluded)
    for (let at = 0; at < found.length; at++) found[at] = Math.min(found[at] ?? NO, SURE - (excluded[at] ?? NO))
  return found
}

/** Reused, because a search looks up hundreds of words: buffers for matches, and lists of postings. */
const reusedMatches: Uint8Array[] = []
let takenMatches = 0

function takeMatches(length: number): Uint8Array {
  const reused = reusedMatches[takenMatches]
  const buffer = reused && reused.length >= length ? reused : new Uint8Array(length * 2)
  reusedMatches[takenMatches++] = buffer
  return buffer.subarray(0, length).fill(0)
}

const first = new PostingList()
const further = new PostingList()

function matchWords(db: Db, segment: LoadedSegment, { words, isExact }: WordSet, scopes: number): Matches {
  first.count = 0
  for (const [at, { bytes, isPrefix }] of words.entries()) {
    const list = at === 0 ? first : further
    list.count = 0
    lookUp(db, segment, bytes, isPrefix, list)
    if (at > 0) keepCommon(first, further)
    if (first.count === 0) return undefined
  }
  const { count, ofDocument, scopes: scopesOfDocuments } = segment.messages
  // The last element is for documents without a message.
  const matches = takeMatches(count + 1)
  const certainty = isExact ? SURE : MAYBE
  let isFound = false
  for (let at = 0; at < first.count; at++) {
    const document = first.documents[at] ?? 0
    if ((scopes & (1 << (scopesOfDocuments[document] ?? 0))) === 0) continue
    matches[ofDocument[document] ?? count] = certainty
    isFound = true
  }
  return isFound ? matches.subarray(0, count) : undefined
}

/** Removes the documents that the other list does not contain. */
function keepCommon(list: PostingList, other: PostingList): void {
  const { documents } = list
  let kept = 0
  for (let i = 0, j = 0; i < list.count && j < other.count; ) {
    const left = documents[i] ?? 0
    const right = other.documents[j] ?? 0
    if (left === right) documents[kept++] = left
    if (left <= right) i++
    if (right <= left) j++
  }
  list.count = kept
}

/** Changes the first of them. */
function eitherOf(all: readonly Matches[]): Matches {
  let found: Matches
  for (const one of all) {
    if (!found) found = one
    else if (one) for (let at = 0; at < found.length; at++) found[at] = Math.max(found[at] ?? NO, one[at] ?? NO)
  }
  return found
}

/** Changes the first. */
function bothOf(found: Matches, other: Matches): Matches {
  if (!found || !other) return undefined
  for (let at = 0; at < found.length; at++) found[at] = Math.min(found[at] ?? NO, other[at] ?? NO)
  return found
}

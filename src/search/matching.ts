/** Decides without an index whether a message or an annotation matches a query. Regular expressions run for a bounded time. */
import { type Context, createContext, Script } from 'node:vm'
import type { SessionAnnotation } from '../annotations/annotations.ts'
import { foldText } from '../lib/text.ts'
import { assertNever } from '../model/error.ts'
import type { SessionId } from '../model/ids.ts'
import {
  type ParsedQuery,
  type QueryFilter,
  type QueryNode,
  type QueryPattern,
  type ScopedFields,
  SEARCH_SCOPES,
} from './query/query.ts'
import { PHRASE_GAP } from './words/characters.ts'
import {
  findSpelling,
  type NormalizedText,
  spellingsOfTerm,
  type TextRange,
  toNormalizedText,
} from './words/term-spellings.ts'

/**
 * Time limit for all patterns of one search together, because a regular expression may take forever even on a short
 * text.
 */
export class PatternTimeLimit {
  #remainingMs: number
  #isSpending = false

  constructor(milliseconds = 1000) {
    this.#remainingMs = milliseconds
  }

  /** If true, patterns no longer match anything and the search is incomplete. */
  get isExhausted(): boolean {
    return this.#remainingMs <= 0
  }

  /** Returns the result of `work`, or undefined if the time ran out. Nested calls share the outer timer. */
  run<T>(work: () => T): T | undefined {
    if (this.isExhausted) return undefined
    if (this.#isSpending) return work()
    const start = performance.now()
    this.#isSpending = true
    try {
      const done = runWithTimeout(this.#remainingMs, work)
      this.#remainingMs = done ? this.#remainingMs - (performance.now() - start) : 0
      return done?.value
    } finally {
      this.#isSpending = false
    }
  }
}

/** Whether each pattern matches one of the texts, or none if it is excluded. False if the time ran out. */
export function matchesPatterns(
  patterns: readonly QueryPattern[],
  texts: readonly string[],
  time: PatternTimeLimit,
): boolean {
  if (patterns.length === 0) return true
  const test = (): boolean =>
    patterns.every(({ expression, not }) => texts.some((text) => expression.test(text)) !== not)
  return patterns.every(({ expression }) => hasNoBacktracking(expression)) ? test() : (time.run(test) ?? false)
}

/** Without repetition or alternatives, matching cannot backtrack. */
const hasNoBacktracking = ({ source }: RegExp): boolean => !/[*+?{|]|\\[1-9k]/.test(source)

/** The first matches of a pattern in a text; none if the time ran out. */
export function findPattern(
  expression: RegExp,
  text: string,
  maxRanges: number,
  time: PatternTimeLimit,
): readonly TextRange[] {
  const search = (): readonly TextRange[] => {
    const ranges: TextRange[] = []
    for (const { 0: found, index } of text.matchAll(new RegExp(expression, `${expression.flags}g`))) {
      if (ranges.length === maxRanges) break
      if (found !== '') ranges.push([index, index + found.length])
    }
    return ranges
  }
  return hasNoBacktracking(expression) ? search() : (time.run(search) ?? [])
}

/** Run in a `vm` context, whose timeout interrupts even a regular expression. */
const workScript = new Script('work()')
let workContext: Context | undefined

/**
 * Returns the result of `work`, or undefined after the timeout. Each call starts a watchdog thread, which takes about a
 * tenth of a millisecond.
 *
 * @param milliseconds at least 1
 */
function runWithTimeout<T>(milliseconds: number, work: () => T): { readonly value: T } | undefined {
  workContext ??= createContext({})
  workContext['work'] = () => ({ value: work() })
  try {
    return workScript.runInContext(workContext, { timeout: Math.max(1, Math.ceil(milliseconds)) })
  } catch (error) {
    if (isTimeoutError(error)) return undefined
    throw error
  } finally {
    workContext['work'] = undefined
  }
}

const isTimeoutError = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'

/**
 * Checks words and patterns only; the caller applies filters. For words it agrees with FTS5 over the analysed text.
 *
 * @param time shared by all messages of a search
 */
export function matchesQuery(
  query: ParsedQuery,
  fields: ScopedFields,
  time: PatternTimeLimit = new PatternTimeLimit(),
): boolean {
  const texts = (query.scopes ?? SEARCH_SCOPES).flatMap((scope) => fields[scope] ?? [])
  const { must, mustNot } = cachedTests(query)
  if (must || mustNot.length > 0) {
    const normalizedTexts = texts.map(toNormalizedText)
    if (must && !must(normalizedTexts)) return false
    if (mustNot.some((test) => test(normalizedTexts))) return false
  }
  return matchesPatterns(query.patterns, texts, time)
}

type TextTest = (normalizedTexts: readonly NormalizedText[]) => boolean

interface QueryTests {
  readonly must?: TextTest
  readonly mustNot: readonly TextTest[]
}

const testsByQuery = new WeakMap<ParsedQuery, QueryTests>()

function cachedTests(query: ParsedQuery): QueryTests {
  const before = testsByQuery.get(query)
  if (before) return before
  const tests = { ...(query.must && { must: compileNode(query.must) }), mustNot: query.mustNot.map(compileNode) }
  testsByQuery.set(query, tests)
  return tests
}

function compileNode(node: QueryNode): TextTest {
  switch (node.kind) {
    case 'term': {
      const spellings = spellingsOfTerm(node)
      return (normalizedTexts) =>
        normalizedTexts.some((normalizedText) => spellings.some((spelling) => findSpelling(normalizedText, spelling)))
    }
    case 'any': {
      const tests = node.of.map(compileNode)
      return (normalizedTexts) => tests.some((test) => test(normalizedTexts))
    }
    case 'all': {
      const tests = node.of.map(compileNode)
      const nots = node.not.map(compileNode)
      return (normalizedTexts) =>
        tests.every((test) => test(normalizedTexts)) && !nots.some((test) => test(normalizedTexts))
    }
    default:
      return assertNever(node)
  }
}

/**
 * Replaces filters on annotations by the sessions that satisfy them, because the index does not contain annotations.
 */
export function resolveAnnotationFilters(query: ParsedQuery, annotations: readonly SessionAnnotation[]): ParsedQuery {
  if (!query.filters.some(({ kind }) => kind === 'is' || kind === 'tag')) return query
  return { ...query, filters: query.filters.map((filter) => resolveFilter(filter, annotations)) }
}

function resolveFilter(filter: QueryFilter, annotations: readonly SessionAnnotation[]): QueryFilter {
  if (filter.kind !== 'is' && filter.kind !== 'tag') return filter
  const tags = filter.kind === 'tag' ? new Set(filter.values.map(foldText)) : undefined
  const matching = annotations.filter((annotation) =>
    tags ? annotation.tags.some((tag) => tags.has(foldText(tag))) : annotation.starred,
  )
  return { kind: 'sessions', ids: matching.map(({ session }) => session), not: filter.not }
}

/** Sessions whose name, tags or note match. */
export function findSessionsByAnnotation(
  query: ParsedQuery,
  annotations: readonly SessionAnnotation[],
): readonly SessionId[] {
  if (!query.must || (query.scopes && !query.scopes.includes('title'))) return []
  return annotations.flatMap(({ session, name, tags, note }) => {
    const title = [name ?? '', ...tags, note ?? ''].join(` ${PHRASE_GAP} `)
    return matchesQuery(query, { title }) ? session : []
  })
}

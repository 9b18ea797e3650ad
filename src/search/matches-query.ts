/** Decides without an index whether a message is what a query asks for. */
import { assertNever } from '../model/error.ts'
import { matchesPatterns, PatternTimeLimit } from './patterns.ts'
import { type ParsedQuery, type QueryNode, type ScopedFields, SEARCH_SCOPES } from './query/query.ts'
import { findSpelling, type NormalizedText, toNormalizedText } from './words/find-in-text.ts'
import { spellingsOfTerm } from './words/term-spellings.ts'

/**
 * By its words and patterns alone; filters are about what is known of a message, not about what it says. On words it agrees with FTS5
 * over the analysed text.
 *
 * @param time what the patterns of the search have left; the same one for all messages of a search
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

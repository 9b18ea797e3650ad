/** Decides without an index whether a message is what a query asks for. */
import { never } from '../../model/error.ts'
import { PatternTime, patternsHold } from './patterns.ts'
import { type Fields, type Node, type Query, SCOPES } from './query.ts'
import { find, type Haystack, haystackOf } from './words/find.ts'
import { soughtOf } from './words/sought.ts'

/**
 * By its words and patterns alone; filters are about what is known of a message, not about what it says. On words it agrees with FTS5
 * over the analysed text.
 *
 * @param time what the patterns of the search have left; the same one for all messages of a search
 */
export function matches(query: Query, fields: Fields, time: PatternTime = new PatternTime()): boolean {
  const texts = (query.scopes ?? SCOPES).flatMap((scope) => fields[scope] ?? [])
  const { must, mustNot } = testsOf(query)
  if (must || mustNot.length > 0) {
    const haystacks = texts.map(haystackOf)
    if (must && !must(haystacks)) return false
    if (mustNot.some((test) => test(haystacks))) return false
  }
  return patternsHold(query.patterns, texts, time)
}

type Test = (haystacks: readonly Haystack[]) => boolean

interface Tests {
  readonly must?: Test
  readonly mustNot: readonly Test[]
}

const known = new WeakMap<Query, Tests>()

function testsOf(query: Query): Tests {
  const before = known.get(query)
  if (before) return before
  const tests = { ...(query.must && { must: testOf(query.must) }), mustNot: query.mustNot.map(testOf) }
  known.set(query, tests)
  return tests
}

function testOf(node: Node): Test {
  switch (node.kind) {
    case 'term': {
      const spellings = soughtOf(node)
      return (haystacks) => haystacks.some((haystack) => spellings.some((sought) => find(haystack, sought)))
    }
    case 'any': {
      const tests = node.of.map(testOf)
      return (haystacks) => tests.some((test) => test(haystacks))
    }
    case 'all': {
      const tests = node.of.map(testOf)
      const nots = node.not.map(testOf)
      return (haystacks) => tests.every((test) => test(haystacks)) && !nots.some((test) => test(haystacks))
    }
    default:
      return never(node)
  }
}

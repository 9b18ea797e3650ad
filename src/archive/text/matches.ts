/** Decides without an index whether a message is what a query asks for. */
import { never } from '../../model/error.ts'
import { analyse } from './analyse.ts'
import { type Fields, type Node, type Query, SCOPES } from './query.ts'
import { ASCII, SEPARATOR } from './words/characters.ts'
import { type Phrase, phrasesOf } from './words/phrases.ts'

/** Of words and patterns alone; filters are about what is known of a message, not about what it says. */
export function matches(query: Query, fields: Fields): boolean {
  const texts = textsIn(query, fields)
  const { must, mustNot } = wordsOf(query)
  const analysed = must || mustNot.length > 0 ? texts.map((text) => analyse(text).toLowerCase()) : []
  if (must && !must(analysed)) return false
  if (mustNot.some((test) => test(analysed))) return false
  return query.patterns.every(({ expression, not }) => texts.some((text) => expression.test(text)) !== not)
}

export function textsIn(query: Query, fields: Fields): readonly string[] {
  return (query.scopes ?? SCOPES).flatMap((scope) => fields[scope] ?? [])
}

type Test = (analysed: readonly string[]) => boolean

interface Words {
  readonly must?: Test
  readonly mustNot: readonly Test[]
}

const compiled = new WeakMap<Query, Words>()

function wordsOf(query: Query): Words {
  const known = compiled.get(query)
  if (known) return known
  const words = { ...(query.must && { must: testOf(query.must) }), mustNot: query.mustNot.map(testOf) }
  compiled.set(query, words)
  return words
}

function testOf(node: Node): Test {
  switch (node.kind) {
    case 'term': {
      const phrases = phrasesOf(node)
      return (analysed) => analysed.some((text) => phrases.some((phrase) => holds(text, phrase)))
    }
    case 'any': {
      const tests = node.of.map(testOf)
      return (analysed) => tests.some((test) => test(analysed))
    }
    case 'all': {
      const tests = node.of.map(testOf)
      const nots = node.not.map(testOf)
      return (analysed) => tests.every((test) => test(analysed)) && !nots.some((test) => test(analysed))
    }
    default:
      return never(node)
  }
}

function holds(analysed: string, phrase: Phrase): boolean {
  const [first = ''] = phrase.words
  for (let at = analysed.indexOf(first); at >= 0; at = analysed.indexOf(first, at + 1))
    if (isBorder(analysed, at - 1) && holdsAt(analysed, at, phrase)) return true
  return false
}

function holdsAt(analysed: string, start: number, { words, prefix }: Phrase): boolean {
  let at = start
  for (const [index, word] of words.entries()) {
    if (!analysed.startsWith(word, at)) return false
    at += word.length
    const isLast = index === words.length - 1
    if (isLast && prefix) return true
    if (!isBorder(analysed, at)) return false
    if (!isLast) while (at < analysed.length && isBorder(analysed, at)) at++
  }
  return true
}

/** In an analysed text nothing but ASCII separates words. */
function isBorder(analysed: string, at: number): boolean {
  const unit = analysed.charCodeAt(at)
  return Number.isNaN(unit) || (unit < 128 && ASCII[unit] === SEPARATOR)
}

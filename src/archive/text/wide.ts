/** Beginnings of words that very many words have: the index would have to join the places of all of them. */
import type { Node, Query, Term } from './query.ts'

const MOST_LETTERS = 3
const MOST_WORDS = 24

const isWideTerm = ({ text, prefix }: Term): boolean =>
  prefix && text.length <= MOST_LETTERS && /^[\p{L}\p{N}]+$/u.test(text)

/** Does it ask for such a beginning? */
export const isWide = ({ must }: Query): boolean => must !== undefined && hasWide(must)

const hasWide = (node: Node): boolean => (node.kind === 'term' ? isWideTerm(node) : node.of.some(hasWide))

/**
 * A query that asks for some of the words that begin so instead, and so never finds what the other would not. Nothing when none of
 * the words does.
 *
 * @param words of messages that the query finds
 */
export function narrowed(query: Query, words: readonly string[]): Query | undefined {
  const must = query.must && narrowedNode(query.must, words)
  return must && { ...query, must }
}

function narrowedNode(node: Node, words: readonly string[]): Node | undefined {
  if (node.kind !== 'term') {
    const of = node.of.flatMap((one) => narrowedNode(one, words) ?? [])
    return of.length === node.of.length ? { ...node, of } : undefined
  }
  if (!isWideTerm(node)) return node
  const start = node.text.toLowerCase()
  const some = words.filter((word) => word.startsWith(start)).slice(0, MOST_WORDS)
  if (some.length === 0) return undefined
  return { kind: 'any', of: some.map((text) => ({ kind: 'term', text, exact: true, prefix: false })) }
}

/** Beginnings of words that very many words have: the index would have to join the places of all of them. */
import type { ParsedQuery, QueryNode, QueryTerm } from '../query/query.ts'

const MAX_SHORT_PREFIX_LENGTH = 3
const MAX_PREFIX_WORDS = 24

const isShortPrefixTerm = ({ text, prefix }: QueryTerm): boolean =>
  prefix && text.length <= MAX_SHORT_PREFIX_LENGTH && /^[\p{L}\p{N}]+$/u.test(text)

/** Does it ask for such a beginning? */
export const hasShortPrefix = ({ must }: ParsedQuery): boolean => must !== undefined && nodeHasShortPrefix(must)

const nodeHasShortPrefix = (node: QueryNode): boolean =>
  node.kind === 'term' ? isShortPrefixTerm(node) : node.of.some(nodeHasShortPrefix)

/**
 * A query that asks for some of the words that begin so instead, and so never finds what the other would not. Nothing when none of
 * the words does.
 *
 * @param words of messages that the query finds
 */
export function replaceShortPrefixes(query: ParsedQuery, words: readonly string[]): ParsedQuery | undefined {
  const must = query.must && replaceInNode(query.must, words)
  return must && { ...query, must }
}

function replaceInNode(node: QueryNode, words: readonly string[]): QueryNode | undefined {
  if (node.kind !== 'term') {
    const of = node.of.flatMap((one) => replaceInNode(one, words) ?? [])
    return of.length === node.of.length ? { ...node, of } : undefined
  }
  if (!isShortPrefixTerm(node)) return node
  const start = node.text.toLowerCase()
  const some = words.filter((word) => word.startsWith(start)).slice(0, MAX_PREFIX_WORDS)
  if (some.length === 0) return undefined
  return { kind: 'any', of: some.map((text) => ({ kind: 'term', text, exact: true, prefix: false })) }
}

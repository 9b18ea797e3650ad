/** Tells which words of a query are filters, and which only look like one. */
import type { QueryPart } from '../../model/api/search.ts'
import { nearestName } from '../../model/nearest-name.ts'
import { FILTER_KEYS, type FilterKey, splitLexemes } from './lexemes.ts'

export interface TypedFilter {
  readonly key: FilterKey
  readonly value: string
  /** Excluded with `-`. */
  readonly not: boolean
  /** In UTF-16 units. */
  readonly start: number
  readonly end: number
}

export interface QueryDescription {
  readonly filters: readonly TypedFilter[]
  /** Words such as `agnet:codex`, which are searched as text. */
  readonly unknownFilters: readonly UnknownFilter[]
}

export interface UnknownFilter {
  readonly text: string
  /** What stands before the colon. */
  readonly name: string
  /** The filter that was probably meant. */
  readonly nearest: FilterKey | undefined
}

/** Each part of a query as it is searched, in order. Empty for an invalid query. */
export function explainQuery(input: string): readonly QueryPart[] {
  const lexemes = splitLexemes(input)
  if ('kind' in lexemes) return []
  return lexemes.flatMap((one): readonly QueryPart[] => {
    const range = { start: one.start, end: one.end }
    switch (one.kind) {
      case 'word':
      case 'phrase':
        return [{ kind: one.prefix ? 'prefix' : one.kind, name: null, text: one.text, not: one.not, ...range }]
      case 'pattern':
        return [{ kind: 'pattern', name: null, text: one.source, not: one.not, ...range }]
      case 'filter':
        return [{ kind: 'filter', name: one.key, text: one.value, not: one.not, ...range }]
      case 'or':
        return [{ kind: 'or', name: null, text: '', not: false, ...range }]
      default:
        return []
    }
  })
}

/** Web addresses, paths of Windows and qualified names also have a colon. */
const FILTER_LIKE = /^([a-z]{2,16}):(?![/\\:])./i

/** Empty for an invalid query. */
export function describeQuery(input: string): QueryDescription {
  const lexemes = splitLexemes(input)
  if ('kind' in lexemes) return { filters: [], unknownFilters: [] }
  return {
    filters: lexemes.flatMap((one) =>
      one.kind === 'filter' ? { key: one.key, value: one.value, not: one.not, start: one.start, end: one.end } : [],
    ),
    unknownFilters: lexemes.flatMap((one) => {
      const name = one.kind === 'word' ? FILTER_LIKE.exec(one.text)?.[1] : undefined
      if (one.kind !== 'word' || name === undefined) return []
      return { text: one.text, name, nearest: nearestName(name, FILTER_KEYS) as FilterKey | undefined }
    }),
  }
}

/** What the list is narrowed down by, as it stands in the address. */
import type { Query } from '../frame/address.ts'

const NAMES = ['q', 'agent', 'project', 'model', 'tool', 'since', 'until', 'tag', 'starred', 'role', 'scope'] as const

export type Filters = { readonly [name in (typeof NAMES)[number]]?: string }

export const filtersIn = (query: Query): Filters =>
  Object.fromEntries(NAMES.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))

/** Besides the words. */
export const isNarrowed = (filters: Filters): boolean => Object.keys(filters).some((name) => name !== 'q')

export const NO_FILTERS: { readonly [name: string]: undefined } = Object.fromEntries(
  NAMES.map((name) => [name, undefined]),
)

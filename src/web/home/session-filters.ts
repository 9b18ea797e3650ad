/** What the list is narrowed down by, as it stands in the address. */
import type { UrlQuery } from '../navigation/address.ts'

const FILTER_NAMES = [
  'q',
  'agent',
  'project',
  'model',
  'tool',
  'since',
  'until',
  'tag',
  'starred',
  'role',
  'scope',
] as const

export type SessionFilterValues = { readonly [name in (typeof FILTER_NAMES)[number]]?: string }

export const parseSessionFilters = (query: UrlQuery): SessionFilterValues =>
  Object.fromEntries(FILTER_NAMES.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))

/** Besides the words. */
export const hasFilters = (filters: SessionFilterValues): boolean => Object.keys(filters).some((name) => name !== 'q')

export const NO_FILTERS: { readonly [name: string]: undefined } = Object.fromEntries(
  FILTER_NAMES.map((name) => [name, undefined]),
)

/** Completions of filters in the search box. */
import type { Choice, Choices } from '../../model/api/machine.ts'

export interface Completion {
  /** Replaces the word that is being typed. */
  readonly text: string
  /** The filter that it begins or belongs to. */
  readonly filter: FilterName
  /** Number of sessions, where it is known. */
  readonly count?: number
}

const FILTERS = [
  'agent',
  'project',
  'model',
  'tool',
  'tag',
  'file',
  'role',
  'has',
  'is',
  'in',
  'before',
  'after',
  'on',
  'session',
] as const
export type FilterName = (typeof FILTERS)[number]

const VALUES: { readonly [filter in FilterName]?: readonly string[] } = {
  role: ['user', 'assistant', 'tool'],
  has: ['error', 'image'],
  is: ['starred'],
  in: ['prompt', 'answer', 'arguments', 'output', 'reasoning', 'file', 'context', 'title'],
  before: ['today', '7d', '30d'],
  after: ['today', '7d', '30d'],
  on: ['today', 'yesterday'],
}
const CHOICES: { readonly [filter in FilterName]?: keyof Choices } = {
  agent: 'agents',
  project: 'projects',
  model: 'models',
  tool: 'tools',
  tag: 'tags',
}
const MAX_COMPLETIONS = 8
/** Shorter beginnings of words are more often words than filters. */
const MIN_LETTERS = 2

/** The word that ends at the caret. A quoted value belongs to its filter. */
export function wordAt(text: string, caret: number): { readonly start: number; readonly word: string } {
  const before = text.slice(0, caret)
  const word = /(?:^|[\s(])(-?\w+:"[^"]*|[^\s("]*)$/.exec(before)?.[1] ?? ''
  return { start: caret - word.length, word }
}

/** @param choices undefined until they are loaded */
export function completionsOf(word: string, choices: Choices | undefined): readonly Completion[] {
  const typed = /^(-?)([a-z]*)(?::"?(.*))?$/i.exec(word)
  if (!typed) return []
  const [, sign = '', name = '', value] = typed
  if (value === undefined) {
    if (name.length < MIN_LETTERS) return []
    const wanted = name.toLowerCase()
    return FILTERS.filter((filter) => filter.startsWith(wanted)).map((filter) => ({
      text: `${sign}${filter}:`,
      filter,
    }))
  }
  const filter = FILTERS.find((one) => one === name.toLowerCase())
  if (!filter) return []
  const source = CHOICES[filter]
  const known: readonly Pick<Choice, 'value'>[] = source
    ? (choices?.[source] ?? [])
    : (VALUES[filter] ?? []).map((one) => ({ value: one }))
  const wanted = value.toLowerCase()
  return known
    .filter((one) => one.value.toLowerCase().includes(wanted) && one.value !== value)
    .slice(0, MAX_COMPLETIONS)
    .map((one) => ({
      text: `${sign}${filter}:${/[\s"():]/.test(one.value) ? `"${one.value}"` : one.value} `,
      filter,
      ...('count' in one && { count: one.count as number }),
    }))
}

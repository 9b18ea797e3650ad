/** Finds names in filters that match nothing: agents that do not exist, and names that no session has. */

import type { IndexReader } from '../index/reader.ts'
import type { SessionFilter } from '../index/session-filter.ts'
import { MAX_FILTER_CHOICES } from '../index/session-list.ts'
import { foldText } from '../lib/text.ts'
import { nearestName } from '../model/nearest-name.ts'
import { joinPhrases, type Phrase, phrase } from '../model/phrase.ts'
import { describeQuery } from './query/describe-query.ts'
import type { FilterKey } from './query/lexemes.ts'

export type NamedFilter = 'agent' | 'project' | 'model' | 'tool' | 'tag'

export interface UnknownName {
  /** `filter`: a word of the query that only looks like a filter. */
  readonly kind: NamedFilter | 'filter'
  /** As typed. */
  readonly name: string
  /** The name that was probably meant. */
  readonly nearest: string | undefined
  /** What is wrong, with the nearest name. */
  readonly text: Phrase
  /** The filter in the text of a query, in UTF-16 units. */
  readonly range?: { readonly start: number; readonly end: number }
}

export interface NamesInUse {
  readonly index: IndexReader
  /** Ids of all agents, also those without sessions. */
  readonly agents: readonly string[]
  /** Tags of all annotations. */
  tags(): Iterable<string>
}

export interface FilterNames extends Pick<SessionFilter, 'agents' | 'project' | 'model' | 'tool'> {
  readonly tag?: string | undefined
}

/** @param query text of a search, whose filters are checked, too */
export function findUnknownNames(inUse: NamesInUse, filter: FilterNames, query = ''): readonly UnknownName[] {
  return [...namesOfFilter(inUse, filter), ...namesOfQuery(inUse, query)]
}

function* namesOfFilter(inUse: NamesInUse, { agents, tag, ...filter }: FilterNames): Generator<UnknownName> {
  for (const agent of agents ?? []) if (!inUse.agents.includes(agent)) yield unknownAgent(agent, inUse.agents)
  for (const kind of ['tool', 'model', 'project'] as const) {
    const name = filter[kind]
    if (name === undefined || isUsed(inUse.index, { [kind]: name })) continue
    yield unusedName(kind, name, valuesOf(inUse.index, kind))
  }
  if (tag !== undefined) {
    const tags = new Set(inUse.tags())
    if (!tags.has(tag)) yield unusedName('tag', tag, tags)
  }
}

const isUsed = (index: IndexReader, filter: SessionFilter): boolean =>
  index.list({ ...filter, kind: 'any', children: 'all', limit: 0 }).total > 0

function* namesOfQuery(inUse: NamesInUse, query: string): Generator<UnknownName> {
  const { filters, unknownFilters } = describeQuery(query)
  for (const { text, name, nearest } of unknownFilters)
    yield {
      kind: 'filter',
      name,
      nearest,
      text: joinPhrases(
        phrase(
          `There is no filter "${name}:", so ${text} is searched as text.`,
          `「${name}:」という条件はないため、${text} を語として探します。`,
        ),
        didYouMean(nearest && `${nearest}:`),
      ),
    }
  for (const { key, value, start, end } of filters) {
    const unknown = unknownValue(inUse, key, value)
    if (unknown) yield { ...unknown, range: { start, end } }
  }
}

/** Filters of a query ignore case; models and projects match a part of the name. */
function unknownValue(inUse: NamesInUse, key: FilterKey, value: string): UnknownName | undefined {
  const wanted = foldText(value)
  if (key === 'agent') return inUse.agents.includes(wanted) ? undefined : unknownAgent(value, inUse.agents)
  if (key !== 'tool' && key !== 'model' && key !== 'project' && key !== 'tag') return undefined
  const names = key === 'tag' ? [...new Set(inUse.tags())] : inUse.index.choices()[`${key}s`].map((one) => one.value)
  // More names may be in use than these.
  if (key !== 'tag' && names.length >= MAX_FILTER_CHOICES) return undefined
  const isMeant = (name: string): boolean =>
    key === 'tool' || key === 'tag' ? foldText(name) === wanted : foldText(name).includes(wanted)
  return names.some(isMeant) ? undefined : unusedName(key, value, key === 'project' ? names.map(lastSegment) : names)
}

const unknownAgent = (name: string, agents: readonly string[]): UnknownName => {
  const nearest = nearestName(name, agents)
  return {
    kind: 'agent',
    name,
    nearest,
    text: joinPhrases(
      phrase(`Unknown agent "${name}".`, `エージェント「${name}」はありません。`),
      didYouMean(nearest),
      phrase(` Available: ${agents.join(', ')}`, `使えるもの: ${agents.join('、')}`),
    ),
  }
}

function unusedName(kind: keyof typeof UNUSED, name: string, known: Iterable<string>): UnknownName {
  const nearest = nearestName(kind === 'project' ? lastSegment(name) : name, known)
  return { kind, name, nearest, text: joinPhrases(UNUSED[kind](name), didYouMean(nearest)) }
}

const UNUSED = {
  tool: (name: string) => phrase(`No session uses the tool "${name}".`, `ツール「${name}」を使った会話はありません。`),
  model: (name: string) => phrase(`No session uses the model "${name}".`, `モデル「${name}」の会話はありません。`),
  project: (name: string) =>
    phrase(`No session is from the directory "${name}".`, `ディレクトリー「${name}」の会話はありません。`),
  tag: (name: string) => phrase(`No session has the tag "${name}".`, `タグ「${name}」の会話はありません。`),
} as const

const valuesOf = (index: IndexReader, kind: 'tool' | 'model' | 'project'): readonly string[] =>
  index.choices()[`${kind}s`].map(({ value }) => (kind === 'project' ? lastSegment(value) : value))

const lastSegment = (path: string): string => path.split(/[/\\]/).findLast((part) => part !== '') ?? path

const didYouMean = (nearest: string | undefined): Phrase =>
  nearest === undefined ? phrase('', '') : phrase(` Did you mean ${nearest}?`, `${nearest} のことですか？`)

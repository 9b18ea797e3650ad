/** Checks candidates of the index against the message bodies and turns those that match into hits. */
import type { IndexedMessage } from '../index/records.ts'
import type { LoadedMessage, MessageStore } from '../messages/message-store.ts'
import { bestSnippet, DEFAULT_SNIPPET_LENGTH, hitBaseOf, type MessageHit, searchFieldsOf, withoutKeys } from './hit.ts'
import { matchesQuery, PatternTimeLimit } from './matching.ts'
import type { ParsedQuery } from './query/query.ts'

export interface CandidateCheckOptions {
  /** Maximum length of a snippet in UTF-16 units. */
  readonly length?: number | undefined
  /** Rows that the index cannot decide, so the body does. */
  readonly doubtful?: ReadonlySet<number>
  readonly time?: PatternTimeLimit
}

export interface CheckedHit {
  readonly hit: MessageHit
  readonly score: number
  readonly row: number
}

/** Returns the candidates whose bodies match. Without a body, the index alone decides. */
export async function checkCandidates(
  store: MessageStore,
  query: ParsedQuery,
  candidates: readonly IndexedMessage[],
  { length = DEFAULT_SNIPPET_LENGTH, doubtful, time = new PatternTimeLimit() }: CandidateCheckOptions = {},
): Promise<readonly CheckedHit[]> {
  const messages = await store.readMessages(candidates, { withoutHashes: true })
  const hasPatterns = query.patterns.length > 0
  const checkOne = (candidate: IndexedMessage, loaded: LoadedMessage | undefined): CheckedHit | [] => {
    const { row } = candidate
    const base = hitBaseOf(candidate)
    const isDoubtful = doubtful?.has(row) ?? false
    if (loaded?.kind !== 'body') {
      if (hasPatterns) return []
      return { hit: { ...base, scope: 'prompt', ...(isDoubtful && { unverified: true }) }, score: 0, row }
    }
    const fields = searchFieldsOf(loaded.message, query)
    if ((isDoubtful || hasPatterns) && !matchesQuery(query, fields, time)) return []
    const { scope, snippet, score } = bestSnippet(query, fields, length, time)
    const shown = withoutKeys(query, loaded.message, { scope, snippet }, length, time)
    return { hit: { ...base, scope, ...shown }, score, row }
  }
  const check = (): readonly CheckedHit[] => candidates.flatMap((one, at) => checkOne(one, messages[at]))
  return (hasPatterns ? time.run(check) : check()) ?? []
}

/** The rows whose bodies match, or whose bodies are gone. Without snippets, so it is cheaper. */
export async function confirmRows(
  store: MessageStore,
  query: ParsedQuery,
  candidates: readonly IndexedMessage[],
): Promise<readonly number[]> {
  const messages = await store.readMessages(candidates, { withoutHashes: true })
  return candidates.flatMap(({ row }, at) => {
    const loaded = messages[at]
    return loaded?.kind !== 'body' || matchesQuery(query, searchFieldsOf(loaded.message, query)) ? row : []
  })
}

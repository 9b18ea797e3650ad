/** Checks candidates of the index against the message bodies and turns those that match into hits. */
import type { LoadedMessage, MessageStore } from '../messages/message-store.ts'
import type { SessionId } from '../model/ids.ts'
import {
  bestSnippet,
  DEFAULT_SNIPPET_LENGTH,
  hitBaseOf,
  type MessageHit,
  matchesKeysOnly,
  searchFieldsOf,
} from './hit.ts'
import { matchesQuery, PatternTimeLimit } from './matching.ts'
import type { ParsedQuery } from './query/query.ts'
import type { SearchCandidate } from './text-index/candidates.ts'

export interface CandidateCheckOptions {
  /** Maximum length of a snippet in UTF-16 units. */
  readonly length?: number | undefined
  /** The candidates come from rows that the index did not match, so the body decides. */
  readonly isDoubtful?: boolean
  readonly time?: PatternTimeLimit
  /** Collects sessions that may have missed matches: a message is unreadable, or patterns ran out of time. */
  readonly unread?: Set<SessionId>
}

export interface CheckedHit {
  readonly hit: MessageHit
  readonly score: number
  readonly row: number
}

/** Returns the candidates whose bodies match. */
export async function checkCandidates(
  store: MessageStore,
  query: ParsedQuery,
  candidates: readonly SearchCandidate[],
  options: CandidateCheckOptions = {},
): Promise<readonly CheckedHit[]> {
  const { length = DEFAULT_SNIPPET_LENGTH, isDoubtful = false, time = new PatternTimeLimit(), unread } = options
  const messages = await store.readMessages(candidates)
  const hasPatterns = query.patterns.length > 0
  const checkOne = (candidate: SearchCandidate, loaded: LoadedMessage | undefined): CheckedHit | [] => {
    const { row, session, isTruncated } = candidate
    const base = hitBaseOf(candidate)
    // Without a body, the index alone decides.
    if (loaded?.kind !== 'body') {
      if (!hasPatterns && !isDoubtful) return { hit: { ...base, scope: 'prompt' }, score: 0, row }
      unread?.add(session)
      return []
    }
    const fields = searchFieldsOf(loaded.message, query)
    const mustCheck = isDoubtful || hasPatterns || (isTruncated && query.mustNot.length > 0)
    if (mustCheck && !matchesQuery(query, fields, time)) return []
    const { scope, snippet, score } = bestSnippet(query, fields, length, time)
    const keysOnly = matchesKeysOnly(query, loaded.message, scope)
    return { hit: { ...base, scope, snippet, ...(keysOnly && { keys_only: true }) }, score, row }
  }
  const check = (): readonly CheckedHit[] => candidates.flatMap((one, at) => checkOne(one, messages[at]))
  const hits = hasPatterns ? time.run(check) : check()
  if (time.isExhausted) for (const { session } of candidates) unread?.add(session)
  return hits ?? []
}

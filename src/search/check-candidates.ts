/** Checks candidates of the index against their messages, and makes hits of those that match. */
import type { LoadedMessage, MessageStore } from '../messages/message-store.ts'
import type { SessionId } from '../model/ids.ts'
import { bestSnippet, DEFAULT_SNIPPET_LENGTH, hitBaseOf, type MessageHit, searchFieldsOf } from './hit.ts'
import { matchesQuery, PatternTimeLimit } from './matching.ts'
import type { ParsedQuery } from './query/query.ts'
import type { SearchCandidate } from './text-index/candidates.ts'

export interface CandidateCheckOptions {
  /** UTF-16 units of a snippet. */
  readonly length?: number | undefined
  /** The index did not say that the candidates match. */
  readonly isDoubtful?: boolean
  readonly time?: PatternTimeLimit
  /** Collects the sessions of messages that may match: they can no longer be read, or patterns take too long in them. */
  readonly unread?: Set<SessionId>
}

export interface CheckedHit {
  readonly hit: MessageHit
  readonly score: number
  readonly row: number
}

/** The candidates that match; of some the messages say no. */
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
    // Without a message the index decides alone.
    if (loaded?.kind !== 'body') {
      if (!hasPatterns && !isDoubtful) return { hit: { ...base, scope: 'prompt' }, score: 0, row }
      unread?.add(session)
      return []
    }
    const fields = searchFieldsOf(loaded.message, query)
    const mustCheck = isDoubtful || hasPatterns || (isTruncated && query.mustNot.length > 0)
    if (mustCheck && !matchesQuery(query, fields, time)) return []
    const { scope, snippet, score } = bestSnippet(query, fields, length, time)
    return { hit: { ...base, scope, snippet }, score, row }
  }
  const check = (): readonly CheckedHit[] => candidates.flatMap((one, at) => checkOne(one, messages[at]))
  const hits = hasPatterns ? time.run(check) : check()
  if (time.isExhausted) for (const { session } of candidates) unread?.add(session)
  return hits ?? []
}

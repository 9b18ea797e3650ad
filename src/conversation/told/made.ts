/** What an entry that was made of another program's conversation says beside itself. */
import { type Fields, listOf } from '../../lib/object.ts'
import { MISSING } from '../../model/replay/part.ts'
import type { Draft } from './draft.ts'

/** A draft with what its entry says beside it: parts that nobody said, results that stand in a cancellation for another reason. */
export function asWritten(draft: Draft, written: Fields | undefined): Draft {
  if (!written) return draft
  const { tool_call } = draft
  const made = listOf(written['made'])
  const name = draft.source_type === 'tool_result' ? tool_call?.call_id : WORDS.get(draft.role)
  const marked = made.includes(name) ? { ...draft, metadata: { ...draft.metadata, synthetic: MISSING } } : draft
  if (written['not_cancelled'] !== true || tool_call?.status !== 'cancelled') return marked
  return { ...marked, tool_call: { ...tool_call, status: tool_call.source_status === 'Error' ? 'error' : 'success' } }
}

/** The message that brings its entry's records: the first that somebody said. */
export const bearerOf = (drafts: readonly Draft[]): number =>
  Math.max(
    0,
    drafts.findIndex(({ metadata }) => metadata?.['synthetic'] !== MISSING),
  )

const WORDS: ReadonlyMap<string, string> = new Map([
  ['user', 'prompt'],
  ['assistant', 'answer'],
])

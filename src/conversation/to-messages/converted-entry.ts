/** What an entry that was made of another program's conversation says beside itself. */
import { type Fields, listOf } from '../../lib/unknown-values.ts'
import { MISSING_MARK } from '../../model/metadata.ts'
import type { EntryDraft } from './entry-draft.ts'

/** A draft with what its entry says beside it: parts that nobody said, results that stand in a cancellation for another reason. */
export function applyConversionFields(draft: EntryDraft, written: Fields | undefined): EntryDraft {
  if (!written) return draft
  const { tool_call } = draft
  const synthetic = listOf(written['made'])
  const name = draft.source_type === 'tool_result' ? tool_call?.call_id : PART_NAMES.get(draft.role)
  const marked = synthetic.includes(name)
    ? { ...draft, metadata: { ...draft.metadata, synthetic: MISSING_MARK } as const }
    : draft
  if (written['not_cancelled'] !== true || tool_call?.status !== 'cancelled') return marked
  return { ...marked, tool_call: { ...tool_call, status: tool_call.source_status === 'Error' ? 'error' : 'success' } }
}

/** The message that brings its entry's records: the first that somebody said. */
export const recordDraftIndex = (drafts: readonly EntryDraft[]): number =>
  Math.max(
    0,
    drafts.findIndex(({ metadata }) => metadata?.synthetic !== MISSING_MARK),
  )

const PART_NAMES: ReadonlyMap<string, string> = new Map([
  ['user', 'prompt'],
  ['assistant', 'answer'],
])

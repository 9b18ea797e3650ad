/** What one record says on its own, before its position in the session is known. */

import type { NumberCheck } from '../../../model/checked-numbers.ts'
import type { Metadata } from '../../../model/metadata.ts'
import type { Enrichment } from '../../kit/call-pairing.ts'
import { type MessageDraft, NO_SEGMENTS } from '../../kit/place-message.ts'
import type { TokenReport } from './tokens.ts'

export interface RecordDraft extends MessageDraft {
  readonly fact?: RecordFact | undefined
  /** Fields of the record that hold no usable number. */
  readonly faults?: readonly string[] | undefined
}

/** What the record means for other records. */
export type RecordFact =
  /** Text that the log has twice: as an item of the conversation and as an event for the screen. */
  | {
      readonly kind: 'said'
      readonly who: TextAuthor
      readonly by: 'item' | 'event'
      readonly texts: readonly string[]
    }
  /** A copy of the answer before it. */
  | { readonly kind: 'closing'; readonly text: string }
  /** A compaction: its text ends with the summary, which the model may just have given as an answer. */
  | { readonly kind: 'compaction'; readonly text: string }
  | { readonly kind: 'call'; readonly call_id: string }
  | { readonly kind: 'result'; readonly call_id: string | undefined }
  | { readonly kind: 'enrichment'; readonly call_id: string; readonly found: Enrichment }
  /** Running totals of tokens. */
  | { readonly kind: 'tokens'; readonly report: TokenReport }
  | { readonly kind: 'rollback'; readonly turns: number }
  | { readonly kind: 'review'; readonly open: boolean }

export type TextAuthor = 'user' | 'assistant' | 'reasoning'

export function metaDraft(
  payloadType: string | null,
  metadata: Metadata,
  segments = NO_SEGMENTS,
  fact?: RecordFact,
): RecordDraft {
  return { role: 'meta', source_type: 'meta', payload_type: payloadType, segments, metadata, fact }
}

export const withFaults = (draft: RecordDraft, { faults }: NumberCheck): RecordDraft =>
  faults ? { ...draft, faults } : draft

/** Made by the model: an item of its answer, or a call of a tool. */
export const isAnswer = ({ role, source_type, fact }: RecordDraft): boolean =>
  source_type === 'tool_call' || (role === 'assistant' && (fact?.kind !== 'said' || fact.by === 'item'))

/** What a server would reject in a list of messages, and the repair. */

import type { Fields } from '../../lib/unknown-values.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { ToolCall } from '../message.ts'

/** Each has a case in `test/openai/problems/`. */
export type ProblemCode =
  | 'not_a_message'
  | 'role_unknown'
  | 'role_refused'
  | 'user_key'
  | 'unknown_key'
  | 'key_misplaced'
  | 'null_key'
  | 'name_illegal'
  | 'reasoning_key'
  | 'legacy_function'
  | 'content_type'
  | 'content_missing'
  | 'content_empty'
  | 'part_type'
  | 'part_empty'
  | 'part_refused'
  | 'file_flat'
  | 'image_refused'
  | 'image_form'
  | 'calls_empty'
  | 'call_form'
  | 'call_custom'
  | 'tool_name_illegal'
  | 'arguments_form'
  | 'id_missing'
  | 'id_illegal'
  | 'id_duplicate'
  | 'call_unanswered'
  | 'result_orphan'
  | 'result_misplaced'
  | 'result_unnamed'
  | 'system_position'
  | 'end_not_assistant'

/** A reason for which a server would reject the messages. */
export interface Problem {
  /** Position in the original list: `$[2].tool_calls[0].id`. */
  readonly path: string
  readonly code: ProblemCode
  /** Describes the problem. Never quotes the conversation. */
  readonly what: string
  /** Describes what `repair` does about it. */
  readonly repair: string
  /** Both texts in Japanese. */
  readonly ja?: { readonly what: string; readonly repair: string }
}

/** @param path relative to the message: `.tool_calls[0].id`; empty for the message itself */
export type ReportProblem = (path: string, code: ProblemCode, what: Phrase, repair: Phrase) => void

export const OMITTED_PHRASE = phrase('removes it', '省く')

export interface CheckedEntry {
  /** Index in the original list. An inserted message has that of the message it belongs to. */
  readonly at: number
  readonly message: Fields
  /** Name of the tool in a result. Servers may reject it, but it helps to find the call. */
  readonly tool?: string
}

/** Reports a problem of any message in the list. */
export type ReportEntryProblem = (
  entry: CheckedEntry,
  path: string,
  code: ProblemCode,
  what: Phrase,
  repair: Phrase,
) => void

/** Calls of a message that already have their final form. */
export const callsOfEntry = ({ message }: CheckedEntry): readonly ToolCall[] =>
  (message['tool_calls'] as readonly ToolCall[] | undefined) ?? []

export const isResultEntry = ({ message }: CheckedEntry): boolean => message['role'] === 'tool'

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

/** One thing that a server would refuse. */
export interface Problem {
  /** Where it is in the list that was given: `$[2].tool_calls[0].id`. */
  readonly path: string
  readonly code: ProblemCode
  /** A sentence: what is wrong. It never holds the words of a conversation. */
  readonly what: string
  /** What `repair` does about it. */
  readonly repair: string
  /** Both in Japanese. */
  readonly ja?: { readonly what: string; readonly repair: string }
}

/** @param path from the message on: `.tool_calls[0].id`, or empty for the message itself */
export type ReportProblem = (path: string, code: ProblemCode, what: Phrase, repair: Phrase) => void

export const OMITTED_PHRASE = phrase('leaves it out', '省く')

export interface CheckedEntry {
  /** Its index in the list that was given; an added message has that of the message it belongs to. */
  readonly at: number
  readonly message: Fields
  /** Of the tool, where a result names it: a server may not take it, but it helps to find the call. */
  readonly tool?: string
}

/** Like a Report, for any message of the list. */
export type ReportEntryProblem = (
  entry: CheckedEntry,
  path: string,
  code: ProblemCode,
  what: Phrase,
  repair: Phrase,
) => void

/** Of a message whose calls are in their proper form. */
export const callsOfEntry = ({ message }: CheckedEntry): readonly ToolCall[] =>
  (message['tool_calls'] as readonly ToolCall[] | undefined) ?? []

export const isResultEntry = ({ message }: CheckedEntry): boolean => message['role'] === 'tool'

/** A message on its way through the checks, with its place in the list that was given. */

import type { Fields } from '../../lib/unknown-values.ts'
import type { Phrase } from '../../model/phrase.ts'
import type { ToolCall } from '../message.ts'
import type { ProblemCode } from './problem.ts'

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

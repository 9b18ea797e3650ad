/** A conversation as every writer needs it: step by step, each call with its result. */

import type { AgentId } from '../ids.ts'
import type { Attachment } from '../metadata.ts'
import type { MessageSegment, NormalizedMessage, ToolCall } from '../normalized.ts'
import type { ElementFacts } from './extension.ts'

/** Items of a replay in this order: any number of `earlier`, one `opening`, then steps. */
export type ReplayItem =
  /** Records before a compaction, which the model no longer sees. */
  | { readonly kind: 'earlier'; readonly src: AgentId; readonly records: readonly unknown[] }
  /** What the source contains before the first message. */
  | { readonly kind: 'opening'; readonly group: RecordGroup }
  | ReplayStep

export type ReplayStep = InstructionStep | PromptStep | AnswerStep | OrphanStep | RecordsStep

/**
 * The records from which steps were made. The steps of a group are consecutive and their records cannot be separated. A
 * writer of the same format writes the records once instead of the steps.
 */
export interface RecordGroup {
  /** Undefined if the messages have no records. */
  readonly src: AgentId | undefined
  readonly records: readonly unknown[]
  /** The steps represent the records completely and unchanged. */
  readonly fits: boolean
  /** Number of steps in the group. */
  readonly steps: number
}

interface StepBase {
  readonly group: RecordGroup
  /** Time of the first message, UTC. */
  readonly at: string
}

/** Text of the program: instructions, or a summary of earlier messages. */
export interface InstructionStep extends StepBase {
  readonly kind: 'instruction'
  readonly message: NormalizedMessage
  readonly role: 'system' | 'developer'
  readonly isSummary: boolean
}

/** Text sent to the model as the user's: typed, or injected by the program. */
export interface PromptStep extends StepBase {
  readonly kind: 'prompt'
  readonly message: NormalizedMessage
  readonly isInjected: boolean
  /** Not sent yet. */
  readonly isPending: boolean
}

/** Everything the model produced until the next message: reasoning, text and calls in order. */
export interface AnswerStep extends StepBase {
  readonly kind: 'answer'
  readonly said: readonly AnswerPart[]
}

export type AnswerPart =
  | { readonly kind: 'thought'; readonly message: NormalizedMessage; readonly text: string }
  | { readonly kind: 'words'; readonly message: NormalizedMessage }
  | { readonly kind: 'call'; readonly call: ReplayCall }

export interface ReplayCall {
  readonly message: NormalizedMessage
  readonly tool: ToolCall
  /** Executed by the server, so it needs no result. */
  readonly isServed: boolean
  readonly result: ReplayResult | undefined
}

export interface ReplayResult {
  readonly message: NormalizedMessage
  readonly tool: ToolCall
  /** Images next to the output. */
  readonly segments: readonly MessageSegment[]
  /** Not sent yet. */
  readonly isPending: boolean
}

/** A result whose call is missing or too far back. */
export interface OrphanStep extends StepBase {
  readonly kind: 'orphan'
  readonly result: ReplayResult
}

/** Records between steps that belong to another source, so they cannot join a neighbouring group. */
export interface RecordsStep extends StepBase {
  readonly kind: 'aside'
}

/** Calls in order, each with its result. */
export const callsOfAnswer = ({ said: text }: AnswerStep): readonly ReplayCall[] =>
  text.flatMap((one) => (one.kind === 'call' ? [one.call] : []))

export const textMessagesOf = ({ said: text }: AnswerStep): readonly NormalizedMessage[] =>
  text.flatMap((one) => (one.kind === 'words' ? [one.message] : []))

/** Texts of a message, in order. */
export const textsOfMessage = ({ segments }: NormalizedMessage): readonly string[] =>
  segments.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : []))

/** Addresses of a message's images, in order. */
export const imageAddressesOf = (segments: readonly MessageSegment[]): readonly string[] =>
  segments.flatMap(({ media }) => media?.data_uri ?? media?.url ?? [])

/** Parts that are neither text nor image, as the adapter described them. */
export const attachmentsOf = ({ metadata }: Pick<NormalizedMessage, 'metadata'>): readonly Attachment[] =>
  metadata?.attachments ?? []

/** A part that is neither text nor image, or an image where none is allowed. */
export function attachmentNote({ format, filename, file_id, url }: Attachment): string {
  const name = [filename, file_id, url].find((one) => typeof one === 'string' && one !== '')
  const kind = typeof format === 'string' ? format.replace(/^(?:in|out)put_/, '') : 'attachment'
  return name === undefined ? `[${kind}]` : `[${kind}: ${String(name)}]`
}

/** Values of a message other than its text that a format may be unable to store. */
export function elementFactsOf({ raw, metadata, timestamp }: NormalizedMessage): ElementFacts | undefined {
  const facts: Record<string, unknown> = {}
  if (raw.timestamp !== undefined) facts['ts'] = raw.timestamp
  else if (!metadata?.timestamp_inferred) facts['ts'] = timestamp
  for (const key of COPIED_KEYS) if (metadata?.[key] !== undefined) facts[key] = metadata[key]
  for (const _ in facts) return facts
  return undefined
}

const COPIED_KEYS = ['injected', 'pending', 'kind', 'phase', 'synthetic'] as const

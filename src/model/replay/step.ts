/** A conversation as every writer needs it: step by step, each call with its result. */

import type { AgentId } from '../ids.ts'
import type { Attachment } from '../metadata.ts'
import type { MessageSegment, NormalizedMessage, ToolCall } from '../normalized.ts'
import type { ElementFacts } from './extension.ts'

/** What a replay gives, in this order: `earlier` any number of times, `opening` once, then the steps. */
export type ReplayItem =
  /** Stands before what the model goes on with: compacted away. Only its records are told. */
  | { readonly kind: 'earlier'; readonly src: AgentId; readonly records: readonly unknown[] }
  /** What the source tells before anything is said. */
  | { readonly kind: 'opening'; readonly group: RecordGroup }
  | ReplayStep

export type ReplayStep = InstructionStep | PromptStep | AnswerStep | OrphanStep | RecordsStep

/**
 * The records that steps were made of. Steps of one group follow each other, and their records cannot be told apart:
 * a writer whose own records they are writes them once, instead of all steps of the group.
 */
export interface RecordGroup {
  /** Nothing when the messages bring no records. */
  readonly src: AgentId | undefined
  readonly records: readonly unknown[]
  /** The steps are what was made of the records, whole and unchanged. */
  readonly fits: boolean
  /** How many steps it has. */
  readonly steps: number
}

interface StepBase {
  readonly group: RecordGroup
  /** UTC, of the first message. */
  readonly at: string
}

/** Words of the program: instructions, or the summary of what was said before. */
export interface InstructionStep extends StepBase {
  readonly kind: 'instruction'
  readonly message: NormalizedMessage
  readonly role: 'system' | 'developer'
  readonly isSummary: boolean
}

/** What goes to the model as the user's: typed, or injected by the program. */
export interface PromptStep extends StepBase {
  readonly kind: 'prompt'
  readonly message: NormalizedMessage
  readonly isInjected: boolean
  /** Not sent yet. */
  readonly isPending: boolean
}

/** All that the model said until somebody answered: thoughts, words and calls in their order. */
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
  /** The server ran it: no result is told, and none is missing. */
  readonly isServed: boolean
  readonly result: ReplayResult | undefined
}

export interface ReplayResult {
  readonly message: NormalizedMessage
  readonly tool: ToolCall
  /** Images beside the output. */
  readonly segments: readonly MessageSegment[]
  /** Not sent yet. */
  readonly isPending: boolean
}

/** A result whose call is not there, or came too long ago. */
export interface OrphanStep extends StepBase {
  readonly kind: 'orphan'
  readonly result: ReplayResult
}

/** Records between the steps that cannot be put with either neighbour, because they are another source's. */
export interface RecordsStep extends StepBase {
  readonly kind: 'aside'
}

/** Calls in their order, each with its result. */
export const callsOfAnswer = ({ said: text }: AnswerStep): readonly ReplayCall[] =>
  text.flatMap((one) => (one.kind === 'call' ? [one.call] : []))

export const textMessagesOf = ({ said: text }: AnswerStep): readonly NormalizedMessage[] =>
  text.flatMap((one) => (one.kind === 'words' ? [one.message] : []))

/** The texts of a message, in order. */
export const textsOfMessage = ({ segments }: NormalizedMessage): readonly string[] =>
  segments.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : []))

/** Addresses of its images, in order. */
export const imageAddressesOf = (segments: readonly MessageSegment[]): readonly string[] =>
  segments.flatMap(({ media }) => media?.data_uri ?? media?.url ?? [])

/** Parts that are neither text nor image, as their reader described them. */
export const attachmentsOf = ({ metadata }: Pick<NormalizedMessage, 'metadata'>): readonly Attachment[] =>
  metadata?.attachments ?? []

/** A part that is neither text nor image, or an image where none may stand. */
export function attachmentNote({ format, filename, file_id, url }: Attachment): string {
  const name = [filename, file_id, url].find((one) => typeof one === 'string' && one !== '')
  const kind = typeof format === 'string' ? format.replace(/^(?:in|out)put_/, '') : 'attachment'
  return name === undefined ? `[${kind}]` : `[${kind}: ${String(name)}]`
}

/** What is known of a message beside its words. */
export function elementFactsOf({ raw, metadata, timestamp }: NormalizedMessage): ElementFacts | undefined {
  const facts: Record<string, unknown> = {}
  if (raw.timestamp !== undefined) facts['ts'] = raw.timestamp
  else if (!metadata?.timestamp_inferred) facts['ts'] = timestamp
  for (const key of COPIED_KEYS) if (metadata?.[key] !== undefined) facts[key] = metadata[key]
  for (const _ in facts) return facts
  return undefined
}

const COPIED_KEYS = ['injected', 'pending', 'kind', 'phase', 'synthetic'] as const

/** What every writer receives and reports: a conversation step by step, each call with its result; changes and losses. */

import type { AgentId } from '../ids.ts'
import type { Attachment } from '../metadata.ts'
import type { MessageSegment, NormalizedMessage, ToolCall } from '../normalized.ts'
import { type Phrase, phrase } from '../phrase.ts'
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

/** A message as texts only: other parts become notes. */
export const textsWithNotes = (message: NormalizedMessage): readonly string[] => [
  ...message.segments.map(({ text, media }) => text ?? attachmentNote({ format: 'image', url: media?.url })),
  ...attachmentsOf(message).map(attachmentNote),
]

/** A result without its call as text, for formats that reject it. */
export const orphanText = ({ result: { tool } }: OrphanStep): string =>
  `[tool result ${tool.call_id ?? ''}]\n${tool.output ?? ''}`

/** Codex's own output for a call without a result. */
export const ABORTED = 'aborted'

/** Facts of a result for formats that store no status. */
export function resultFactsOf({ tool, message }: ReplayResult): ElementFacts | undefined {
  const facts = elementFactsOf(message)
  return tool.status === 'success' ? facts : { ...facts, status: tool.status }
}

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

/** What writers changed or lost: a code for programs, a text for people. `value` is the variable part of the text. */
const CHANGE_TEXTS = {
  no_place: () => phrase('has no equivalent in the target', '変換先に置き場所がありません'),
  unaccounted: (value) => phrase(`${value} records are unaccounted for`, `${value} 件の記録の行方が分かりません`),
  call_id_missing: () => phrase('the id of a call was missing', '呼び出しの ID がなかったため、付けました'),
  call_id_changed: () => phrase('the id of a call was changed', '呼び出しの ID を変えました'),
  tool_renamed: () => phrase('the name of a tool was changed', 'ツールの名前を変えました'),
  arguments_wrapped: () =>
    phrase('arguments that are not JSON were wrapped as {"_raw": …}', 'JSON でない引数を {"_raw": …} で包みました'),
  call_aborted: () =>
    phrase('a call without result was answered with "aborted"', '結果のない呼び出しに "aborted" と答えました'),
  call_cancelled: () =>
    phrase('a call without result was answered as cancelled', '結果のない呼び出しを取り消し扱いにしました'),
  result_in_words: () => phrase('a result without its call became text', '呼び出しのない結果を文章にしました'),
  result_cut: () => phrase('a result was cut to 400,000 bytes', '結果を 400,000 バイトに切り詰めました'),
  prompt_cut: () => phrase('a prompt was cut to 400,000 bytes', '依頼を 400,000 バイトに切り詰めました'),
  context_cut: () =>
    phrase('the context of a prompt was cut to 400,000 bytes', '依頼の文脈を 400,000 バイトに切り詰めました'),
  image_unheld: () =>
    phrase('an image that the program cannot hold became a note', '変換先が扱えない画像を注記にしました'),
  image_unaddressed: () =>
    phrase('an image whose address no server takes became a note', 'サーバーが受け付けない場所の画像を注記にしました'),
  prompt_empty: (value) => phrase(`an empty prompt became "${value}"`, `空の依頼を「${value}」にしました`),
  prompt_made: (value) =>
    phrase(`an answer without prompt got the prompt "${value}"`, `依頼のない応答に「${value}」という依頼を付けました`),
  answer_made: (value) =>
    phrase(`an unanswered prompt got the answer "${value}"`, `応答のない依頼に「${value}」という応答を付けました`),
  oldest_left_out: (value) =>
    phrase(
      `the ${value} oldest entries were omitted: the program does not send more than the rest`,
      `古い ${value} 件を省きました。プログラムが送る上限を超えています`,
    ),
  beginning_elsewhere: () =>
    phrase(
      'the beginning of the conversation is in another log and is not included',
      '会話の始まりは別のログにあり、含まれていません',
    ),
  unread_left_out: (value) =>
    phrase(
      `${value} entries that the program cannot read were omitted`,
      `プログラムが読めない ${value} 件を省きました`,
    ),
  refused_today: (value) =>
    phrase(
      `left unchanged, although current versions of the program reject it: ${value}`,
      `現在のプログラムは受け付けませんが、元のまま残しました：${value}`,
    ),
  after_last_answer: () => phrase('messages after the last answer were omitted', '最後の応答より後を省きました'),
  nested_too_deep: () => phrase('parts that were nested too deeply were omitted', '入れ子が深すぎる部分を省きました'),
  server_refuses: (value) => phrase(value, `サーバーが受け付けない形を直しました：${value}`),
} as const satisfies { readonly [code: string]: (value: string) => Phrase }

export type ChangeCode = keyof typeof CHANGE_TEXTS

export interface ConversionChange {
  readonly code: ChangeCode
  readonly value: string
}

export const toConversionChange = (code: ChangeCode, value: string | number = ''): ConversionChange => ({
  code,
  value: String(value),
})

export const describeChange = ({ code, value }: ConversionChange): Phrase => CHANGE_TEXTS[code](value)

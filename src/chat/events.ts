/** What a running conversation tells, one event after the other, to whoever shows it. No word of a terminal or a page. */
import type { AssistantMessage, ToolUseResult } from '../conversation/message.ts'
import type { RequestMetadata } from '../conversation/record.ts'
import type { ChatEvent, ChatNotice } from '../model/api/chat.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import type { Usage } from '../model/usage.ts'
import type { ChatError, ChatErrorKind } from '../openai/chat/transport.ts'
import type { CallNeed, OutputPiece } from './tools/tool.ts'

/** How a turn came to its end; `--no-interactive` has an exit code for each. */
export type TurnEnding =
  /** The model has answered. */
  | 'answered'
  /** The caller did not want to wait any longer. */
  | 'interrupted'
  /** The model, or its server's filter, did not want to answer. */
  | 'refused'
  /** A tool needed a word from somebody, and nobody is there. */
  | 'consent'
  /** The request is too large for the window, whatever is left out. */
  | 'overflow'
  /** The turn has used what it may use, or the model repeats itself. What waits can be sent. */
  | 'limit'
  /** The server could not be reached, or failed, or was silent. */
  | 'failed'

/** For who shows some notices only. */
export type NoticeCode = ChatNotice

export interface ToolQuestion {
  /** Of the tool use. */
  readonly id: string
  readonly name: string
  readonly need: CallNeed
}

/** What is told to a page as it is here: its fields are those of the API. */
type ApiEvent = Extract<
  ChatEvent,
  {
    kind:
      | 'started'
      | 'delta'
      | 'reasoning'
      | 'compacting'
      | 'compacted'
      /** The window is filled so far that a summary would be of use. */
      | 'compact_proposed'
      | 'notice'
      /** Text that a command was asked for, in Markdown where it has a form. */
      | 'output'
      /** Files and history were kept under this tag. */
      | 'checkpoint'
      | 'edit'
      /** Nothing goes on until `answer` is called with its id: yes trusts the file as it was read. */
      | 'trust_needed'
      | 'error'
  }
>

export type ChatSessionEvent =
  | ApiEvent
  /** A piece of a call while it is written. */
  | { readonly kind: 'calling'; readonly name: string; readonly text: string }
  /** What came of the answer so far is void: it is asked for again. */
  | { readonly kind: 'retry'; readonly error: ChatError; readonly attempt: number; readonly waitMs: number }
  | { readonly kind: 'usage'; readonly usage: Usage; readonly estimated: boolean; readonly purpose: RequestPurpose }
  /** An exchange is in the history and on disk. */
  | {
      readonly kind: 'entry'
      readonly number: number
      readonly assistant: AssistantMessage
      readonly metadata: RequestMetadata | null
      /** Why the answer is not whole. */
      readonly interrupted?: string
    }
  | ({ readonly kind: 'tool_asked' } & ToolQuestion)
  /** Nothing goes on until `answer` is called with its id. */
  | ({ readonly kind: 'consent_needed' } & ToolQuestion)
  | { readonly kind: 'tool_started'; readonly id: string; readonly name: string; readonly summary: Phrase }
  | ({ readonly kind: 'tool_output'; readonly id: string } & OutputPiece)
  | {
      readonly kind: 'tool_done'
      readonly id: string
      readonly name: string
      readonly result: ToolUseResult
      readonly ms: number
    }
  | { readonly kind: 'tools_cancelled'; readonly ids: readonly string[]; readonly reason: Phrase }
  /** The conversation is another one now, or at another point: what is shown must be shown anew. */
  | { readonly kind: 'moved' }
  | { readonly kind: 'quit' }
  /** The last event of a turn. */
  | { readonly kind: 'ended'; readonly how: TurnEnding; readonly error?: ChatError }

export type RequestPurpose = 'answer' | 'compaction'

/** What a person says to a tool that asks: yes, no, yes and from now on, or other words, which cancel it with them. */
export type ToolConsent = 'yes' | 'no' | 'trust' | { readonly text: string }

export type NoticeEvent = Extract<ChatSessionEvent, { kind: 'notice' }>

export const noticeEvent = (code: NoticeCode, { en: text, ja }: Phrase): NoticeEvent => ({
  kind: 'notice',
  code,
  text,
  ja,
})

export const errorEvent = ({ en: text, ja }: Phrase): ChatSessionEvent => ({ kind: 'error', text, ja })

const ERROR_TEXTS_JA: { readonly [kind in ChatErrorKind]: string } = {
  status: 'サーバーがエラーを返しました',
  connection: 'サーバーに接続できないか、接続が途中で切れました',
  timeout: 'サーバーから応答がありません',
  garbage: 'サーバーの応答を読み取れません',
  aborted: '中断されました',
  rounds: 'ツールの呼び出しが上限に達しました',
  unknown: '原因が分かりません',
}

export const chatErrorText = ({ kind, message }: ChatError): Phrase =>
  phrase(message, `${ERROR_TEXTS_JA[kind]}（${message}）`)

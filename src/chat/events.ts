/**
 * Events of a running conversation: those of the API (`model/api/chat.ts`), each with data for this machine only in
 * `local`. Terminal and page render the same union; the server sends events without `local`.
 */
import type { AssistantMessage, ToolUseResult } from '../conversation/message.ts'
import { writeBlock } from '../conversation/message-text.ts'
import type { RequestMetadata } from '../conversation/record.ts'
import { plainJson } from '../lib/json/lossless.ts'
import { fieldsOf, stringOf } from '../lib/unknown-values.ts'
import type { ChatEnding, ChatEvent, ChatFault, ChatNeed, ChatNotice, ChatSpan } from '../model/api/chat.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import type { Usage } from '../model/usage.ts'
import type { ChatError } from '../openai/chat/transport.ts'
import { findDangerousAdditions, findDangerSpans } from './tools/permission/danger.ts'
import type { CallNeed, OutputPiece } from './tools/tool.ts'

/** Unbounded or private details of an event, which the terminal and `--json` show. */
interface LocalFields {
  /** A piece of a call's arguments. */
  readonly calling: { readonly text: string }
  readonly retry: { readonly error: ChatError }
  readonly usage: { readonly usage: Usage; readonly purpose: RequestPurpose }
  readonly entry: { readonly assistant: AssistantMessage; readonly metadata: RequestMetadata | null }
  readonly tool_asked: { readonly need: CallNeed }
  readonly consent_needed: { readonly need: CallNeed }
  readonly tool_output: Pick<OutputPiece, 'stream'>
  readonly tool_done: { readonly result: ToolUseResult }
  readonly ended: { readonly error?: ChatError }
}

type SessionEventKind = Exclude<ChatEvent['kind'], 'hello' | 'said' | 'consent_given' | 'state' | 'closed'>

type SessionEventOf<Kind extends SessionEventKind> = Extract<ChatEvent, { kind: Kind }> &
  (Kind extends keyof LocalFields ? { readonly local: LocalFields[Kind] } : { readonly local?: undefined })

type ApiSessionEvent = { [Kind in SessionEventKind]: SessionEventOf<Kind> }[SessionEventKind]

export type ChatSessionEvent =
  | ApiSessionEvent
  /**
   * The conversation changed, or moved to another point: readers show it again from the start. `said` is a prompt that is
   * sent next, without being typed as such.
   */
  | { readonly kind: 'moved'; readonly said?: string }
  | { readonly kind: 'quit' }
  /** For the clipboard of the terminal. */
  | { readonly kind: 'clipboard'; readonly text: string }

type RequestPurpose = 'answer' | 'compaction' | 'subagent'

/**
 * The answer to a tool that asks: yes, no, yes from now on, yes to what is like it in this chat or always, or a text that
 * cancels the call and is sent to the model.
 */
export type ToolConsent = 'yes' | 'no' | 'trust' | 'allow_session' | 'allow_always' | { readonly text: string }

export type NoticeEvent = SessionEventOf<'notice'>
/** Nothing continues until `answer` is called with the event's id. */
export type ToolQuestion = Pick<SessionEventOf<'consent_needed'>, 'id' | 'name' | 'need' | 'local'>

/** The event as sent to a page. `moved` and `quit` are not sent. */
export function toApiEvent(event: ApiSessionEvent): ChatEvent {
  const { local: _, ...sent } = event
  return sent
}

export const noticeEvent = (code: ChatNotice, { en: text, ja }: Phrase): NoticeEvent => ({
  kind: 'notice',
  code,
  text,
  ja,
})

export const errorEvent = ({ en, ja }: Phrase): ChatSessionEvent => errorText(en, ja)

export const errorText = (text: string, ja: string): ChatSessionEvent => ({ kind: 'error', text, ja })

/** @param reason the cause and the next step */
export const endedEvent = (how: ChatEnding, error?: ChatError, reason?: Phrase): ChatSessionEvent => ({
  kind: 'ended',
  how,
  reason: reason?.en ?? error?.message ?? null,
  reason_ja: reason?.ja ?? (error ? chatErrorText(error).ja : null),
  local: error ? { error } : {},
})

export const retryEvent = (error: ChatError, attempt: number, wait_ms: number): ChatSessionEvent => {
  const { en: reason, ja: reason_ja } = connectionFault(error) ?? chatErrorText(error)
  return { kind: 'retry', code: error.kind, reason, reason_ja, attempt, wait_ms, local: { error } }
}

export const usageEvent = (usage: Usage, estimated: boolean, purpose: RequestPurpose): ChatSessionEvent => {
  const { input_tokens: input, output_tokens: output } = usage
  return { kind: 'usage', input, output, estimated, local: { usage, purpose } }
}

export const entryEvent = (
  number: number,
  assistant: AssistantMessage,
  metadata: RequestMetadata | null,
  interrupted: string | null,
): ChatSessionEvent => ({ kind: 'entry', number, interrupted, local: { assistant, metadata } })

export const toolDoneEvent = (id: string, name: string, result: ToolUseResult, ms: number): ChatSessionEvent => ({
  kind: 'tool_done',
  id,
  name,
  status: result.status === 'Success' ? 'success' : 'error',
  output: toolOutputText(result).slice(0, MAX_TEXT_LENGTH),
  ms,
  local: { result },
})

export const toolQuestion = (id: string, name: string, need: CallNeed): ToolQuestion => ({
  id,
  name,
  need: toChatNeed(need),
  local: { need },
})

const ERROR_TEXTS_JA: { readonly [kind in ChatFault]: string } = {
  status: 'サーバーがエラーを返しました',
  connection: 'サーバーに接続できないか、接続が途中で切れました',
  timeout: 'サーバーから応答がありません',
  garbage: 'サーバーの応答を読み取れません',
  aborted: '中断されました',
  rounds: 'ツールの呼び出しが上限に達しました',
  unknown: '原因が分かりません',
}

/** Instead of a code of the network library. */
function connectionFault({ kind, code }: ChatError): Phrase | undefined {
  if (kind !== 'connection') return undefined
  if (code === 'ECONNREFUSED') return phrase('connection refused', '接続を拒否されました')
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return phrase('host name not found', 'ホスト名が見つかりません')
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET') return phrase('the connection broke', '接続が切れました')
  return undefined
}

/** The server's own message; in Japanese with a description of the kind before it. */
export const chatErrorText = ({ kind, message }: ChatError): Phrase =>
  phrase(message, `${ERROR_TEXTS_JA[kind]}（${message}）`)

const MAX_TEXT_LENGTH = 100_000

function toChatNeed({ level, summary, reason, command, purpose, args, diff, stale }: CallNeed): ChatNeed {
  const danger = findDanger(command ?? args, diff?.slice(0, MAX_TEXT_LENGTH))
  return {
    level,
    summary: summary.en,
    summary_ja: summary.ja,
    ...(reason && { reason: reason.en, reason_ja: reason.ja }),
    ...(command !== undefined && { command }),
    ...(purpose !== undefined && { purpose }),
    ...(args !== undefined && { arguments: args }),
    ...(diff !== undefined && { diff: diff.slice(0, MAX_TEXT_LENGTH) }),
    ...(diff !== undefined && diff.length > MAX_TEXT_LENGTH && { diff_omitted: diff.length - MAX_TEXT_LENGTH }),
    ...(danger.length > 0 && { danger }),
    ...(stale && { stale: { path: stale.path, diff: stale.diff.slice(0, MAX_TEXT_LENGTH) } }),
  }
}

const findDanger = (ran: string | undefined, diff = ''): readonly ChatSpan[] =>
  ran === undefined ? findDangerousAdditions(diff) : findDangerSpans(ran)

/** For a shell, its output; for other tools, the result sent to the model. */
function toolOutputText({ content }: ToolUseResult): string {
  return content
    .map((block) => {
      const shell = 'Json' in block ? fieldsOf(plainJson(block.Json)) : undefined
      const status = stringOf(shell?.['exit_status'])
      if (status === undefined) return writeBlock(block, () => {}) ?? ''
      const words = [shell?.['stdout'], shell?.['stderr']].map((text) => stringOf(text) ?? '').join('')
      return status === '0' ? words : `${words}(exit ${status})\n`
    })
    .join('\n')
}

/** What went wrong between us and the model's server, for a person: its own words, and in Japanese what they are about. */
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { ChatError, ChatErrorKind } from '../../openai/chat/chat-error.ts'

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

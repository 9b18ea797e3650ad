/** What could not be done, by the codes of the API. */
import type { ApiErrorCode } from '../../../model/api/envelope.ts'
import type { QueryFault } from '../../../model/api/search.ts'
import type { ErrorCode } from '../../../model/error.ts'
import type { Problem } from '../../api/client.ts'
import { say } from '../frame.ts'
import { type Told, told } from './told.ts'

const CODES: { readonly [code in ApiErrorCode]: string } = {
  invalid_parameters: '指定に誤りがあります。',
  invalid_query: '検索の書き方に誤りがあります。',
  invalid_period: '期間を読み取れません。2026-11-15、today、7d のように指定してください。',
  unauthorized: 'このブラウザーはまだ認められていません。',
  forbidden: 'この場所からは許可されていません。',
  not_found: '見つかりません。古くなったか、すでに閉じられています。',
  session_not_found: 'この会話は見つかりません。',
  message_not_found: 'このメッセージは見つかりません。',
  source_gone: '元のログがありません。',
  not_possible: '実行できません。',
  sync_in_progress: '同期の実行中です。少し待ってください。',
  conversation_busy: 'この会話は使用中です。応答を待つか、中断してください。',
  body_too_large: '送る内容が大きすぎます。',
  too_many_requests: '要求が多すぎます。少し待ってください。',
  internal_error: 'fumibako の不具合です。サーバーのログを確認してください。',
}

const CAUSES: { readonly [code in ErrorCode]: string } = {
  bad_usage: 'この指定では実行できません。',
  nothing_readable: '読み取れる内容がありません。',
  not_found: '必要なものが見つかりません。',
  no_permission: '権限がありません。',
  cannot_write: '書き込めません。',
  unusable_data: 'データが壊れているか、読み取れません。',
  busy: '別のプロセスが使用中です。',
}

const FAULTS: { readonly [fault in QueryFault]: string } = {
  too_long: '検索語が長すぎます。',
  nothing: '検索する語がありません。文字か数字を含む語を入力してください。記号は /=>/ のように指定します。',
  quote_open: '引用符が閉じていません。句の終わりに付けてください。',
  group_open: 'かっこが閉じていません。',
  group_excludes: 'かっこの中に除外する語しかありません。',
  group_filters: '絞り込みとパターンは、かっこの外に書いてください。',
  group_depth: 'かっこの入れ子が深すぎます。',
  filter_empty: 'コロンのすぐ後に値を書いてください。',
  filter_value: 'この絞り込みに、その値はありません。',
  no_date: '日付として読めません。2026-11-15、2026-11、today、7d のように書いてください。',
  star_inside: '* は語の末尾にだけ使えます。',
  or_alone: 'OR の両側に語が必要です。',
  or_beside: 'OR でつなげるのは、語・句・かっこだけです。',
  too_many: '語が多すぎます。',
  pattern: '正規表現として読めません。',
}
/** Of these the server names what is possible, or where it failed. */
const NAMED: ReadonlySet<unknown> = new Set<QueryFault>(['filter_value', 'pattern'])

/** What cannot be done at all, such as a sync that failed. */
export const causeTold = (code: ErrorCode | null, text: string): Told =>
  told(code === null ? CODES.internal_error : CAUSES[code], text)

export function problemTold({ code, detail, meta }: Problem): Told {
  switch (code) {
    case 'unreachable':
      return { said: say.unreachable }
    case 'unauthorized':
      return { said: say.unauthorized }
    case 'too_many_requests':
      return { said: say.tooMany }
    case 'session_not_found':
      return { said: say.sessionNotFound }
    case 'source_gone':
      return { said: say.sourceGone }
    case 'invalid_query': {
      const fault = FAULTS[meta?.['code'] as QueryFault] ?? CODES.invalid_query
      const { said, ...more } = told(fault, sentence(detail))
      return NAMED.has(meta?.['code']) ? { said, ...more } : { said }
    }
    case 'not_possible': {
      const cause = meta?.['cause']
      return told(CAUSES[cause as ErrorCode] ?? CODES.not_possible, sentence(detail))
    }
    default:
      return told(CODES[code], sentence(detail) || say.wrong)
  }
}

const sentence = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

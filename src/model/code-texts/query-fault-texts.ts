/** Why a query was not understood, in Japanese. Its English comes with the query. */
import type { QueryFault } from '../api/search.ts'

const QUERY_FAULT_TEXTS_JA: { readonly [fault in QueryFault]: string } = {
  too_long: '検索語が長すぎます。',
  nothing: '検索する語がありません。文字か数字を含む語を入力してください。記号は /=>/ のように指定します。',
  quote_open: '引用符が閉じていません。句の終わりに付けてください。',
  group_open: 'かっこが閉じていません。',
  group_excludes: 'かっこの中に除外する語しかありません。',
  group_filters: '絞り込みとパターンは、かっこの外に書いてください。',
  group_depth: 'かっこの入れ子が深すぎます。',
  filter_empty: 'コロンのすぐ後に値を書いてください。',
  filter_value: 'この絞り込みに使えるのは次の値だけです。',
  no_date: '日付として読めません。2026-11-15、2026-11、today、7d のように書いてください。',
  star_inside: '* は語の末尾にだけ使えます。',
  or_alone: 'OR の両側に語が必要です。',
  or_beside: 'OR でつなげるのは、語・句・かっこだけです。',
  too_many: '語が多すぎます。',
  pattern: '正規表現として読めません。',
}

export const queryFaultInJapanese = ({
  code,
  detail,
}: {
  readonly code: QueryFault
  readonly detail?: string
}): string => `${QUERY_FAULT_TEXTS_JA[code]}${detail === undefined ? '' : `（${detail}）`}`

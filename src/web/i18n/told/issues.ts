/** What could not be read as it should, by the codes of issues. */
import type { IssueItem } from '../../../model/api/session.ts'
import type { IssueCode } from '../../../model/issue.ts'
import { wholly } from './told.ts'

const CODES: { readonly [code in IssueCode]: string } = {
  bad_json: 'JSON ではないため、読み飛ばしました',
  bad_utf8: 'UTF-8 ではないバイトを置き換えて読みました',
  cut_short: '途中で切れています。その前まではすべて読みました',
  glued: '1 行に複数の記録があります。壊れていない記録はすべて読みました',
  nul_bytes: '強制終了で残った NUL バイトを取り除いて読みました',
  not_an_object: 'JSON ですが、記録の形をしていません',
  no_payload: '記録に本体がありません',
  unknown_shape: '知らない形の記録です。そのまま残しています',
  orphan_result: '呼び出しが見つからないツールの結果です',
  line_too_long: '長すぎて読めない行です',
  too_deep: '入れ子が深すぎる部分を省きました',
  foreign_session: '別の会話の見出しが混ざっています',
  changed_while_read: '読んでいる間にファイルが置き換えられたため、最初から読み直しました',
  unreadable: '開けないか、読めません',
  not_a_session: '会話ではなく、会話の名前だけを持つファイルです',
  earlier_history_elsewhere: 'この会話の始まりは別のログにあります',
}

export const issueTold = ({ code, reason }: IssueItem): string => wholly(CODES[code as IssueCode], reason)

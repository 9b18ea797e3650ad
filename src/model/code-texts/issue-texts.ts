/** What could not be read as it should, for a person. */
import type { Issue, IssueCode } from '../issue.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { readProblemInJapanese } from './read-problems.ts'

const ISSUE_TEXTS_JA: { readonly [code in IssueCode]: string } = {
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
  bad_number: '使えない数値を省きました',
  bad_value: '型の違う値を省きました',
  bad_time: '使えない日時を省きました',
  foreign_session: '別の会話の見出しが混ざっています',
  changed_while_read: '読んでいる間にファイルが置き換えられたため、最初から読み直しました',
  unreadable: '開けないか、読めません',
  internal_error: 'fumibako の不具合で読めませんでした。報告してください',
  not_a_session: '会話ではなく、会話の名前だけを持つファイルです',
  earlier_history_elsewhere: 'この会話の始まりは別のログにあります',
}

/** Reasons that say more than their code does. */
const REASON_PATTERNS: { readonly [code in IssueCode]?: readonly (readonly [said: RegExp, ja: string])[] } = {
  bad_json: [[/^not a conversation of/, 'Amazon Q や Kiro の会話ではありません']],
  cut_short: [
    [/writer may still be at it/, '最後の行が途中で切れています。まだ書き込み中かもしれません'],
    [
      /^the compressed data asks/,
      '圧縮データの展開に、ログとして許される以上のメモリーか時間が必要です。その前まではすべて読みました',
    ],
    [/^the compressed data/, '圧縮データが途切れているか、壊れています。その前まではすべて読みました'],
  ],
  glued: [[/it was not read$/, '一覧の後に何かが続いています。そこは読んでいません']],
  unknown_shape: [
    [/^written by a later version/, 'もっと新しい版が書いた記録です。fumibako を更新してください'],
    [/^the journal does not begin/, 'ジャーナルが見出しで始まっていません'],
    [/^not a conversation of/, 'Amazon Q や Kiro の会話ではありません'],
    [/not a Codex session/, 'JSON ですが、Codex の会話ではありません'],
    [/^no NormalizedMessage/, 'NormalizedMessage ではありません'],
    [/whose role is not known/, 'ロールが分からないメッセージです'],
    [/cannot be read: (.*)/s, '読み取れない項目です。そのまま残しています（$1）'],
  ],
  orphan_result: [[/^(\d+) results/, '呼び出しが見つからないツールの結果が $1 件あります']],
  line_too_long: [[/(\d+) bytes long/, '$1 バイトの、長すぎて読めない行です']],
  changed_while_read: [
    [/while it was read/, '読んでいる間にファイルが置き換えられたか、切り詰められました。もう一度読み込んでください'],
    [/since it was last|no longer begins/, '前回読んだ後に書き換えられたため、最初から読みます'],
  ],
  bad_number: [[/^no usable number in (.*); left out$/, '使えない数値を省きました（$1）']],
  bad_value: [[/^no usable value in (.*); left out$/, '型の違う値を省きました（$1）']],
  bad_time: [[/^no usable time in (.*); left out$/, '使えない日時を省きました（$1）']],
  internal_error: [
    [/^internal error: (.*); please report it$/s, 'fumibako の不具合で読めませんでした。報告してください（$1）'],
  ],
  unreadable: [
    [/^the row is gone/, 'その行はありません。プログラムが置き換えたか、削除しました'],
    [/^cannot be read \((.*)\)$/, '読み取れません（$1）'],
  ],
}

/** Nothing for a code of another version. */
export function issueInJapanese({ code, reason }: { readonly code: string; readonly reason: string }) {
  for (const [pattern, ja] of REASON_PATTERNS[code as IssueCode] ?? []) {
    const found = pattern.exec(reason)
    if (found) return ja.replace('$1', () => found[1] ?? '')
  }
  return readProblemInJapanese(reason) ?? (ISSUE_TEXTS_JA[code as IssueCode] as string | undefined)
}

export function describeIssue(issue: Issue): Phrase {
  const row = issue.key === undefined ? '' : ` [${issue.key}]`
  const line = issue.line === undefined ? '' : `:${issue.line}`
  const where = `${issue.path}${row}${line}`
  return phrase(`${where}: ${issue.reason}`, `${where}: ${issueInJapanese(issue) ?? issue.reason}`)
}

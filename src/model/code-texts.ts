/** Texts in both languages for the codes of issues, unreadable files, faults of queries and warnings. */

import type {} from './api/convert.ts'
import type { QueryFault } from './api/search.ts'
import type { Issue, IssueCode } from './issue.ts'
import { type Phrase, phrase } from './phrase.ts'

export const FILE_PROBLEMS = {
  missing: phrase('no such file', 'ファイルがありません'),
  no_permission: phrase(
    'no permission to read it; check its owner and mode',
    '読み取り権限がありません。所有者とモードを確認してください',
  ),
  folder: phrase('a folder, not a file', 'ファイルではなくフォルダーです'),
  pipe: phrase(
    'a named pipe, not a regular file; copy its content to a file first',
    '通常のファイルではなく名前付きパイプです。先に内容をファイルにコピーしてください',
  ),
  device: phrase(
    'a device, not a regular file; copy its content to a file first',
    '通常のファイルではなくデバイスです。先に内容をファイルにコピーしてください',
  ),
  socket: phrase(
    'a socket, not a regular file; give a file',
    '通常のファイルではなくソケットです。ファイルを指定してください',
  ),
  link_loop: phrase('a symbolic link that points back to itself', 'シンボリックリンクが自分自身に戻っています'),
} as const satisfies { readonly [kind: string]: Phrase }

export const STORE_PROBLEMS = {
  missing: phrase(
    'No such file. Check the path, or start the program that creates it.',
    'ファイルがありません。パスを確認するか、ファイルを作るプログラムを起動してください。',
  ),
  empty: phrase(
    'The file is empty: its program has written nothing yet. Try again later.',
    'ファイルが空です。プログラムがまだ何も書いていません。後でもう一度試してください。',
  ),
  special: phrase(
    'This is a pipe, a device or a socket, not a regular file, so it was not opened. Remove it, or give the path of the database.',
    '通常のファイルではなく、パイプ、デバイス、またはソケットなので、開きませんでした。取り除くか、データベースのパスを指定してください。',
  ),
  not_a_database: phrase(
    'This is not an SQLite database, or it is encrypted. Check the path.',
    'SQLite のデータベースではないか、暗号化されています。パスが正しいか確認してください。',
  ),
  cut_short: phrase(
    'The file is shorter than its header says. Get a complete copy.',
    'ファイルがヘッダーの示す長さより短くなっています。完全なコピーを用意してください。',
  ),
  corrupt: phrase(
    'The database is damaged here; other rows may still be readable. `sqlite3 FILE .recover` may save more.',
    'データベースのこの部分が壊れています。ほかの行は読めるかもしれません。`sqlite3 FILE .recover` でさらに救える場合があります。',
  ),
  busy: phrase(
    'Another program has locked it. Try again when that program is idle or closed.',
    '別のプログラムがロックしています。そのプログラムが休んでいるか終了しているときに、もう一度試してください。',
  ),
  no_permission: phrase(
    'Permission denied. Run as the owner of the file, or change its mode.',
    '権限がありません。ファイルの所有者として実行するか、モードを変更してください。',
  ),
  replaced: phrase(
    'The file was replaced in the meantime. Open it again.',
    'ファイルがその間に別のものに置き換えられました。もう一度開いてください。',
  ),
  other_schema: phrase(
    'It does not have the expected tables. Check that the file belongs to this program, in a supported version.',
    '必要なものが入っていません。このプログラムのファイルか、対応している版のものか確認してください。',
  ),
  unreadable: phrase(
    'The system could not read it. Check the disk or network drive.',
    'システムが読み取れませんでした。ファイルのあるディスクかネットワークを確認してください。',
  ),
  no_room: phrase(
    'The disk is full. Free some space, or set TMPDIR to a folder with more.',
    'ディスクがいっぱいです。空きを作るか、空きのあるフォルダーを TMPDIR に設定してください。',
  ),
} as const satisfies { readonly [kind: string]: Phrase }

/**
 * The reason an answer is incomplete: another program holds a lock, or a file lacks permission. The owner or the user
 * can resolve these. Damaged or foreign files do not make an answer incomplete.
 */
export function incompleteReasonOf({
  code,
  reason,
}: Pick<Issue, 'code' | 'reason'>): 'busy' | 'no_permission' | undefined {
  if (code !== 'unreadable') return undefined
  if (reason.includes(STORE_PROBLEMS.busy.en)) return 'busy'
  const isDenied = reason === FILE_PROBLEMS.no_permission.en || reason.includes(STORE_PROBLEMS.no_permission.en)
  return isDenied ? 'no_permission' : undefined
}

/** Japanese text for an English problem of a file or database; undefined for other text. */
export function readProblemInJapanese(reason: string): string | undefined {
  const file = Object.values(FILE_PROBLEMS).find(({ en }) => en === reason)
  if (file) return file.ja
  const store = Object.values(STORE_PROBLEMS).find(({ en }) => reason.includes(en))
  const [, detail = ''] = store ? reason.split(store.en) : []
  return store && `${store.ja}${detail.replace(/^ \((.*)\)$/, '（$1）')}`
}

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

/** Japanese texts for reasons that say more than their code. */
const REASON_PATTERNS: { readonly [code in IssueCode]?: readonly (readonly [said: RegExp, ja: string])[] } = {
  bad_json: [[/^not a conversation of/, 'Amazon Q や Kiro の会話ではありません']],
  cut_short: [
    [/may still be writing it/, '最後の行が途中で切れています。まだ書き込み中かもしれません'],
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
    [/^not a NormalizedMessage/, 'NormalizedMessage ではありません'],
    [/has an unknown role/, 'ロールが分からないメッセージです'],
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

/** Returns undefined for a code of another version. */
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

/** What a conversion changes and cannot keep, and why a hand-off cannot be, by their codes. */
import type { LossItem, RepairItem, WarningCode, WarningItem } from '../../../model/api/convert.ts'
import type { ErrorCode } from '../../../model/error.ts'
import type { ChangeCode } from '../../../model/replay/change.ts'
import { type Told, told, wholly } from './told.ts'

const CHANGES: { readonly [code in ChangeCode]: (value: string) => string } = {
  no_place: () => '変換先に置き場所がありません',
  unaccounted: (count) => `${count} 件の記録の行方が分かりません`,
  call_id_missing: () => '呼び出しの ID がなかったため、付けました',
  call_id_changed: () => '呼び出しの ID を変えました',
  tool_renamed: () => 'ツールの名前を変えました',
  arguments_wrapped: () => 'JSON でない引数を {"_raw": …} で包みました',
  call_aborted: () => '結果のない呼び出しに "aborted" と答えました',
  call_cancelled: () => '結果のない呼び出しを取り消し扱いにしました',
  result_in_words: () => '呼び出しのない結果を文章にしました',
  result_cut: () => '結果を 400,000 バイトに切り詰めました',
  prompt_cut: () => '依頼を 400,000 バイトに切り詰めました',
  context_cut: () => '依頼の文脈を 400,000 バイトに切り詰めました',
  image_unheld: () => '変換先が扱えない画像を注記にしました',
  image_unaddressed: () => 'サーバーが受け付けない場所の画像を注記にしました',
  prompt_empty: (words) => `空の依頼を「${words}」にしました`,
  prompt_made: (words) => `依頼のない応答に「${words}」という依頼を付けました`,
  answer_made: (words) => `応答のない依頼に「${words}」という応答を付けました`,
  oldest_left_out: (count) => `古い ${count} 件を省きました。プログラムが送る上限を超えています`,
  unread_left_out: (count) => `プログラムが読めない ${count} 件を省きました`,
  refused_today: (fault) => `現在のプログラムは受け付けませんが、元のまま残しました：${fault}`,
  after_last_answer: () => '最後の応答より後を省きました',
  nested_too_deep: () => '入れ子が深すぎる部分を省きました',
  server_refuses: (what) => `サーバーが受け付けない形を直しました：${what}`,
}

const WARNINGS: { readonly [code in WarningCode]: string } = {
  unlisted: 'Codex の版によっては、この会話が一覧に出ません。その場合も再開コマンドで開けます。',
}

const REFUSALS: { readonly [code in ErrorCode]: string } = {
  bad_usage:
    '会話のディレクトリーがこのマシンにないか、引き継ぎ先が受け付けません。別のディレクトリーを指定してください。',
  nothing_readable: '引き継げる発言がありません。',
  not_found: '引き継ぎ先のプログラムが、このマシンではまだ使われていません。',
  no_permission: '引き継ぎ先に書き込む権限がありません。',
  cannot_write: '引き継ぎ先に書き込めません。何も変更していません。',
  unusable_data: '引き継ぎ先のデータを読み取れません。',
  busy: '引き継ぎ先にもっと新しい会話があるか、使用中です。別のディレクトリーを指定できます。',
}

export const changeTold = ({ code, value, what }: LossItem | RepairItem): string => wholly(CHANGES[code](value), what)

export const warningTold = ({ code, what }: WarningItem): Told => told(WARNINGS[code], what)

/** What the server says to users of the command line is left out: the dialog has fields for it. */
const withoutOptions = (text: string): string => text.replaceAll(/ [^.]*\s--[a-z]+[^.]*\.(?=\s|$)/g, '')

export const refusalTold = (code: ErrorCode, reason: string): Told => told(REFUSALS[code], withoutOptions(reason))

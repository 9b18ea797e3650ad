/** What a conversion changes and cannot keep, and why a hand-off cannot be, by their codes. */
import type { LossItem, RepairItem, WarningItem } from '../../../model/api/convert.ts'
import type { ErrorCode } from '../../../model/error.ts'
import { sentenceOf } from '../../../model/replay/change.ts'
import { WARNINGS } from '../../../model/told/warnings.ts'
import { type Told, told, wholly } from './told.ts'

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

export const changeTold = (item: LossItem | RepairItem): string => wholly(sentenceOf(item).ja, item.what)

export const warningTold = ({ code, what }: WarningItem): Told => told(WARNINGS[code], what)

/** What the server says to users of the command line is left out: the dialog has fields for it. */
const withoutOptions = (text: string): string => text.replaceAll(/ [^.]*\s--[a-z]+[^.]*\.(?=\s|$)/g, '')

export const refusalTold = (code: ErrorCode, reason: string): Told => told(REFUSALS[code], withoutOptions(reason))

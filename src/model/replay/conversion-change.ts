/** Changes and losses that writers report: a code for programs, a text for people. */
import { type Phrase, phrase } from '../phrase.ts'

/** The text for each code. `value` is the variable part, such as a number. */
const CHANGE_TEXTS = {
  no_place: () => phrase('has no equivalent in the target', '変換先に置き場所がありません'),
  unaccounted: (value) => phrase(`${value} records are unaccounted for`, `${value} 件の記録の行方が分かりません`),
  call_id_missing: () => phrase('the id of a call was missing', '呼び出しの ID がなかったため、付けました'),
  call_id_changed: () => phrase('the id of a call was changed', '呼び出しの ID を変えました'),
  tool_renamed: () => phrase('the name of a tool was changed', 'ツールの名前を変えました'),
  arguments_wrapped: () =>
    phrase('arguments that are not JSON were wrapped as {"_raw": …}', 'JSON でない引数を {"_raw": …} で包みました'),
  call_aborted: () =>
    phrase('a call without result was answered with "aborted"', '結果のない呼び出しに "aborted" と答えました'),
  call_cancelled: () =>
    phrase('a call without result was answered as cancelled', '結果のない呼び出しを取り消し扱いにしました'),
  result_in_words: () => phrase('a result without its call became text', '呼び出しのない結果を文章にしました'),
  result_cut: () => phrase('a result was cut to 400,000 bytes', '結果を 400,000 バイトに切り詰めました'),
  prompt_cut: () => phrase('a prompt was cut to 400,000 bytes', '依頼を 400,000 バイトに切り詰めました'),
  context_cut: () =>
    phrase('the context of a prompt was cut to 400,000 bytes', '依頼の文脈を 400,000 バイトに切り詰めました'),
  image_unheld: () =>
    phrase('an image that the program cannot hold became a note', '変換先が扱えない画像を注記にしました'),
  image_unaddressed: () =>
    phrase('an image whose address no server takes became a note', 'サーバーが受け付けない場所の画像を注記にしました'),
  prompt_empty: (value) => phrase(`an empty prompt became "${value}"`, `空の依頼を「${value}」にしました`),
  prompt_made: (value) =>
    phrase(`an answer without prompt got the prompt "${value}"`, `依頼のない応答に「${value}」という依頼を付けました`),
  answer_made: (value) =>
    phrase(`an unanswered prompt got the answer "${value}"`, `応答のない依頼に「${value}」という応答を付けました`),
  oldest_left_out: (value) =>
    phrase(
      `the ${value} oldest entries were omitted: the program does not send more than the rest`,
      `古い ${value} 件を省きました。プログラムが送る上限を超えています`,
    ),
  beginning_elsewhere: () =>
    phrase(
      'the beginning of the conversation is in another log and is not included',
      '会話の始まりは別のログにあり、含まれていません',
    ),
  unread_left_out: (value) =>
    phrase(
      `${value} entries that the program cannot read were omitted`,
      `プログラムが読めない ${value} 件を省きました`,
    ),
  refused_today: (value) =>
    phrase(
      `left unchanged, although current versions of the program reject it: ${value}`,
      `現在のプログラムは受け付けませんが、元のまま残しました：${value}`,
    ),
  after_last_answer: () => phrase('messages after the last answer were omitted', '最後の応答より後を省きました'),
  nested_too_deep: () => phrase('parts that were nested too deeply were omitted', '入れ子が深すぎる部分を省きました'),
  server_refuses: (value) => phrase(value, `サーバーが受け付けない形を直しました：${value}`),
} as const satisfies { readonly [code: string]: (value: string) => Phrase }

export type ChangeCode = keyof typeof CHANGE_TEXTS

export interface ConversionChange {
  readonly code: ChangeCode
  readonly value: string
}

export const toConversionChange = (code: ChangeCode, value: string | number = ''): ConversionChange => ({
  code,
  value: String(value),
})

export const describeChange = ({ code, value }: ConversionChange): Phrase => CHANGE_TEXTS[code](value)

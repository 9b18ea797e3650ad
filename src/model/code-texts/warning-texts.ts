/** What whoever hands a conversation over should know, in Japanese by the codes of warnings. */
import type { WarningCode } from '../api/convert.ts'

export const WARNING_TEXTS_JA: { readonly [code in WarningCode]: string } = {
  unlisted: 'Codex の版によっては、この会話が一覧に出ません。その場合も再開コマンドで開けます。',
}

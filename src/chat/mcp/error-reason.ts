/** Why a server did not do what was asked, in one line for a person. */
import { type Phrase, phrase, untranslated } from '../../model/phrase.ts'

/** What the SDK gives an error of HTTP. */
const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

/** As the protocol has it: who hears this begins a new session. */
export const isUnknownSession = (error: unknown): boolean => codeOf(error) === 404

export function mcpErrorReason(error: unknown): Phrase {
  const code = codeOf(error)
  if (code === 401)
    return phrase(
      'it wants to know who you are (401): get a token from it, and put "headers": {"Authorization": "Bearer …"} into its entry under mcpServers',
      '認証が必要です（401）。サーバーからトークンを取得し、mcpServers の項目に "headers": {"Authorization": "Bearer …"} を加えてください',
    )
  if (code === 403)
    return phrase(
      'it knows who you are and refuses (403): look at the token in the headers of its entry',
      '認証はされましたが、拒まれました（403）。項目の headers にあるトークンを確認してください',
    )
  const text = error instanceof Error ? error.message : String(error)
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : ''
  return untranslated((text + cause).split('\n')[0] ?? '')
}

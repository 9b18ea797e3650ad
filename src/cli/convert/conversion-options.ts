/** Options that convert and handoff share, and what `--max-tokens` cut. */
import { InvalidArgumentError, Option } from 'commander'
import type { Cut } from '../../convert.ts'
import { say } from '../language.ts'

/** Less holds not even the summary. */
const MIN_TOKENS = 100

export const maxTokensOption = (): Option =>
  new Option(
    '--max-tokens <n>',
    say(
      'for a smaller window: the last turns, and a summary of facts for the others',
      '小さいウィンドウ向け: 最後のターンを残し、それ以前は事実の要約にする',
    ),
  ).argParser(parseTokens)

/** Where `convert` and `handoff` look for the session. */
export const inOption = (): Option =>
  new Option(
    '--in <path>',
    say('look for the session in this database, file or folder', '会話を探すデータベース、ファイル、フォルダー'),
  )

export const sessionOption = (): Option =>
  new Option(
    '--session <which>',
    say(
      'one of several conversations in a file: its number, or its id',
      '1 つのファイルに複数ある会話のどれか（番号または ID）',
    ),
  )

function parseTokens(text: string): number {
  const tokens = Number(text.replaceAll('_', '').replace(/k$/i, '000'))
  if (!Number.isInteger(tokens) || tokens < MIN_TOKENS)
    throw new InvalidArgumentError(
      say(
        `It takes a number of tokens, ${MIN_TOKENS} or more: 100000, 100k.`,
        `${MIN_TOKENS} 以上のトークン数を 100000 や 100k のように指定してください。`,
      ),
    )
  return tokens
}

export function formatCut({ turns, tokens, tooLarge }: Cut): string {
  if (turns.cut === 0 && !tooLarge)
    return `${say(`all ${turns.kept} turns fit: about ${tokens.all} tokens`, `全 ${turns.kept} ターンが収まります（約 ${tokens.all} トークン）`)}\n`
  const all = turns.cut + turns.kept
  const large = tooLarge
    ? say('; even the last turn is more than was asked for', '。最後のターンだけでも上限を超えています')
    : ''
  const cut = say(
    `${turns.cut} of ${all} turns became a summary of facts; about ${tokens.kept} of ${tokens.all} tokens stay`,
    `${all} ターン中 ${turns.cut} ターンを事実の要約にしました。${tokens.all} トークン中、約 ${tokens.kept} トークンが残ります`,
  )
  return `${cut}${large}\n`
}

/** What `convert` and `handoff` share: options, and reports of cuts and losses. */
import { InvalidArgumentError } from 'commander'
import type { Cut, Report } from '../convert.ts'
import { writeFileAtomically } from '../lib/files/atomic-file.ts'
import { describeChange } from '../model/replay/step.ts'
import type { OptionDefinition } from './define-command.ts'
import { say } from './language.ts'
import { writeErrJson } from './output.ts'
import { formatCount, plural, renderTable } from './view/table.ts'

/** Smaller windows cannot fit the summary. */
const MIN_TOKENS = 100

export const MAX_TOKENS_OPTION: OptionDefinition = [
  '--max-tokens <n>',
  'fit this context window: keep the last turns, replace earlier ones by a summary of facts',
  'このコンテキストウィンドウに収める: 最後のターンを残し、それ以前は事実の要約に置き換える',
  { parse: parseTokens },
]

export const REPORT_OPTION: OptionDefinition = [
  '--report <file>',
  'write lost values, where they are preserved, and repairs to this JSON file',
  '失われた値・その保存場所・修正を、この JSON ファイルに書く',
]

function parseTokens(text: string): number {
  const tokens = Number(text.replaceAll('_', '').replace(/k$/i, '000'))
  if (!Number.isInteger(tokens) || tokens < MIN_TOKENS)
    throw new InvalidArgumentError(
      say(
        `Use ${MIN_TOKENS} tokens or more, written as 100000 or 100k.`,
        `${MIN_TOKENS} 以上のトークン数を 100000 や 100k のように指定してください。`,
      ),
    )
  return tokens
}

export function formatCut({ turns, tokens, tooLarge }: Cut): string {
  if (turns.cut === 0 && !tooLarge)
    return `${say(`all ${turns.kept} turns fit (about ${tokens.all} tokens)`, `全 ${turns.kept} ターンが収まります（約 ${tokens.all} トークン）`)}\n`
  const all = turns.cut + turns.kept
  const large = tooLarge
    ? say('; the last turn alone exceeds the limit', '。最後のターンだけでも上限を超えています')
    : ''
  const cut = say(
    `replaced ${turns.cut} of ${all} turns by a summary of facts; about ${tokens.kept} of ${tokens.all} tokens remain`,
    `${all} ターン中 ${turns.cut} ターンを事実の要約にしました。${tokens.all} トークン中、約 ${tokens.kept} トークンが残ります`,
  )
  return `${cut}${large}\n`
}

/**
 * Saves the loss report of `--report`.
 * @param path `-` is standard error, because standard output may carry the conversation
 */
export async function saveLosses(path: string, report: Report): Promise<void> {
  if (path === '-') return writeErrJson(report, 2)
  writeFileAtomically(path, [`${JSON.stringify(report, null, 2)}\n`])
}

const MAX_ROWS = 12

export function renderLosses({ records, losses, repairs }: Report): string {
  const lost = losses.filter(({ kept_in }) => kept_in === null)
  return [
    lost.length > 0 ? renderLossTable(lost) : '',
    ...repairs.slice(0, MAX_ROWS).map(formatRepair),
    `${formatSummary(records, lost.length)}${formatPreservedNote(losses)}\n`,
  ].join('')
}

/**
 * Lists lost values only. Values in a sidecar or an extension return with the reverse conversion, so they are only
 * counted.
 */
function renderLossTable(lost: Report['losses']): string {
  const rows = lost.slice(0, MAX_ROWS).map(({ path, times }) => [path, formatCount(times)])
  const remaining = lost.length - MAX_ROWS
  const more =
    remaining > 0
      ? [[say(`… ${remaining} more; pass --report for all`, `… ほかに ${remaining} 件。すべては --report で`), '']]
      : []
  const columns = [
    { title: say('lost', '失われる値'), grows: true },
    { title: say('count', '回数'), right: true },
  ]
  return renderTable(columns, [...rows, ...more])
}

function formatRepair(repair: Report['repairs'][number]): string {
  const { path, times, what } = repair
  return `${say(
    `repaired ${plural(times, 'time')}: ${what} (first at ${path})`,
    `${times} 回修正: ${describeChange(repair).ja}（最初は ${path}）`,
  )}\n`
}

const formatSummary = (records: number, lost: number): string =>
  say(
    `${plural(records, 'record')}, ${lost === 0 ? 'nothing lost' : `${plural(lost, 'field')} lost`}`,
    `記録 ${formatCount(records)} 件、${lost === 0 ? '失われる内容なし' : `失われる値 ${formatCount(lost)} 種類`}`,
  )

function formatPreservedNote(losses: Report['losses']): string {
  const preserved = losses.filter(({ kept_in }) => kept_in !== null)
  if (preserved.length === 0) return ''
  const where = [...new Set(preserved.map(({ kept_in }) => kept_in))].join(', ')
  return say(
    `; ${plural(preserved.length, 'field')} with no equivalent preserved in ${where} (pass --report for a list)`,
    `。対応するもののない値 ${formatCount(preserved.length)} 種類は ${where} に残しました（--report で一覧）`,
  )
}

/** What `fumi stats` prints for a person. */
import stringWidth from 'string-width'
import { NO_COST, type Spent } from '../../../model/tokens/prices.ts'
import { toEstimatedTokens } from '../../../model/tokens/token-estimate.ts'
import type { Totals } from '../../../model/totals.ts'
import { cacheShareOf, isZeroUsage, type Usage } from '../../../model/usage.ts'
import { say } from '../../language.ts'
import { codeLabel } from '../code-labels.ts'
import { toTerminalText } from '../conversation.ts'
import { paint } from '../paint.ts'
import { formatCount, plural, renderTable, type TableColumn, terminalWidth, truncate } from '../table.ts'

type TokenGrouping = 'model' | 'day' | 'agent' | 'project' | 'session'

const COLUMNS: readonly TableColumn[] = [
  { title: '', grows: true },
  { title: say('input', '入力'), right: true },
  { title: say('cached', 'キャッシュ'), right: true, isSpare: true },
  { title: say('output', '出力'), right: true },
  { title: say('reasoning', '推論'), right: true, isSpare: true },
  { title: say('total', '合計'), right: true },
  { title: 'USD', right: true },
]

/** @param asOf the day of the prices */
export function renderTokenReport(totals: Totals, by: TokenGrouping, asOf: string): string {
  const costs = totals.cost[`by_${by}`]
  const rows = Object.entries(totals[`by_${by}`]).sort(by === 'day' ? compareNames : compareTotals)
  const cells = rows.map(([name, usage]) => [name, ...usageCells(usage), formatDollars(costs[name] ?? NO_COST)])
  const sum = [say('all', '合計'), ...usageCells(totals.usage), formatDollars(totals.cost.all)]
  const tools = Object.entries(totals.tools).sort((a, b) => b[1] - a[1])
  const columns = [{ ...COLUMNS[0], title: codeLabel(by), grows: true }, ...COLUMNS.slice(1)]
  const summary = [
    say(plural(totals.sessions, 'session'), `会話 ${formatCount(totals.sessions)} 件`),
    say(plural(totals.messages, 'message'), `メッセージ ${formatCount(totals.messages)} 件`),
    say(plural(totals.lines, 'line'), `${formatCount(totals.lines)} 行`),
  ].join(' · ')
  const used = tools.slice(0, 8).map(([name, calls]) => `${toTerminalText(name)} ${formatCount(calls)}`)
  const all = tools.reduce((n, [, calls]) => n + calls, 0)
  const remaining = tools.length - used.length
  const more = remaining > 0 ? say(` · ${remaining} more`, ` · ほか ${remaining} 種類`) : ''
  const calls = say(`${plural(all, 'call')}: `, `呼び出し ${formatCount(all)} 回：`)
  const label = say('tools', 'ツール')
  const toolText = truncate(`${calls}${used.join(' · ')}${more}`, terminalWidth() - stringWidth(label) - 1)
  const toolLine = all > 0 ? `${paint.dim(label)} ${toolText}\n` : ''
  const tokens = isZeroUsage(totals.usage)
    ? NO_TOKENS
    : `${renderTable(columns, [...cells, sum])}${renderCacheNote(totals.usage)}${renderPriceNote(totals, asOf)}`
  return `${paint.bold(summary)}\n${toolLine}\n${tokens}${renderEstimate(totals)}`
}

/** What was read from the provider's cache costs a fraction. */
function renderCacheNote(usage: Usage): string {
  const percent = Math.round(cacheShareOf(usage) * 100)
  return paint.dim(
    say(`${percent} % of the input came from the cache.\n`, `入力の ${percent} % はキャッシュから読まれました。\n`),
  )
}

const NO_TOKENS = say('These logs record no tokens.\n', 'これらのログにはトークン数の記録がありません。\n')

function renderEstimate({ estimate, estimated_sessions }: Totals): string {
  if (estimated_sessions === 0) return ''
  const { user_tokens, assistant_tokens, total_tokens } = toEstimatedTokens(estimate)
  const parts = `${formatCount(user_tokens)} said to the model, ${formatCount(assistant_tokens)} by it`
  const whose = plural(estimated_sessions, 'session without counts', 'sessions without counts')
  const estimateText = say(
    `${whose}: about ${plural(total_tokens, 'token')} (${parts}), in no total above`,
    `記録のない会話 ${formatCount(estimated_sessions)} 件：約 ${formatCount(total_tokens)} トークン（モデルへ ${formatCount(user_tokens)}、モデルから ${formatCount(assistant_tokens)}）。上の合計には含みません`,
  )
  return `${paint.dim(say('estimate', '見積もり'))} ${estimateText}\n`
}

/** `?` where no price is known, `≥` where some are not. */
function formatDollars({ usd, unpriced_tokens }: Spent): string {
  if (unpriced_tokens === 0) return usd.toFixed(2)
  return usd === 0 ? '?' : `≥ ${usd.toFixed(2)}`
}

function renderPriceNote({ cost }: Totals, asOf: string): string {
  const unknown = Object.entries(cost.by_model).filter(([, { unpriced_tokens }]) => unpriced_tokens > 0)
  const names = unknown.map(([model, { unpriced_tokens }]) =>
    say(
      `${toTerminalText(model)} (${plural(unpriced_tokens, 'token')})`,
      `${toTerminalText(model)}（${formatCount(unpriced_tokens)} トークン）`,
    ),
  )
  const without = say(` No price is known for ${names.join(', ')}.`, `価格が分からないモデル：${names.join('、')}。`)
  const priced = say(`USD at list prices as of ${asOf}.`, `USD は ${asOf} 時点の定価による目安です。`)
  return `${paint.dim(`${priced}${names.length > 0 ? without : ''}`)}\n`
}

const usageCells = (usage: Usage): readonly string[] =>
  [
    usage.input_tokens,
    usage.cached_input_tokens,
    usage.output_tokens,
    usage.reasoning_output_tokens,
    usage.total_tokens,
  ].map(formatCount)

type UsageRow = readonly [string, Usage]
const compareNames = (a: UsageRow, b: UsageRow): number => (a[0] < b[0] ? -1 : 1)
const compareTotals = (a: UsageRow, b: UsageRow): number => b[1].total_tokens - a[1].total_tokens || compareNames(a, b)

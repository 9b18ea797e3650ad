/** What `fumi stats` prints for a person. */
import { estimatedTokens } from '../../../model/tokens/estimate.ts'
import { NOTHING_SPENT, type Spent } from '../../../model/tokens/prices.ts'
import type { Totals } from '../../../model/totals.ts'
import { cacheShare, isZero, type Usage } from '../../../model/usage.ts'
import { paint } from '../paint.ts'
import { type Column, count, plural, table, terminalWidth, truncate } from '../table.ts'

type By = 'model' | 'day' | 'agent' | 'project' | 'session'

const COLUMNS: readonly Column[] = [
  { title: '', grows: true },
  { title: 'input', right: true },
  { title: 'cached', right: true },
  { title: 'output', right: true },
  { title: 'reasoning', right: true },
  { title: 'total', right: true },
  { title: 'USD', right: true },
]

/** @param asOf the day of the prices */
export function report(totals: Totals, by: By, asOf: string): string {
  const costs = totals.cost[`by_${by}`]
  const rows = Object.entries(totals[`by_${by}`]).sort(by === 'day' ? byName : byTotal)
  const cells = rows.map(([name, usage]) => [name, ...usageCells(usage), dollars(costs[name] ?? NOTHING_SPENT)])
  const sum = ['all', ...usageCells(totals.usage), dollars(totals.cost.all)]
  const tools = Object.entries(totals.tools).sort((a, b) => b[1] - a[1])
  const columns = [{ ...COLUMNS[0], title: by, grows: true }, ...COLUMNS.slice(1)]
  const summary = [
    plural(totals.sessions, 'session'),
    plural(totals.messages, 'message'),
    plural(totals.lines, 'line'),
  ].join(' · ')
  const used = tools.slice(0, 8).map(([name, calls]) => `${name} ${count(calls)}`)
  const all = tools.reduce((n, [, calls]) => n + calls, 0)
  const more = tools.length > used.length ? ` · ${tools.length - used.length} more` : ''
  const toolText = truncate(`${plural(all, 'call')}: ${used.join(' · ')}${more}`, terminalWidth() - 'tools '.length)
  const toolLine = all > 0 ? `${paint.dim('tools')} ${toolText}\n` : ''
  const tokens = isZero(totals.usage)
    ? NO_TOKENS
    : `${table(columns, [...cells, sum])}${cacheNote(totals.usage)}${priceNote(totals, asOf)}`
  return `${paint.bold(summary)}\n${toolLine}\n${tokens}${estimateLine(totals)}`
}

/** What was read from the provider's cache costs a fraction. */
const cacheNote = (usage: Usage): string =>
  paint.dim(`${Math.round(cacheShare(usage) * 100)} % of the input came from the cache.\n`)

const NO_TOKENS = 'These logs record no tokens.\n'

function estimateLine({ estimate, estimated_sessions }: Totals): string {
  if (estimated_sessions === 0) return ''
  const { user_tokens, assistant_tokens, total_tokens } = estimatedTokens(estimate)
  const parts = `${count(user_tokens)} said to the model, ${count(assistant_tokens)} by it`
  const whose = plural(estimated_sessions, 'session without counts', 'sessions without counts')
  return `${paint.dim('estimate')} ${whose}: about ${plural(total_tokens, 'token')} (${parts}), in no total above\n`
}

/** `?` where no price is known, `≥` where some are not. */
function dollars({ usd, unpriced_tokens }: Spent): string {
  if (unpriced_tokens === 0) return usd.toFixed(2)
  return usd === 0 ? '?' : `≥ ${usd.toFixed(2)}`
}

function priceNote({ cost }: Totals, asOf: string): string {
  const unknown = Object.entries(cost.by_model).filter(([, { unpriced_tokens }]) => unpriced_tokens > 0)
  const names = unknown.map(([model, { unpriced_tokens }]) => `${model} (${plural(unpriced_tokens, 'token')})`)
  const without = names.length > 0 ? ` No price is known for ${names.join(', ')}.` : ''
  return `${paint.dim(`USD at list prices as of ${asOf}.${without}`)}\n`
}

const usageCells = (usage: Usage): readonly string[] =>
  [
    usage.input_tokens,
    usage.cached_input_tokens,
    usage.output_tokens,
    usage.reasoning_output_tokens,
    usage.total_tokens,
  ].map(count)

type Row = readonly [string, Usage]
const byName = (a: Row, b: Row): number => (a[0] < b[0] ? -1 : 1)
const byTotal = (a: Row, b: Row): number => b[1].total_tokens - a[1].total_tokens || byName(a, b)

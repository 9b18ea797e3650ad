/** The output of `fumi stats` for people. */
import { type HistoryStatistics, type HistorySummary, statisticsOf } from '../../amazon-q.ts'
import type { IndexStatistics } from '../../app.ts'
import { NO_COST, type PriceList, type Spent } from '../../model/prices.ts'
import { toEstimatedTokens } from '../../model/token-estimate.ts'
import { NO_DAY, type Totals } from '../../model/totals.ts'
import { cacheShareOf, isZeroUsage, type Usage } from '../../model/usage.ts'
import type { UsageDimension, UsageGroup } from '../../model/usage-groups.ts'
import { say } from '../language.ts'
import { paint } from './paint.ts'
import { formatCount, isPiped, plural, renderTable, type TableColumn, truncate } from './table.ts'
import { codeLabel, formatDateTime, formatRounded, shortId, toTerminalText } from './text.ts'
import { outputWidth, readingWidth, textWidth } from './text-width.ts'
import { renderNote, wrapText } from './wrap-text.ts'

type TokenGrouping = 'model' | 'day' | 'agent' | 'project' | 'session'

/** The groups that the totals hold. */
export function groupsOfTotals(totals: Totals, by: TokenGrouping): readonly UsageGroup[] {
  const costs = totals.cost[`by_${by}`]
  return Object.entries(totals[`by_${by}`])
    .sort(by === 'day' ? compareNames : compareTotals)
    .map(([name, usage]) => ({ names: [name], usage, cost: costs[name] ?? NO_COST }))
}

const COLUMNS: readonly TableColumn[] = [
  { title: say('input', '入力'), right: true, isSpare: 'finally' },
  { title: say('cached', 'キャッシュ'), right: true, isSpare: true },
  { title: say('cache write', 'キャッシュ書き込み'), right: true, isSpare: true },
  { title: say('output', '出力'), right: true, isSpare: 'finally' },
  { title: say('reasoning', '推論'), right: true, isSpare: true },
  { title: say('total', '合計'), right: true },
  { title: 'USD', right: true },
]

/** Shown only where tokens were written to a cache. */
const CACHE_WRITE_COLUMN = 2
/** Hidden with a subscription. */
const COST_COLUMN = 6

export function renderTokenReport(
  totals: Totals,
  by: readonly UsageDimension[],
  groups: readonly UsageGroup[],
  { as_of, plan }: PriceList,
): string {
  const hasCacheWrites = (totals.usage.cache_write_tokens ?? 0) > 0
  const shown = <T>(row: readonly T[]): readonly T[] =>
    row.filter((_, at) => (hasCacheWrites || at !== CACHE_WRITE_COLUMN) && (!plan || at !== COST_COLUMN))
  const cellsOf = (usage: Usage, cost: Spent): readonly string[] => shown([...usageCells(usage), formatDollars(cost)])
  const rows = groups.map(({ names, usage, cost }) => [
    ...names.map((name, at) => renderGroupName(name, by[at])),
    ...cellsOf(usage, cost),
  ])
  const sum = [say('all', '合計'), ...by.slice(1).map(() => ''), ...cellsOf(totals.usage, totals.cost.all)]
  const columns = [
    ...by.map((dimension) => ({ title: codeLabel(dimension), grows: true, isFixed: DATES.has(dimension) })),
    ...shown(COLUMNS),
  ]
  const tools = Object.entries(totals.tools).sort((a, b) => b[1] - a[1])
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
  const toolText = truncate(`${calls}${used.join(' · ')}${more}`, outputWidth() - textWidth(label) - 1)
  const toolLine = all > 0 ? `${paint.dim(label)} ${toolText}\n` : ''
  const tokens = isZeroUsage(totals.usage)
    ? NO_TOKENS
    : `${renderTable(columns, [...rows, sum])}${renderCacheNote(totals.usage)}${plan ? '' : renderPriceNote(totals, as_of)}`
  return `${paint.bold(summary)}\n${toolLine}\n${tokens}${renderEstimate(totals)}`
}

/** Blocks are shown in local time; the names of everything else are what the logs say. */
function renderGroupName(name: string, dimension: UsageDimension | undefined): string {
  if (name === NO_DAY && dimension !== undefined && DATES.has(dimension)) return say('no date', '日付なし')
  return dimension === 'block' ? formatDateTime(name) : name
}

const DATES: ReadonlySet<UsageDimension> = new Set(['day', 'week', 'month', 'block'])

/** Cached input is cheaper than other input. */
function renderCacheNote(usage: Usage): string {
  const percent = Math.round(cacheShareOf(usage) * 100)
  return renderNote(
    say(
      `${percent} % of input tokens were read from the cache.`,
      `入力トークンの ${percent} % はキャッシュからの読み取りです。`,
    ),
  )
}

const NO_TOKENS = say('These logs contain no token counts.\n', 'これらのログにはトークン数の記録がありません。\n')

function renderEstimate({ estimate, estimated_sessions }: Totals): string {
  if (estimated_sessions === 0) return ''
  const { user_tokens, assistant_tokens, total_tokens } = toEstimatedTokens(estimate)
  const parts = `${formatCount(user_tokens)} input, ${formatCount(assistant_tokens)} output`
  const whose = plural(estimated_sessions, 'session without counts', 'sessions without counts')
  const estimateText = say(
    `${whose}: about ${plural(total_tokens, 'token')} (${parts}), not included above`,
    `記録のない会話 ${formatCount(estimated_sessions)} 件：約 ${formatCount(total_tokens)} トークン（入力 ${formatCount(user_tokens)}、出力 ${formatCount(assistant_tokens)}）。上の合計には含みません`,
  )
  return renderFact(say('estimate', '見積もり'), estimateText)
}

/** `?` if no price is known, `≥` if some are unknown. */
function formatDollars({ usd, unpriced_tokens }: Spent): string {
  if (unpriced_tokens === 0) return usd.toFixed(2)
  return usd === 0 ? '?' : `≥ ${usd.toFixed(2)}`
}

const MAX_UNPRICED_NAMES = 3

function renderPriceNote({ cost }: Totals, asOf: string): string {
  const unknown = Object.entries(cost.by_model)
    .filter(([, { unpriced_tokens }]) => unpriced_tokens > 0)
    .sort((a, b) => b[1].unpriced_tokens - a[1].unpriced_tokens)
  const remaining = isPiped() ? 0 : unknown.length - MAX_UNPRICED_NAMES
  const names = unknown
    .slice(0, remaining > 0 ? MAX_UNPRICED_NAMES : unknown.length)
    .map(([model, { unpriced_tokens }]) =>
      say(
        `${toTerminalText(model)} (${plural(unpriced_tokens, 'token')})`,
        `${toTerminalText(model)}（${formatCount(unpriced_tokens)} トークン）`,
      ),
    )
  if (remaining > 0) names.push(say(`${remaining} more`, `ほか ${remaining} 種類`))
  const without = say(
    ` No price for ${names.join(', ')}. Add prices with fumi config prices <file>.`,
    `価格が分からないモデル：${names.join('、')}。fumi config prices <ファイル> で追加できます。`,
  )
  const priced = say(`USD at list prices as of ${asOf}.`, `USD は ${asOf} 時点の定価による目安です。`)
  return renderNote(`${priced}${names.length > 0 ? without : ''}`)
}

const usageCells = (usage: Usage): readonly string[] =>
  [
    usage.input_tokens,
    usage.cached_input_tokens,
    usage.cache_write_tokens ?? 0,
    usage.output_tokens,
    usage.reasoning_output_tokens,
    usage.total_tokens,
  ].map(formatCount)

type UsageRow = readonly [string, Usage]
const compareNames = (a: UsageRow, b: UsageRow): number => (a[0] < b[0] ? -1 : 1)
const compareTotals = (a: UsageRow, b: UsageRow): number => b[1].total_tokens - a[1].total_tokens || compareNames(a, b)

const TOOL_COLUMNS: readonly TableColumn[] = [
  { title: say('tool', 'ツール'), grows: true },
  { title: say('calls', '呼び出し'), right: true },
  { title: say('errors', 'エラー'), right: true },
  { title: '', right: true },
  { title: say('time', '時間'), right: true },
  { title: say('average', '平均'), right: true },
]

export function renderToolReport({ tools, unread }: IndexStatistics): string {
  if (tools.length === 0) return `${say('No tool calls.', '呼び出しはありません。')}\n${formatUnreadNote(unread)}`
  const rows = tools.map(({ tool, calls, results, errors, duration_ms, timed }) => [
    toTerminalText(tool),
    formatCount(calls),
    formatCount(errors),
    results === 0 ? '' : `${((errors / results) * 100).toFixed(1)} %`,
    timed === 0 ? '' : formatDuration(duration_ms),
    timed === 0 ? '' : formatDuration(duration_ms / timed),
  ])
  return `${renderTable(TOOL_COLUMNS, rows)}${formatUnreadNote(unread)}`
}

const WEEKDAY_NAMES = [
  say('Sunday', '日曜'),
  say('Monday', '月曜'),
  say('Tuesday', '火曜'),
  say('Wednesday', '水曜'),
  say('Thursday', '木曜'),
  say('Friday', '金曜'),
  say('Saturday', '土曜'),
]
const MAX_BAR_WIDTH = 40
/** The longest name of a weekday, and two gaps. */
const MAX_LABEL_WIDTH = 13

/** Prompts, answers and calls per hour or weekday. */
export function renderActivityReport({ by_hour, by_weekday, unread }: IndexStatistics, by: 'hour' | 'weekday'): string {
  const values = by === 'hour' ? by_hour : by_weekday
  const maximum = Math.max(1, ...values)
  const title = say('messages and calls', 'メッセージと呼び出し')
  const barWidth = Math.max(1, Math.min(MAX_BAR_WIDTH, outputWidth() - MAX_LABEL_WIDTH - textWidth(title)))
  const rows = values.map((value, at) => [
    by === 'hour' ? `${String(at).padStart(2, '0')}:00` : (WEEKDAY_NAMES[at] ?? ''),
    formatCount(value),
    '█'.repeat(Math.round((value / maximum) * barWidth)),
  ])
  const columns = [{ title: codeLabel(by) }, { title, right: true }, { title: '' }]
  return `${renderTable(columns, rows)}${formatUnreadNote(unread)}`
}

export function renderIndexSummary({ longest, disk }: IndexStatistics): string {
  const [long] = longest
  const lines = [
    long && long.duration_ms > 0
      ? renderFact(say('longest', '最長'), `${shortId(long.session)}, ${formatDuration(long.duration_ms)}`)
      : '',
    disk.length > 0 ? renderFact(say('on disk', 'ディスク'), disk.map(formatDisk).join(' · ')) : '',
  ]
  return lines.join('')
}

const renderFact = (label: string, text: string): string =>
  wrapText(`${label} ${text}`, readingWidth(), '').replace(label, () => paint.dim(label))

const formatDisk = ({ agent, sources, bytes }: IndexStatistics['disk'][number]): string =>
  say(
    `${agent} ${formatRounded(bytes)}B in ${plural(sources, 'source')}`,
    `${agent} ${formatRounded(bytes)}B（ログ ${formatCount(sources)} 件）`,
  )

const formatUnreadNote = (unread: number): string =>
  unread === 0
    ? ''
    : renderNote(
        say(
          `${plural(unread, 'session')} not indexed yet. Run fumi sync.`,
          `会話 ${formatCount(unread)} 件はまだ索引にありません。fumi sync を実行してください。`,
        ),
      )

const UNITS = [
  { from: 48 * 3_600_000, size: 24 * 3_600_000, name: say('d', '日') },
  { from: 2 * 3_600_000, size: 3_600_000, name: say('h', '時間') },
  { from: 120_000, size: 60_000, name: say('min', '分') },
  { from: 1000, size: 1000, name: say('s', '秒') },
]

function formatDuration(ms: number): string {
  const unit = UNITS.find(({ from }) => ms >= from)
  return unit
    ? `${Number((ms / unit.size).toPrecision(3))} ${unit.name}`
    : say(`${Math.round(ms)} ms`, `${Math.round(ms)} ミリ秒`)
}

/** The patterns of one session, turn by turn. */
export function renderPatternReport(summary: HistorySummary): string {
  const { pattern, incomplete, entries, toolUses, turns } = summary
  const columns: readonly TableColumn[] = [
    { title: '#', right: true },
    { title: say('pattern', 'パターン') },
    { title: say('status', '状態') },
  ]
  const rows = turns.map((turn, at) => [String(at + 1), codeLabel(turn.pattern), codeLabel(turn.status)])
  const kind = pattern === null ? say('empty', '空') : codeLabel(pattern)
  const all = pattern !== null && incomplete ? say(`${kind}, incomplete`, `${kind}（未完了）`) : kind
  const facts = say(
    `${all} · ${formatCount(entries)} entries · ${formatCount(turns.length)} turns · ${formatCount(toolUses)} tool uses`,
    `${all} · エントリー ${formatCount(entries)} 件 · ${formatCount(turns.length)} ターン · ツール使用 ${formatCount(toolUses)} 回`,
  )
  return `\n${facts}\n\n${renderTable(columns, rows)}`
}

/** The share of each pattern in many sessions. */
export function renderPatternShares(summaries: readonly HistorySummary[]): string {
  const all = statisticsOf(summaries)
  const columns: readonly TableColumn[] = [
    { title: say('pattern', 'パターン') },
    { title: say('conversations', '会話'), right: true },
    { title: say('share', '割合'), right: true },
  ]
  const rows = shareRows(all)
  const { entries, toolUses } = all
  const facts = say(
    `entries ${formatCount(entries.min)} to ${formatCount(entries.max)}, mean ${entries.mean} · most tool uses in one ${formatCount(toolUses.max)}`,
    `エントリー ${formatCount(entries.min)}〜${formatCount(entries.max)} 件、平均 ${entries.mean} 件 · 最大ツール使用数 ${formatCount(toolUses.max)} 回`,
  )
  return `\n${renderTable(columns, rows)}${facts}\n`
}

const shareRows = ({ patterns, incomplete, empty, unreadable }: HistoryStatistics): readonly (readonly string[])[] => [
  [codeLabel('simple'), formatCount(patterns.simple.count), `${patterns.simple.percent}%`],
  [codeLabel('single', 'single tool use'), formatCount(patterns.single.count), `${patterns.single.percent}%`],
  [codeLabel('complex'), formatCount(patterns.complex.count), `${patterns.complex.percent}%`],
  [codeLabel('incomplete'), formatCount(incomplete.count), `${incomplete.percent}%`],
  ...(empty > 0 ? [[say('no entries', 'エントリーなし'), formatCount(empty), '']] : []),
  ...(unreadable > 0 ? [[say('unreadable', '読み取り不可'), formatCount(unreadable), '']] : []),
]

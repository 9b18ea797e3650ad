/** What the index knows beside the tokens, for a person: tools, hours, weekdays, long sessions, disk. */
import type { IndexStatistics } from '../../../app.ts'
import { say } from '../../language.ts'
import { codeLabel } from '../code-labels.ts'
import { toTerminalText } from '../conversation.ts'
import { paint } from '../paint.ts'
import { formatRounded, shortId } from '../session-table.ts'
import { formatCount, plural, renderTable, type TableColumn } from '../table.ts'

const TOOL_COLUMNS: readonly TableColumn[] = [
  { title: say('tool', 'ツール'), grows: true },
  { title: say('calls', '呼び出し'), right: true },
  { title: say('errors', 'エラー'), right: true },
  { title: '', right: true },
  { title: say('time', '時間'), right: true },
  { title: say('each', '平均'), right: true },
]

export function renderToolReport({ tools, unread }: IndexStatistics): string {
  if (tools.length === 0) return `${say('No calls.', '呼び出しはありません。')}\n${formatUnreadNote(unread)}`
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
const BAR_WIDTH = 40

/** Prompts, answers and calls, with a bar for each hour or weekday. */
export function renderActivityReport({ by_hour, by_weekday, unread }: IndexStatistics, by: 'hour' | 'weekday'): string {
  const values = by === 'hour' ? by_hour : by_weekday
  const maximum = Math.max(1, ...values)
  const rows = values.map((value, at) => [
    by === 'hour' ? `${String(at).padStart(2, '0')}:00` : (WEEKDAY_NAMES[at] ?? ''),
    formatCount(value),
    '█'.repeat(Math.round((value / maximum) * BAR_WIDTH)),
  ])
  const columns = [
    { title: codeLabel(by) },
    { title: say('said and called', '発言と呼び出し'), right: true },
    { title: '' },
  ]
  return `${renderTable(columns, rows)}${formatUnreadNote(unread)}`
}

export function renderIndexSummary({ longest, disk }: IndexStatistics): string {
  const [long] = longest
  const lines = [
    long && long.duration_ms > 0
      ? `${paint.dim(say('longest', '最長'))} ${shortId(long.session)}, ${formatDuration(long.duration_ms)}\n`
      : '',
    disk.length > 0 ? `${paint.dim(say('on disk', 'ディスク'))} ${disk.map(formatDisk).join(' · ')}\n` : '',
  ]
  return lines.join('')
}

const formatDisk = ({ agent, sources, bytes }: IndexStatistics['disk'][number]): string =>
  say(
    `${agent} ${formatRounded(bytes)}B in ${plural(sources, 'source')}`,
    `${agent} ${formatRounded(bytes)}B（ログ ${formatCount(sources)} 件）`,
  )

const formatUnreadNote = (unread: number): string =>
  unread === 0
    ? ''
    : paint.dim(
        say(
          `${plural(unread, 'session')} not read yet; fumi sync does.\n`,
          `会話 ${formatCount(unread)} 件はまだ読み込んでいません。fumi sync で読み込みます。\n`,
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

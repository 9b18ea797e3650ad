/** What the index knows beside the tokens, for a person: tools, hours, weekdays, long sessions, disk. */
import type { Stats } from '../../../app.ts'
import { safe } from '../conversation.ts'
import { paint } from '../paint.ts'
import { rounded, shortId } from '../session-table.ts'
import { type Column, count, plural, table } from '../table.ts'

const TOOLS: readonly Column[] = [
  { title: 'tool', grows: true },
  { title: 'calls', right: true },
  { title: 'errors', right: true },
  { title: '', right: true },
  { title: 'time', right: true },
  { title: 'each', right: true },
]

export function toolReport({ tools, unread }: Stats): string {
  if (tools.length === 0) return `No calls.\n${unreadNote(unread)}`
  const rows = tools.map(({ tool, calls, results, errors, duration_ms, timed }) => [
    safe(tool),
    count(calls),
    count(errors),
    results === 0 ? '' : `${((errors / results) * 100).toFixed(1)} %`,
    timed === 0 ? '' : duration(duration_ms),
    timed === 0 ? '' : duration(duration_ms / timed),
  ])
  return `${table(TOOLS, rows)}${unreadNote(unread)}`
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const BAR = 40

/** Prompts, answers and calls, with a bar for each hour or weekday. */
export function activityReport({ by_hour, by_weekday, unread }: Stats, by: 'hour' | 'weekday'): string {
  const values = by === 'hour' ? by_hour : by_weekday
  const most = Math.max(1, ...values)
  const rows = values.map((value, at) => [
    by === 'hour' ? `${String(at).padStart(2, '0')}:00` : (WEEKDAYS[at] ?? ''),
    count(value),
    '█'.repeat(Math.round((value / most) * BAR)),
  ])
  const columns = [{ title: by }, { title: 'said and called', right: true }, { title: '' }]
  return `${table(columns, rows)}${unreadNote(unread)}`
}

export function moreReport({ longest, disk }: Stats): string {
  const [long] = longest
  const lines = [
    long && long.duration_ms > 0
      ? `${paint.dim('longest')} ${shortId(long.session)}, ${duration(long.duration_ms)}\n`
      : '',
    disk.length > 0
      ? `${paint.dim('on disk')} ${disk.map(({ agent, sources, bytes }) => `${agent} ${rounded(bytes)}B in ${plural(sources, 'source')}`).join(' · ')}\n`
      : '',
  ]
  return lines.join('')
}

const unreadNote = (unread: number): string =>
  unread === 0 ? '' : paint.dim(`${plural(unread, 'session')} not read yet; fumi sync does.\n`)

const UNITS = [
  { from: 48 * 3_600_000, size: 24 * 3_600_000, name: 'd' },
  { from: 2 * 3_600_000, size: 3_600_000, name: 'h' },
  { from: 120_000, size: 60_000, name: 'min' },
  { from: 1000, size: 1000, name: 's' },
] as const

function duration(ms: number): string {
  const unit = UNITS.find(({ from }) => ms >= from)
  return unit ? `${Number((ms / unit.size).toPrecision(3))} ${unit.name}` : `${Math.round(ms)} ms`
}

/** Sessions as a table: last change, id, title, counts and directory. */
import { toSingleLine } from '../../model/tool-summary.ts'
import { type FieldValue, type SessionField, valueOfField } from '../index-queries/session-fields.ts'
import type { SessionRow } from '../index-queries/session-row.ts'
import { say } from '../language.ts'
import { formatCredits } from './session-header.ts'
import { formatCount, isPiped, plural, renderTable, type TableColumn } from './table.ts'
import { codeLabel, formatDateTime, formatRounded, shortId, toTerminalLine, toTerminalText } from './text.ts'
import { outputWidth } from './text-width.ts'
import { renderNote } from './wrap-text.ts'

/** Below these widths, the title is worth more than the columns behind it. */
const isNarrow = outputWidth() < 78
const isMedium = outputWidth() < 100

const COLUMNS: readonly TableColumn[] = [
  { title: say('updated', '最終更新') },
  { title: say('session', '会話 ID') },
  { title: say('title', 'タイトル'), grows: true },
  { title: say('messages', 'メッセージ'), right: true, isSpare: isNarrow },
  { title: say('tokens', 'トークン'), right: true, isSpare: isNarrow },
  { title: say('directory', '場所'), grows: true, keepsEnd: true, isSpare: isMedium },
]

/** @param all number of sessions before `--limit` */
export function renderSessionTable(sessions: readonly SessionRow[], all: number): string {
  if (sessions.length === 0) return say('No matching sessions.\n', '該当する会話はありません。\n')
  if (isPiped()) return renderTable(COLUMNS, sessions.map(toCompleteRow))
  const rows = sessions.map((row) => [
    formatDateTime(row.last_at),
    shortId(row.id),
    renderTitle(row),
    formatCount(row.messages),
    renderTokens(row),
    toTerminalLine(lastFolders(row.cwd ?? '')),
  ])
  const remaining = all - sessions.length
  const more = say(
    `${plural(remaining, 'more session', 'more sessions')} not shown; pass --limit 0 to show all.\n`,
    `ほか ${formatCount(remaining)} 件は省略しました。--limit 0 ですべて表示します。\n`,
  )
  const hint = say(
    'Run fumi show <session> to read one. The first characters of its id are enough.',
    'fumi show <会話 ID> で読めます。ID は先頭の数文字で構いません。',
  )
  return `${renderTable(COLUMNS, rows)}${renderNote(`${remaining > 0 ? more : ''}${hint}`)}`
}

/** Only these columns, with the names of `--json`. */
export function renderFields(sessions: readonly SessionRow[], fields: readonly SessionField[]): string {
  const values = sessions.map((row) => fields.map((field) => valueOfField(row, field)))
  const columns = fields.map((title, at): TableColumn => {
    const isNumber = values.some((row) => typeof row[at] === 'number')
    return isNumber ? { title, right: true } : { title, grows: true, keepsEnd: title === 'path' || title === 'cwd' }
  })
  return renderTable(
    columns,
    values.map((row) => row.map(renderField)),
  )
}

/** Empty where the log says nothing. In a pipe, numbers are complete. */
function renderField(value: FieldValue): string {
  if (value === null) return ''
  if (typeof value === 'number') return isPiped() || Number.isInteger(value) ? String(value) : value.toFixed(2)
  return toSingleLine(toTerminalText(typeof value === 'object' ? value.join(',') : String(value)))
}

/** Credits, where the program counts no tokens. */
function renderTokens({ usage, credits }: SessionRow): string {
  if (usage && usage.total_tokens > 0) return formatRounded(usage.total_tokens)
  return credits === undefined ? '' : formatCredits(credits)
}

/** Full ids, exact times and numbers. */
const toCompleteRow = (row: SessionRow): readonly string[] => [
  row.last_at ?? '',
  row.id,
  renderTitle(row),
  String(row.messages),
  row.usage === null ? '' : String(row.usage.total_tokens),
  row.cwd ?? '',
]

/** The user's own name comes before the title of the log. */
function renderTitle({
  name,
  title,
  starred,
  ended_how,
  ended_at,
  gone,
  tags,
  relation,
  children,
}: SessionRow): string {
  const star = starred ? '★ ' : ''
  const endReason = ended_at !== null ? (ended_how ?? 'kept') : gone ? 'gone' : undefined
  const end = endReason === undefined ? '' : say(`(${endReason}) `, `（${codeLabel(endReason)}）`)
  const relationSign = relation && relation !== 'revert' ? `↳ ` : ''
  const more = children > 0 ? ` +${children}` : ''
  return `${star}${end}${relationSign}${toSingleLine(toTerminalText(name ?? title ?? say('(no prompt)', '（依頼なし）')))}${tags.map((tag) => ` #${toTerminalText(tag)}`).join('')}${more}`
}

const lastFolders = (path: string): string => path.split(/[\\/]/).filter(Boolean).slice(-2).join('/')

/** Sessions as a table for a person. */
import type { Kept, Mark } from '../../app.ts'
import { oneLine } from '../../model/gist.ts'
import type { Session } from '../../model/session.ts'
import type { Listing } from '../sessions.ts'
import { safe } from './conversation.ts'
import { paint } from './paint.ts'
import { type Column, count, plural, table } from './table.ts'

const COLUMNS: readonly Column[] = [
  { title: 'last' },
  { title: 'session' },
  { title: 'title', grows: true },
  { title: 'messages', right: true },
  { title: 'where' },
]

/** @param all how many there are, of which some may be left out */
export function sessionTable(sessions: readonly Listing[], all: number, marks: ReadonlyMap<string, Mark>): string {
  if (sessions.length === 0) return 'None.\n'
  const rows = sessions.map(({ session, last_at, messages, kept }) => [
    moment(last_at),
    shortId(session.id),
    titleOf(session, kept, marks.get(session.id)),
    messages === undefined ? '' : count(messages),
    safe(lastPart(session.cwd ?? '')),
  ])
  const more =
    all > sessions.length ? `${plural(all - sessions.length, 'older session')} left out; --limit 0 shows all.\n` : ''
  return `${table(COLUMNS, rows)}${paint.dim(`${more}fumi show <session> reads one; the beginning of its id is enough.`)}\n`
}

/** What the user calls it goes before what its program does. */
function titleOf(session: Session, kept: Kept | undefined, mark: Mark | undefined): string {
  const title = mark?.name ?? session.title ?? session.first_prompt ?? '(nothing said)'
  const star = mark?.starred ? '★ ' : ''
  const ended = kept ? `(${kept.ended_how ?? 'kept'}) ` : ''
  const tags = mark?.tags.map((tag) => ` #${safe(tag)}`).join('') ?? ''
  return `${star}${ended}${oneLine(safe(title))}${tags}`
}

/** Enough of a long id to tell it from others; what follows `~` tells generations apart. */
export function shortId(id: string): string {
  const [, agent = '', native = '', generation = ''] = /^([^:]*:)(.*?)(~[0-9a-f]+)?$/.exec(id) ?? []
  return `${agent}${native.slice(0, 13)}${generation}`
}

const lastPart = (path: string): string => path.split(/[\\/]/).filter(Boolean).slice(-2).join('/')

export function moment(at: string): string {
  const date = new Date(at)
  const two = (n: number): string => String(n).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`
}

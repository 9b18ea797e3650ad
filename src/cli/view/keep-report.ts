/** What `fumi keep` did, for a person. */
import type { Put, StoreKept } from '../../app.ts'
import { shortId } from './session-table.ts'
import { type Column, count, plural, table } from './table.ts'

const COLUMNS: readonly Column[] = [
  { title: 'store', grows: true },
  { title: 'rows', right: true },
  { title: 'new', right: true },
  { title: 'changed', right: true },
  { title: 'ended', right: true },
  { title: 'entries', right: true },
  { title: 'stored', right: true },
]

export function keepReport(done: readonly StoreKept[]): string {
  const rows = done.map(({ store, rows: all, puts, ended }) => [
    store,
    count(all),
    some(puts, ({ change }) => change === 'new'),
    some(puts, ({ change }) => change !== 'new' && change !== 'unchanged'),
    ended.length > 0 ? count(ended.length) : '',
    count(puts.reduce((sum, put) => sum + put.new_entries, 0)),
    size(puts.reduce((sum, put) => sum + put.stored_bytes, 0)),
  ])
  const ended = done.flatMap((one) => one.ended)
  const gone = ended.slice(0, 5).map(({ session, how }) => `  ${shortId(session)} was ${how}: it is kept here\n`)
  const more = ended.length > gone.length ? `  and ${plural(ended.length - gone.length, 'other')}\n` : ''
  return `${table(COLUMNS, rows)}${gone.join('')}${more}`
}

const some = (puts: readonly Put[], which: (put: Put) => boolean): string => {
  const n = puts.filter(which).length
  return n > 0 ? count(n) : ''
}

function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

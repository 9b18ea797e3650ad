/** What `fumi keep` did, for a person. */
import type { Put, StoreKept } from '../../app.ts'
import { say } from '../language.ts'
import { shortId } from './session-table.ts'
import { type Column, count, plural, table } from './table.ts'
import { word } from './words.ts'

const COLUMNS: readonly Column[] = [
  { title: say('store', '保存場所'), grows: true },
  { title: say('rows', '行'), right: true },
  { title: say('new', '新規'), right: true },
  { title: say('changed', '変更'), right: true },
  { title: say('ended', '終了'), right: true },
  { title: say('entries', 'エントリー'), right: true },
  { title: say('stored', '保存量'), right: true },
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
  const gone = ended.slice(0, 5).map(endedLine)
  const left = ended.length - gone.length
  const more = left > 0 ? say(`  and ${plural(left, 'other')}\n`, `  ほか ${count(left)} 件\n`) : ''
  return `${table(COLUMNS, rows)}${gone.join('')}${more}`
}

const endedLine = ({ session, how }: StoreKept['ended'][number]): string =>
  say(
    `  ${shortId(session)} was ${how}: it is kept here\n`,
    `  ${shortId(session)}（${word(how)}）はここに保管しています\n`,
  )

const some = (puts: readonly Put[], which: (put: Put) => boolean): string => {
  const n = puts.filter(which).length
  return n > 0 ? count(n) : ''
}

function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

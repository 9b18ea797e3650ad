/** What `fumi keep` did, for a person. */
import type { BackupResult, StoreBackup } from '../../app.ts'
import { say } from '../language.ts'
import { shortId } from './session-table.ts'
import { formatCount, plural, renderTable, type TableColumn } from './table.ts'
import { codeLabel } from './words.ts'

const COLUMNS: readonly TableColumn[] = [
  { title: say('store', '保存場所'), grows: true },
  { title: say('rows', '行'), right: true },
  { title: say('new', '新規'), right: true },
  { title: say('changed', '変更'), right: true },
  { title: say('ended', '終了'), right: true },
  { title: say('entries', 'エントリー'), right: true },
  { title: say('stored', '保存量'), right: true },
]

export function renderBackupReport(done: readonly StoreBackup[]): string {
  const rows = done.map(({ store, rows: all, puts, ended }) => [
    store,
    formatCount(all),
    countMatching(puts, ({ change }) => change === 'new'),
    countMatching(puts, ({ change }) => change !== 'new' && change !== 'unchanged'),
    ended.length > 0 ? formatCount(ended.length) : '',
    formatCount(puts.reduce((sum, put) => sum + put.new_entries, 0)),
    formatSize(puts.reduce((sum, put) => sum + put.stored_bytes, 0)),
  ])
  const ended = done.flatMap((one) => one.ended)
  const endedLines = ended.slice(0, 5).map(formatEnded)
  const remaining = ended.length - endedLines.length
  const more =
    remaining > 0 ? say(`  and ${plural(remaining, 'other')}\n`, `  ほか ${formatCount(remaining)} 件\n`) : ''
  return `${renderTable(COLUMNS, rows)}${endedLines.join('')}${more}`
}

const formatEnded = ({ session, how: endReason }: StoreBackup['ended'][number]): string =>
  say(
    `  ${shortId(session)} was ${endReason}: it is kept here\n`,
    `  ${shortId(session)}（${codeLabel(endReason)}）はここに保管しています\n`,
  )

const countMatching = (puts: readonly BackupResult[], which: (put: BackupResult) => boolean): string => {
  const n = puts.filter(which).length
  return n > 0 ? formatCount(n) : ''
}

function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

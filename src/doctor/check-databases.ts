/** Checks our own databases: integrity, owner and size. */
import { join } from 'node:path'
import { ANNOTATIONS_FORMAT } from '../annotations/annotations.ts'
import { backupFormat } from '../backup/backup-tables.ts'
import { listDamagedIndexes } from '../index/index-file.ts'
import { INDEX_FORMAT } from '../index/schema.ts'
import { checkDatabaseHealth, type DatabaseFormat } from '../lib/sqlite/own-database.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import {
  type DoctorContext,
  type DoctorFinding,
  formatBytes,
  formatNumber,
  formatPlural,
  splitAdvice,
  toFinding,
} from './finding.ts'

interface OwnDatabase {
  readonly name: string
  readonly file: string
  readonly kind: DatabaseFormat
  /** Whose rows it counts, and what they are. */
  readonly tables: readonly string[]
  readonly one: string
  readonly ja: string
  /** Sync can rebuild it from the logs, so losing it loses nothing. */
  readonly disposable?: true
}

const OWN_DATABASES: readonly OwnDatabase[] = [
  {
    name: 'index',
    file: 'index.sqlite3',
    kind: INDEX_FORMAT,
    tables: ['session'],
    one: 'session',
    ja: '会話',
    disposable: true,
  },
  {
    name: 'keep',
    file: 'keep.sqlite3',
    kind: backupFormat(''),
    tables: ['generation', 'file'],
    one: 'backed-up item',
    ja: 'バックアップ',
  },
  {
    name: 'marks',
    file: 'marks.sqlite3',
    kind: ANNOTATIONS_FORMAT,
    tables: ['mark'],
    one: 'marked session',
    ja: '名前・タグ・メモのある会話',
  },
]

export function* checkDatabases({ directory }: DoctorContext): Generator<DoctorFinding> {
  for (const database of OWN_DATABASES) yield checkDatabase(database, join(directory, database.file))
  const [setAside] = listDamagedIndexes(directory)
  if (setAside === undefined) return
  yield toFinding(
    'index',
    'note',
    phrase(
      `${setAside} is a damaged index that was set aside; a new index was built`,
      `${setAside} は壊れていたため取り置きました。索引は作り直してあります`,
    ),
    { path: setAside },
    phrase(
      'Delete it when you no longer need it, and check the disk.',
      '不要になったら削除してください。ディスクも確認してください。',
    ),
  )
}

function checkDatabase({ name, kind, tables, one, ja, disposable }: OwnDatabase, path: string): DoctorFinding {
  const health = checkDatabaseHealth(path, kind, tables)
  if (health.kind === 'absent')
    return toFinding(name, 'ok', phrase('empty', 'まだ何もありません'), { path, exists: false })
  const { bytes } = health
  if (health.kind === 'unsound') {
    const { what, todo = RESTORE_ADVICE } = splitAdvice(health.reason)
    const advice = disposable && what.en.includes('damaged') ? rebuildAdvice(path) : todo
    return toFinding(name, 'problem', what, { path, exists: true, sound: false, bytes }, advice)
  }
  const facts = { path, exists: true, sound: true, bytes, rows: health.rows }
  const what = phrase(
    `${formatPlural(health.rows, one)}, ${formatBytes(bytes)}, no damage found`,
    `${ja} ${formatNumber(health.rows)} 件、${formatBytes(bytes)}、異常なし`,
  )
  if (process.platform === 'win32' || (health.mode & 0o077) === 0) return toFinding(name, 'ok', what, facts)
  return toFinding(
    name,
    'problem',
    phrase(`${path} is open to other users`, `${path} をほかの利用者も開けます`),
    facts,
    phrase(`Restrict it: chmod 600 ${path}`, `権限を狭めてください: chmod 600 ${path}`),
  )
}

const RESTORE_ADVICE = phrase('Restore it from a backup if you have one.', 'バックアップがあれば復元してください。')

const rebuildAdvice = (path: string): Phrase =>
  phrase(
    `Move it away: mv ${path} ${path}.old. The next sync builds it again from the logs. Backups are in another file.`,
    `別の場所へ移してください: mv ${path} ${path}.old。次の同期でログから作り直します。バックアップは別の場所にあります。`,
  )

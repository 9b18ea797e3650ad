import { type BackupDatabase, openBackupDatabase } from '../../src/backup/backup-database.ts'
import type { BackupResult, RowOrigin } from '../../src/backup/records.ts'
import { sha256 } from '../../src/lib/hash.ts'
import type { SessionId } from '../../src/model/ids.ts'
import { tempFolder } from '../support/codex-log.ts'
import { AGENT, at, entryObject, type RowOptions, row, wordsIn } from './test-rows.ts'

export const STORE = '/home/me/.local/share/amazon-q/data.sqlite3'
export const place = (key = '/w/app'): RowOrigin => ({ agent: AGENT, store: STORE, key })
export const PLAIN_SESSION = 'amazon-q:c1' as SessionId
/** Name of a session that is distinguished by this entry. */
export const branchId = (words: string, native = 'c1'): SessionId =>
  `${AGENT}:${native}~${sha256(JSON.stringify([words, `You said ${words}.`])).slice(0, 6)}` as SessionId

interface PutOptions extends RowOptions {
  readonly id?: string
  readonly key?: string
  readonly minute?: number
}

/** Each letter is an entry: `putEntries(keep, 'abc')`. */
export function putEntries(keep: BackupDatabase, letters: string, options: PutOptions = {}): BackupResult {
  const { id = 'c1', key, minute = 0, ...more } = options
  return keep.put(row(id, [...letters].map(entryObject), more), place(key), at(minute))
}

/** Every session in the backup, with its entries and how it ended. */
export function backedUpSessions(keep: BackupDatabase): Record<string, string> {
  return Object.fromEntries(
    keep.list().map((one) => {
      const words = one.kind === 'conversation' ? wordsIn(keep.conversation(one.session)).join('') : '?'
      return [one.session, one.ended_how === undefined ? words : `${words} ${one.ended_how}`]
    }),
  )
}

export const newBackup = (): BackupDatabase => openBackupDatabase(tempFolder())

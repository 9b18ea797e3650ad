/** Whether a database of our own is sound, found out without changing it. */

import { AppError } from '../../model/error.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { statOf } from '../files/safe-fs.ts'
import { openSqlite } from './driver.ts'
import { type DatabaseFormat, withDatabaseErrors } from './own-database.ts'

export type DatabaseHealth =
  | { readonly kind: 'absent' }
  | { readonly kind: 'sound'; readonly bytes: number; readonly rows: number; readonly mode: number }
  /** Says what to do. */
  | { readonly kind: 'unsound'; readonly bytes: number; readonly reason: Phrase }

/** @param countSql counts what it is there for, as SQL */
export function checkDatabaseHealth(path: string, format: DatabaseFormat, countSql: string): DatabaseHealth {
  const stat = statOf(path)
  if (!stat) return { kind: 'absent' }
  const bytes = stat.size + (statOf(`${path}-wal`)?.size ?? 0)
  try {
    return {
      kind: 'sound',
      bytes,
      mode: stat.mode & 0o777,
      rows: withDatabaseErrors(path, () => countRowsChecked(path, format, countSql)),
    }
  } catch (error) {
    if (error instanceof AppError) return { kind: 'unsound', bytes, reason: error.phrase }
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_'))) throw error
    return { kind: 'unsound', bytes, reason: damagedPhrase(path, error.message) }
  }
}

const damagedPhrase = (path: string, finding: string): Phrase =>
  phrase(
    `${path} is damaged (${finding}). Make a copy of it, then try sqlite3 FILE .recover, or restore it from a backup.`,
    `${path} が壊れています（${finding}）。複製してから sqlite3 FILE .recover を試すか、バックアップから復元してください。`,
  )

function countRowsChecked(path: string, format: DatabaseFormat, countSql: string): number {
  const db = openSqlite(path, { readonly: true, fileMustExist: true })
  try {
    const version = Number(db.pragma('user_version', { simple: true }))
    if (version > format.migrations.length)
      throw new AppError(
        'unusable_data',
        `${path} was written by a newer fumibako. Update fumibako.`,
        `${path} はもっと新しい fumibako が書いたものです。fumibako を更新してください。`,
      )
    const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined
    if (isEmpty) return 0
    if (db.pragma('application_id', { simple: true }) !== format.application)
      throw new AppError(
        'unusable_data',
        `${path} is a database of another program. Move it away, or set FUMI_HOME.`,
        `${path} は別のプログラムのデータベースです。別の場所へ移すか、FUMI_HOME を設定してください。`,
      )
    const finding = String(db.pragma('quick_check(1)', { simple: true })).replaceAll(/\s+/g, ' ')
    if (finding !== 'ok') throw new AppError('unusable_data', damagedPhrase(path, finding))
    return Number(db.prepare(countSql).pluck().get())
  } finally {
    db.close()
  }
}

/** The open database of the backup: created with the first write, and each access one transaction. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { openWritableOrCopy, withDatabaseErrors } from '../lib/sqlite/own-database.ts'
import { type BackupTables, backupFormat, backupTablesIn } from './backup-tables.ts'
import { copiesPath, removeCopies } from './take-over-copies.ts'

export class BackupFile {
  readonly path: string
  #open: { readonly tables: BackupTables; close(): void } | undefined

  constructor(path: string) {
    this.path = path
  }

  exists(): boolean {
    return this.#open !== undefined || existsSync(this.path) || existsSync(copiesPath(dirname(this.path)))
  }

  /** Throws AppError if there is a backup that cannot be used. */
  tables(): BackupTables {
    if (this.#open) return this.#open.tables
    const directory = dirname(this.path)
    const { db, close, isCopy } = openWritableOrCopy(this.path, backupFormat(directory))
    this.#open = { tables: backupTablesIn(db), close }
    if (!isCopy) withDatabaseErrors(this.path, () => removeCopies(db, directory))
    return this.#open.tables
  }

  /** Atomic. Waits for other writing processes. */
  write<T>(work: (tables: BackupTables) => T): T {
    const tables = this.tables()
    return withDatabaseErrors(this.path, () => tables.db.transaction(() => work(tables)).immediate())
  }

  /** All results of `work` describe the same state. */
  read<T>(fallback: () => T, work: (tables: BackupTables) => T): T {
    if (!this.exists()) return fallback()
    const tables = this.tables()
    return withDatabaseErrors(this.path, () => tables.db.transaction(() => work(tables)).deferred())
  }

  close(): void {
    this.#open?.close()
    this.#open = undefined
  }
}

/** Lists, reads and writes rows of the conversation tables. Touches nothing else in the database. */
import type { DatabaseOutcome, DatabaseProblem } from '../../lib/sqlite/database-file.ts'
import type { ForeignDatabase } from '../../lib/sqlite/foreign-database.ts'
import type { LockedDatabase } from '../../lib/sqlite/locks.ts'
import { AppError } from '../../model/error.ts'

export interface ListedRow {
  readonly key: RowKey
  /** Changes when the row is written. A replaced row gets a new number. */
  readonly fingerprint: string
  readonly size: number
}

interface TableRow {
  readonly bytes: Buffer
  /** In milliseconds, if the table has times. */
  readonly created_at: number | undefined
  readonly updated_at: number | undefined
}

const TABLES: readonly ConversationTable[] = ['conversations', 'conversations_v2']

export function listTables(database: ForeignDatabase): DatabaseOutcome<readonly ConversationTable[]> {
  const found = database.all("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'conversations%'")
  if (!found.ok) return found
  const names = new Set(found.value.map(({ name }) => name))
  return { ok: true, value: TABLES.filter((table) => names.has(table)) }
}

const COLUMNS: { readonly [table in ConversationTable]: string } = {
  conversations: 'key, NULL AS conversation_id, NULL AS updated_at',
  conversations_v2: 'key, conversation_id, updated_at',
}

const PAGE_ROWS = 200
const FIRST_ROWID = -(2n ** 63n)
const LAST_ROWID = 2n ** 63n - 1n

/**
 * In pages, so that the owner never waits. A row that is replaced in the meantime appears again; the later one counts.
 */
export function listRows(database: ForeignDatabase, table: ConversationTable): DatabaseOutcome<readonly ListedRow[]> {
  const found = new Map<string, ListedRow>()
  for (let after = FIRST_ROWID; ; ) {
    const page = database.all(
      // As text, because rounding a large rowid would repeat the same page forever.
      `SELECT CAST(rowid AS TEXT) AS number, octet_length(value) AS size, ${COLUMNS[table]} FROM ${table} WHERE rowid >= ? ORDER BY rowid LIMIT ${PAGE_ROWS}`,
      after,
    )
    if (!page.ok) return page.problem.kind === 'corrupt' ? listKeys(database, table) : page
    for (const row of page.value) addRow(found, table, row)
    if (page.value.length < PAGE_ROWS) return { ok: true, value: [...found.values()] }
    const last = BigInt(String(page.value.at(-1)?.['number']))
    if (last === LAST_ROWID) return { ok: true, value: [...found.values()] }
    after = last + 1n
  }
}

/** Reads only the index if the table is damaged: some rows may still be readable. */
function listKeys(database: ForeignDatabase, table: ConversationTable): DatabaseOutcome<readonly ListedRow[]> {
  const columns = table === 'conversations' ? 'key' : 'key, conversation_id'
  const rows = database.all(`SELECT ${columns} FROM ${table} ORDER BY ${columns}`)
  if (!rows.ok) return rows
  const found = new Map<string, ListedRow>()
  for (const row of rows.value) addRow(found, table, row)
  return { ok: true, value: [...found.values()] }
}

type Cells = { readonly [column: string]: unknown }

function addRow(found: Map<string, ListedRow>, table: ConversationTable, row: Cells): void {
  const { key: directory, conversation_id: conversation, number, size, updated_at } = row
  if (typeof directory !== 'string') return
  if (table === 'conversations_v2' && typeof conversation !== 'string') return
  const key: RowKey =
    table === 'conversations' ? { table, directory } : { table, directory, conversation: String(conversation) }
  const fingerprint = [number, size, updated_at].map((one) => String(one ?? '')).join('.')
  found.set(`${directory}\0${conversation ?? ''}`, { key, fingerprint, size: Number(size ?? 0) })
}

/** Undefined if the row is gone. */
export function readTableRow(database: ForeignDatabase, key: RowKey): DatabaseOutcome<TableRow | undefined> {
  const found = database.get(...rowQuery(key))
  if (!found.ok) return found
  const bytes = found.value?.['value']
  if (!(bytes instanceof Uint8Array)) return { ok: true, value: undefined }
  const { created_at, updated_at } = found.value ?? {}
  return {
    ok: true,
    value: {
      bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
      created_at: toMilliseconds(created_at),
      updated_at: toMilliseconds(updated_at),
    },
  }
}

/** A column may contain any value. One that is not a number gives an invalid time, not a missing one. */
function toMilliseconds(value: unknown): number | undefined {
  if (value === null || value === undefined) return undefined
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : Number.NaN
}

/** Of a single row. */
export function rowFingerprint(database: ForeignDatabase, key: RowKey): DatabaseOutcome<string | undefined> {
  const found =
    key.table === 'conversations'
      ? database.get(
          'SELECT CAST(rowid AS TEXT) AS number, octet_length(value) AS size FROM conversations WHERE key = ?',
          key.directory,
        )
      : database.get(
          'SELECT CAST(rowid AS TEXT) AS number, octet_length(value) AS size, updated_at FROM conversations_v2 WHERE key = ? AND conversation_id = ?',
          key.directory,
          key.conversation,
        )
  if (!found.ok) return found
  const { number, size, updated_at } = found.value ?? {}
  return { ok: true, value: found.value && [number, size, updated_at].map((one) => String(one ?? '')).join('.') }
}

export type RowKey =
  | { readonly table: 'conversations'; readonly directory: string }
  | { readonly table: 'conversations_v2'; readonly directory: string; readonly conversation: string }

export type ConversationTable = RowKey['table']

/** In bytes. The longest known row has 54 MB. */
export const MAX_ROW_BYTES = 500_000_000

/** Null for a value that is too long to hold. */
const VALUE_COLUMN = `CAST(CASE WHEN octet_length(value) <= ${MAX_ROW_BYTES} THEN value END AS BLOB)`

/** SQL and parameters for the value and times of a row. */
const rowQuery = (key: RowKey): readonly [sql: string, ...parameters: string[]] =>
  key.table === 'conversations'
    ? [`SELECT ${VALUE_COLUMN} AS value FROM conversations WHERE key = ?`, key.directory]
    : [
        `SELECT ${VALUE_COLUMN} AS value, created_at, updated_at FROM conversations_v2 WHERE key = ? AND conversation_id = ?`,
        key.directory,
        key.conversation,
      ]

/** The key of a source is plain text. */
export const formatRowKey = (key: RowKey): string =>
  JSON.stringify(
    key.table === 'conversations' ? [key.table, key.directory] : [key.table, key.directory, key.conversation],
  )

export function parseRowKey(text: string): RowKey | undefined {
  try {
    const [table, directory, conversation] = JSON.parse(text) as readonly string[]
    if (directory === undefined) return undefined
    if (table === 'conversations') return { table, directory }
    return table === 'conversations_v2' && conversation !== undefined ? { table, directory, conversation } : undefined
  } catch {
    return undefined
  }
}

/** Times of a row in milliseconds, if its table has them. */
interface RowTimes {
  readonly created: number
  readonly updated: number
}

export interface StoredRow {
  readonly bytes: Uint8Array
  readonly times: RowTimes | undefined
}

export function writeRow(database: LockedDatabase, key: RowKey, text: string, { created, updated }: RowTimes): void {
  if (key.table === 'conversations')
    database.run('INSERT OR REPLACE INTO conversations (key, value) VALUES (?, ?)', key.directory, text)
  else
    database.run(
      `INSERT INTO conversations_v2 (key, conversation_id, value, created_at, updated_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (key, conversation_id) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
      key.directory,
      key.conversation,
      text,
      created,
      updated,
    )
  const after = readStoredRow(database, key)
  if (!after || !Buffer.from(text).equals(after.bytes)) throw new Error('the row that was written reads otherwise')
}

export function deleteRow(database: LockedDatabase, key: RowKey): void {
  if (key.table === 'conversations') database.run('DELETE FROM conversations WHERE key = ?', key.directory)
  else
    database.run('DELETE FROM conversations_v2 WHERE key = ? AND conversation_id = ?', key.directory, key.conversation)
}

export function readStoredRow(database: LockedDatabase, key: RowKey): StoredRow | undefined {
  const row = database.get(...rowQuery(key))
  const bytes = row?.['value']
  if (!(bytes instanceof Uint8Array)) return undefined
  const times = { created: Number(row?.['created_at']), updated: Number(row?.['updated_at']) }
  return { bytes, times: key.table === 'conversations' ? undefined : times }
}

export function storeError(path: string, { kind, reason }: DatabaseProblem): AppError {
  if (kind === 'busy')
    return new AppError(
      'busy',
      `${path} is being written by another program, so nothing was changed. End that session and try again.`,
      `${path} は別のプログラムが書き込み中のため、何も変更していません。その会話を終了してから、もう一度実行してください。`,
    )
  const code = kind === 'no_permission' ? 'no_permission' : 'not_found'
  return new AppError(code, `${path}: ${reason.en}`, `${path}: ${reason.ja}`)
}

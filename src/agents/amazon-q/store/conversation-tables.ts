/** The tables of conversations, the only ones of the database that are ever touched. One statement, one row, no more. */

import type { DatabaseOutcome } from '../../../lib/sqlite/database-problem.ts'
import type { ForeignDatabase } from '../../../lib/sqlite/foreign-database.ts'
import { type ConversationTable, type RowKey, rowQuery } from './row-key.ts'

export interface ListedRow {
  readonly key: RowKey
  /** Equal as long as nobody wrote the row. A row that is replaced gets another number. */
  readonly fingerprint: string
  readonly size: number
}

export interface TableRow {
  readonly bytes: Buffer
  /** In milliseconds, where the table tells them. */
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

/** In pages, so that nobody waits for us. A row that is replaced meanwhile comes again, further on: the later one counts. */
export function listRows(database: ForeignDatabase, table: ConversationTable): DatabaseOutcome<readonly ListedRow[]> {
  const found = new Map<string, ListedRow>()
  for (let after = FIRST_ROWID; ; ) {
    const page = database.all(
      // As text: no rowid may become another one, else a page would be asked for again and again.
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

/** The index alone, where the table itself is damaged: rows that can be read still are. */
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

/** Nothing when it is gone. */
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

/** A column holds whatever its writer put there: what is no number is no time, but it is not missing. */
function toMilliseconds(value: unknown): number | undefined {
  if (value === null || value === undefined) return undefined
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : Number.NaN
}

/** One row's alone. */
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

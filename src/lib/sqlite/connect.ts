/** Connects to a database file that exists. */
import { type Connection, openSqlite } from './driver.ts'

export type SqlValue = null | number | string | Uint8Array
export type SqlRow = { readonly [column: string]: SqlValue }
export type SqlParameter = SqlValue | bigint

export interface SqliteConnectOptions {
  readonly readonly: boolean
  readonly busyMs: number
}

/** Throws what SQLite says. */
export function connectToFile(path: string, { readonly, busyMs }: SqliteConnectOptions): Connection {
  const connection = openSqlite(path, { readonly, fileMustExist: true, timeout: busyMs })
  // The file may have been made by anybody.
  connection.pragma('trusted_schema = OFF')
  connection.pragma('cell_size_check = ON')
  return connection
}

export const selectRow = (
  connection: Connection,
  sql: string,
  parameters: readonly SqlParameter[],
): SqlRow | undefined => connection.prepare(sql).get(...parameters) as SqlRow | undefined

export const selectRows = (
  connection: Connection,
  sql: string,
  parameters: readonly SqlParameter[],
): readonly SqlRow[] => connection.prepare(sql).all(...parameters) as SqlRow[]

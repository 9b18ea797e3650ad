/** Connects to a database file that exists. */
import { type Connection, openSqlite } from './driver.ts'

export type Value = null | number | string | Uint8Array
export type Row = { readonly [column: string]: Value }
export type Parameter = Value | bigint

export interface ConnectOptions {
  readonly readonly: boolean
  readonly busyMs: number
}

/** Throws what SQLite says. */
export function connect(path: string, { readonly, busyMs }: ConnectOptions): Connection {
  const connection = openSqlite(path, { readonly, fileMustExist: true, timeout: busyMs })
  // The file may have been made by anybody.
  connection.pragma('trusted_schema = OFF')
  connection.pragma('cell_size_check = ON')
  return connection
}

export const rowOf = (connection: Connection, sql: string, parameters: readonly Parameter[]): Row | undefined =>
  connection.prepare(sql).get(...parameters) as Row | undefined

export const rowsOf = (connection: Connection, sql: string, parameters: readonly Parameter[]): readonly Row[] =>
  connection.prepare(sql).all(...parameters) as Row[]

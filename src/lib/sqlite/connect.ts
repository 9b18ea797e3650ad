/** Connects to a database file that exists. */
import { createRequire } from 'node:module'
import type Database from 'better-sqlite3'

export type Connection = Database.Database

export type Value = null | number | string | Uint8Array
export type Row = { readonly [column: string]: Value }
export type Parameter = Value | bigint

export interface ConnectOptions {
  readonly readonly: boolean
  readonly busyMs: number
}

const require = createRequire(import.meta.url)

/** Loads SQLite when it is first needed: most commands do without it and start sooner. Throws what SQLite says. */
export function connect(path: string, { readonly, busyMs }: ConnectOptions): Connection {
  const Sqlite = require('better-sqlite3') as typeof Database
  const connection = new Sqlite(path, { readonly, fileMustExist: true, timeout: busyMs })
  // The file may have been made by anybody.
  connection.pragma('trusted_schema = OFF')
  connection.pragma('cell_size_check = ON')
  return connection
}

export const rowOf = (connection: Connection, sql: string, parameters: readonly Parameter[]): Row | undefined =>
  connection.prepare(sql).get(...parameters) as Row | undefined

export const rowsOf = (connection: Connection, sql: string, parameters: readonly Parameter[]): readonly Row[] =>
  connection.prepare(sql).all(...parameters) as Row[]

/** The connection to the database of a team: transactions of the server, and transactions in the name of a person. */
import pg from 'pg'
import { warn } from '../../lib/logger.ts'
import { AppError } from '../../model/error.ts'
import { PERSON_ROLE } from './person-role.ts'

/** Counts and token sums fit into a double; keys of sessions are selected as text. */
const INT8 = 20
const types = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    id === INT8 ? Number : pg.types.getTypeParser(id as never, format as 'text'),
}

export type Row = { readonly [column: string]: unknown }

/** Statements of one transaction. */
export class Transaction {
  readonly #client: pg.PoolClient

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  async rows<T extends object = Row>(sql: string, values: readonly unknown[] = []): Promise<readonly T[]> {
    return (await this.#client.query(sql, [...values])).rows as T[]
  }

  async first<T extends object = Row>(sql: string, values: readonly unknown[] = []): Promise<T | undefined> {
    return (await this.rows<T>(sql, values))[0]
  }

  /** @returns the number of rows that changed */
  async run(sql: string, values: readonly unknown[] = []): Promise<number> {
    return (await this.#client.query(sql, [...values])).rowCount ?? 0
  }
}

export interface DatabaseOptions {
  readonly connections?: number
  /** The schema of the tables; default: that of the connection. */
  readonly schema?: string
}

/** Two transactions waited for each other, or saw each other's changes: trying again is safe. */
const TRY_AGAIN = new Set(['40001', '40P01'])
const MAX_TRIES = 5

export class TeamDatabase {
  readonly #pool: pg.Pool
  readonly #config: pg.ClientConfig
  #listener: pg.Client | undefined
  #isClosed = false

  constructor(url: string, { connections = 10, schema }: DatabaseOptions = {}) {
    this.#config = {
      connectionString: url,
      types,
      application_name: 'fumibako team',
      ...(schema !== undefined && { options: `-c search_path=${schema}` }),
    }
    this.#pool = new pg.Pool({ ...this.#config, max: connections, connectionTimeoutMillis: 10_000 })
    // A connection that waits in the pool has ended; the next request opens another.
    this.#pool.on('error', (error) => warn(`database: ${error.message}`))
    // One in use may end between two statements: the next of them fails, and the transaction with it.
    this.#pool.on('connect', (client) => client.on('error', () => {}))
  }

  /** As the role that owns the tables. Only for people, devices and settings, and for what policies demand. */
  asServer<T>(work: (db: Transaction) => Promise<T>): Promise<T> {
    return this.#transaction([], work)
  }

  /** As a role that owns nothing: the policies of the tables apply. */
  asPerson<T>(person: number, work: (db: Transaction) => Promise<T>): Promise<T> {
    // Statements, not set_config: Citus passes only those on to its workers.
    return this.#transaction([`SET LOCAL ROLE ${PERSON_ROLE}`, `SET LOCAL app.person = '${Math.trunc(person)}'`], work)
  }

  /** Calls back for each notification until the database is closed; connects again after an error. */
  async listen(channel: string, onPayload: (payload: string) => void, onReconnect: () => void): Promise<void> {
    const client = new pg.Client(this.#config)
    this.#listener = client
    client.on('notification', ({ payload }) => onPayload(payload ?? ''))
    const again = (): void => {
      if (this.#isClosed || this.#listener !== client) return
      this.#listener = undefined
      void client.end().catch(() => {})
      setTimeout(() => {
        if (this.#isClosed) return
        void this.listen(channel, onPayload, onReconnect).then(onReconnect, () => {})
      }, RECONNECT_MS).unref()
    }
    client.on('error', again)
    client.on('end', again)
    try {
      await client.connect()
      await client.query(`LISTEN ${channel}`)
    } catch (error) {
      again()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#listener?.end().catch(() => {})
    await this.#pool.end()
  }

  async #transaction<T>(before: readonly string[], work: (db: Transaction) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const client = await this.#connect()
      try {
        await client.query(['BEGIN', ...before].join('; '))
        const done = await work(new Transaction(client))
        await client.query('COMMIT')
        client.release()
        return done
      } catch (error) {
        const isAlive = await client.query('ROLLBACK').then(
          () => true,
          () => false,
        )
        client.release(!isAlive)
        if (tries < MAX_TRIES && error instanceof pg.DatabaseError && TRY_AGAIN.has(error.code ?? '')) continue
        throw isAlive ? error : unreachable(error)
      }
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect()
    } catch (error) {
      throw unreachable(error)
    }
  }
}

const RECONNECT_MS = 1000

/** @param error of the connection; it may contain the address, never the password */
function unreachable(error: unknown): AppError {
  const reason =
    error instanceof Error ? error.message || ('code' in error ? String(error.code) : error.name) : String(error)
  return new AppError(
    'busy',
    `The database of the team cannot be reached (${reason}). Try again.`,
    `チームのデータベースに接続できません（${reason}）。もう一度試してください。`,
  )
}

export const isUniqueViolation = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === '23505'

/** The disk of the database is full, or it has no more memory or connections. */
export const isExhausted = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && (error.code?.startsWith('53') ?? false)

/** What came from other machines. */

import { sha256 } from '../../lib/hash.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { getValue, getValues, runStatement } from '../../lib/sqlite/statements.ts'
import type { Instant } from '../../model/ids.ts'
import type { BackupFile } from '../backup-file.ts'
import { forgetBackup } from '../forgotten-sessions.ts'
import type { ExchangeItem, MachineName, ReceivedFile, Tombstone } from './manifest.ts'

export class ReceivedItems {
  readonly #file: BackupFile

  constructor(file: BackupFile) {
    this.#file = file
  }

  /**
   * The name of a machine here, which begins the paths of what came from it. It stays, and no two machines share one.
   * @param self the name of this machine
   */
  nameMachine({ id, name }: MachineName, self: string): string {
    return this.#file.write(({ db }) => {
      const known = getValue<string>(db, 'SELECT name FROM machine WHERE id = ?', id)
      if (known !== undefined) return known
      const plain = name.replaceAll(/[^\w.-]+/g, '-')
      const isTaken = plain === self || getValue(db, 'SELECT 1 FROM machine WHERE name = ?', plain) !== undefined
      const unique = isTaken ? `${plain}-${id.slice(0, 4)}` : plain
      runStatement(db, 'INSERT INTO machine (id, name) VALUES (?, ?)', id, unique)
      return unique
    })
  }

  /** Names of the machines that we have received something from. */
  machineNames(): readonly string[] {
    return this.#file.read<readonly string[]>(
      () => [],
      ({ db }) => getValues(db, 'SELECT name FROM machine ORDER BY name'),
    )
  }

  /** The state of an item as it was taken last. */
  state(machine: string, item: string): string | undefined {
    return this.#file.read<string | undefined>(
      () => undefined,
      ({ db }) => getValue(db, 'SELECT state FROM received WHERE machine = ? AND item = ?', machine, item),
    )
  }

  /** When the manifest was written that was taken over last. */
  written(machine: string): number {
    return Number(this.state(machine, WRITTEN) ?? 0)
  }

  noteWritten(machine: string, at: number): void {
    if (at > this.written(machine)) this.#file.write(({ db }) => setReceived(db, machine, WRITTEN, String(at), null))
  }

  /** Replaces the last state of the file. @param files the file and its side files */
  takeFile(
    machine: MachineName,
    item: ExchangeItem & { readonly kind: 'file' },
    state: string,
    [main, ...side]: readonly ReceivedFile[],
    at: Instant,
  ): void {
    if (!main) return
    this.#file.write(({ db, files, pieces }) => {
      const add = (file: ReceivedFile, side_of?: number): number => {
        const { id } = files.add({
          agent: item.agent,
          path: `${machine.name}:${file.path}`,
          inode: 0,
          size: file.size,
          modified: file.modified,
          probe: sha256(JSON.stringify(file.pieces)).slice(0, 16),
          first_seen: item.first_seen ?? at,
          machine: machine.id,
          ...(item.root !== undefined && { root: `${machine.name}:${item.root}` }),
          ...(side_of !== undefined && { side_of }),
        })
        let start = 0
        for (const [n, [hash, length]] of file.pieces.entries()) {
          const body = file.bodies[n]
          if (body) files.setPiece(id, start, length, pieces.putPacked(Buffer.from(hash, 'hex'), body))
          start += length
        }
        return id
      }
      const before = fileOf(db, machine.id, item.id)
      const id = add(main)
      for (const one of side) add(one, id)
      setReceived(db, machine.id, item.id, state, id)
      if (before !== undefined) files.drop(before)
    })
  }

  markRow(machine: MachineName, item: string, state: string, store: string): void {
    this.#file.write(({ db }) => {
      runStatement(db, 'UPDATE store SET machine = ? WHERE path = ?', machine.id, store)
      setReceived(db, machine.id, item, state, null)
    })
  }

  /** Removes a session that its machine has erased. @returns whether anything was there */
  eraseReceived(machine: string, name: string, { session, claim, first_record, at, items }: Tombstone): boolean {
    const item = `erased ${session} ${first_record}`
    if (this.state(machine, item) !== undefined) return false
    this.#file.tables().db.pragma('secure_delete = ON')
    return this.#file.write((tables) => {
      const { db, files, generations } = tables
      let found = false
      for (const one of items) {
        const id = fileOf(db, machine, one)
        if (id !== undefined) files.drop(id)
        found ||= id !== undefined
        runStatement(db, 'DELETE FROM received WHERE machine = ? AND item = ?', machine, one)
      }
      for (const here of generations.list({}).filter(({ store }) => store.startsWith(`${name}:`)))
        if (here.session === session || here.session.startsWith(`${session}~`)) {
          forgetBackup(tables, { session: here.session, claim, first_record }, at)
          found = true
        }
      forgetBackup(tables, { session, claim, first_record }, at)
      setReceived(db, machine, item, at, null)
      return found
    })
  }
}

/** The row of a machine's manifest. The names of items have a space. */
const WRITTEN = 'manifest'

const fileOf = (db: Db, machine: string, item: string): number | undefined =>
  getValue<number | null>(db, 'SELECT file_id FROM received WHERE machine = ? AND item = ?', machine, item) ?? undefined

function setReceived(db: Db, machine: string, item: string, state: string, file: number | null): void {
  const sql = 'INSERT OR REPLACE INTO received (machine, item, state, file_id) VALUES (?, ?, ?, ?)'
  runStatement(db, sql, machine, item, state, file)
}

/** Puts what this machine has backed up into an exchange folder. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { isFolder, listEntries } from '../../lib/files/safe-fs.ts'
import { toWriteError } from '../../lib/files/system-error.ts'
import { sha256 } from '../../lib/hash.ts'
import { AppError } from '../../model/error.ts'
import type { BackupDatabase } from '../backup-database.ts'
import { firstPieceLength } from '../cut-file.ts'
import type { BackedUpFile } from '../file-table.ts'
import { packPiece } from '../pack-piece.ts'
import { addressOf, createKey, type ExchangeKey, openKeys } from './keys.ts'
import {
  type ExchangeFile,
  type ExchangeItem,
  type MachineName,
  type Manifest,
  type PieceName,
  readManifest,
  writeManifest,
} from './manifest.ts'
import { openSealedFile, sealFile } from './sealed-file.ts'

export interface SentReport {
  readonly machine: MachineName
  readonly items: number
  readonly tombstones: number
  /** Pieces that were not in the folder yet, and their encrypted bytes. */
  readonly written_pieces: number
  readonly written_bytes: number
  /** Pieces that nothing needs any more. */
  readonly removed_pieces: number
}

export interface SendOptions {
  readonly folder: string
  readonly passphrase: string
  readonly machine: MachineName
}

export const manifestPlace = (machine: string): string => `machines/${machine}/manifest`
export const piecePlace = (machine: string, address: string): string =>
  `machines/${machine}/pieces/${address.slice(0, 2)}/${address}`

/** The folder must exist: a disk that is not mounted must not become a folder. */
export function assertExchangeFolder(folder: string): void {
  if (isFolder(folder)) return
  throw new AppError(
    'not_found',
    `${folder} is not a folder. Create it, or mount the disk that holds it.`,
    `${folder} というフォルダーがありません。作成するか、そのディスクをマウントしてください。`,
  )
}

/** Pieces first, then the manifest that names them: the folder is consistent at every moment. */
export function sendBackup(backup: BackupDatabase, { folder, passphrase, machine }: SendOptions): SentReport {
  assertExchangeFolder(folder)
  const { key, before } = keyToWriteWith(folder, passphrase, machine)
  const writer = new PieceWriter(folder, machine.id, key)
  const items = [...itemsOf(backup, writer)]
  const tombstones = backup.forgotten().flatMap(({ erased, ...one }) => (erased ? [{ ...one, items: erased }] : []))
  const manifest = writeManifest({
    machine,
    written: Math.max(Date.now(), (before?.written ?? 0) + 1),
    items,
    tombstones,
    relocated: backup.relocated(),
  })
  sealFile(folder, manifestPlace(machine.id), manifest, key)
  const removed_pieces = writer.removeUnused()
  const { written, bytes } = writer
  return {
    machine,
    items: items.length,
    tombstones: tombstones.length,
    written_pieces: written,
    written_bytes: bytes,
    removed_pieces,
  }
}

/** The key of the last manifest, so that pieces keep their names; otherwise the first one. */
function keyToWriteWith(
  folder: string,
  passphrase: string,
  machine: MachineName,
): { readonly key: ExchangeKey; readonly before?: Manifest } {
  const keys = openKeys(folder, passphrase)
  const opened = openSealedFile(folder, manifestPlace(machine.id), keys)
  const before = opened.kind === 'content' ? readManifest(opened.content) : undefined
  if (opened.kind === 'content' && before) return { key: opened.key, before }
  const [first] = keys.values()
  return { key: first ?? createKey(folder, passphrase) }
}

class PieceWriter {
  readonly #folder: string
  readonly #machine: string
  readonly #key: ExchangeKey
  readonly #present: Set<string>
  readonly #used = new Set<string>()
  written = 0
  bytes = 0

  constructor(folder: string, machine: string, key: ExchangeKey) {
    this.#folder = folder
    this.#machine = machine
    this.#key = key
    const pieces = join(folder, 'machines', machine, 'pieces')
    this.#present = new Set(
      listEntries(pieces).flatMap(({ name }) => listEntries(join(pieces, name)).map((piece) => piece.name)),
    )
  }

  /** @param pack gives the compressed bytes of a piece that is not there yet */
  put(hash: string, length: number, pack: () => Uint8Array): PieceName {
    const address = addressOf(this.#key, hash)
    this.#used.add(address)
    if (!this.#present.has(address)) {
      const body = pack()
      sealFile(this.#folder, piecePlace(this.#machine, address), body, this.#key)
      this.#present.add(address)
      this.written++
      this.bytes += body.length
    }
    return [hash, length]
  }

  removeUnused(): number {
    let removed = 0
    for (const address of this.#present) {
      if (this.#used.has(address)) continue
      const path = join(this.#folder, ...piecePlace(this.#machine, address).split('/'))
      try {
        rmSync(path, { force: true })
      } catch (error) {
        throw toWriteError(path, error)
      }
      removed++
    }
    return removed
  }
}

function* itemsOf(backup: BackupDatabase, writer: PieceWriter): Generator<ExchangeItem> {
  const files = backup.files.list().filter(({ machine, probe }) => machine === undefined && probe !== '')
  for (const file of files) {
    if (file.side_of !== undefined) continue
    const { id, agent, root, first_seen } = file
    const side = files.filter((one) => one.side_of === id).map((one) => fileOf(backup, one, writer))
    yield {
      id: `file ${id}`,
      kind: 'file',
      agent,
      ...(root !== undefined && { root }),
      ...(first_seen !== undefined && { first_seen }),
      ...fileOf(backup, file, writer),
      side,
    }
  }
  for (const row of backup.list({ kind: 'conversation' })) {
    const { agent, session, store, key, first_seen, ended_at, machine } = row
    if (machine !== undefined) continue
    const [all, last] = [backup.conversation(session), backup.bytes(session)]
    const states = Buffer.compare(all, last) === 0 ? [all] : [all, last]
    yield {
      id: `row ${session}`,
      kind: 'row',
      agent,
      store,
      key,
      session,
      first_seen,
      ended: ended_at !== undefined,
      states: states.map((bytes) => cutBytes(Buffer.from(bytes)).map((piece) => putBytes(piece, writer))),
    }
  }
}

function fileOf(backup: BackupDatabase, file: BackedUpFile, writer: PieceWriter): ExchangeFile {
  const { id, path, size, modified } = file
  const pieces = backup.files
    .pieces(id)
    .map(({ hash, length, piece }) => writer.put(hash, length, () => backup.files.packed(piece)))
  return { path, size, modified, pieces }
}

function cutBytes(bytes: Buffer): readonly Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const rest = bytes.subarray(at)
    const piece = rest.subarray(0, firstPieceLength(rest) ?? rest.length)
    pieces.push(piece)
    at += piece.length
  }
  return pieces
}

const putBytes = (bytes: Buffer, writer: PieceWriter): PieceName =>
  writer.put(sha256(bytes), bytes.length, () => packPiece(bytes))

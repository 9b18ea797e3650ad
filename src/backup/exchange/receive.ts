/** Takes over what other machines have put into an exchange folder. */
import { join } from 'node:path'
import type { Agent, Source } from '../../agents/agent.ts'
import { agentIdsOf } from '../../agents/agent-roots.ts'
import { listEntries } from '../../lib/files/safe-fs.ts'
import { sha256 } from '../../lib/hash.ts'
import { AppError } from '../../model/error.ts'
import type { Instant, SessionId } from '../../model/ids.ts'
import type { BackupDatabase } from '../backup-database.ts'
import { unpackPiece } from '../pack-piece.ts'
import { addressOf, type ExchangeKey, openKeys } from './keys.ts'
import {
  type ExchangeFile,
  type ExchangeItem,
  type MachineName,
  type PieceName,
  type ReceivedFile,
  readManifest,
} from './manifest.ts'
import { openSealedFile } from './sealed-file.ts'
import { assertExchangeFolder, manifestPlace, piecePlace } from './send.ts'

export interface ReceiveOptions {
  readonly folder: string
  readonly passphrase: string
  /** This machine, whose own part of the folder is left out. */
  readonly self: MachineName
  readonly agents: readonly Agent[]
  readonly now: () => Instant
}

export interface ReceivedMachine {
  readonly machine: MachineName
  readonly new: number
  readonly changed: number
  readonly unchanged: number
  /** Sessions whose pieces are not all in the folder yet. */
  readonly waiting: number
  /** Sessions with damaged pieces, or rows that no agent here can read. */
  readonly unreadable: number
  /** Sessions that were erased there, and are erased here now. */
  readonly erased: number
}

export interface ReceivedReport {
  readonly machines: readonly ReceivedMachine[]
  readonly erased_sessions: readonly SessionId[]
  /** Parts of the folder whose manifest cannot be read: incomplete, damaged or of another passphrase. */
  readonly unreadable_machines: readonly string[]
  /** Parts that are older than what was taken over before: somebody brought an old state back. Nothing is replaced by it. */
  readonly outdated_machines: readonly string[]
}

export async function receiveBackups(backup: BackupDatabase, options: ReceiveOptions): Promise<ReceivedReport> {
  const { folder, passphrase, self } = options
  assertExchangeFolder(folder)
  const keys = openKeys(folder, passphrase)
  const machines: ReceivedMachine[] = []
  const unreadable: string[] = []
  const outdated: string[] = []
  const erased_sessions: SessionId[] = []
  for (const { name: id } of listEntries(join(folder, 'machines'))) {
    if (id === self.id) continue
    const opened = openSealedFile(folder, manifestPlace(id), keys)
    if (opened.kind === 'absent') continue
    const manifest = opened.kind === 'content' ? readManifest(opened.content) : undefined
    if (opened.kind !== 'content' || manifest?.machine.id !== id) {
      unreadable.push(id)
      continue
    }
    if (manifest.written < backup.received.written(id)) {
      outdated.push(id)
      continue
    }
    const name = backup.received.nameMachine(manifest.machine, self.name)
    const pieces = new PieceReader(folder, id, keys, opened.key)
    const counts = { new: 0, changed: 0, unchanged: 0, waiting: 0, unreadable: 0, erased: 0 }
    for (const item of [...manifest.items].sort(endedFirst)) {
      const state = sha256(JSON.stringify(item))
      const before = backup.received.state(id, item.id)
      if (before === state) counts.unchanged++
      else {
        const taken = await takeItem(backup, item, { id, name }, state, pieces, options)
        counts[taken === 'taken' ? (before === undefined ? 'new' : 'changed') : taken]++
      }
    }
    for (const one of manifest.relocated) backup.addRelocated(one)
    for (const tombstone of manifest.tombstones)
      if (backup.received.eraseReceived(id, name, tombstone)) {
        counts.erased++
        erased_sessions.push(tombstone.session)
      }
    backup.received.noteWritten(id, manifest.written)
    machines.push({ machine: { id, name }, ...counts })
  }
  return { machines, erased_sessions, unreadable_machines: unreadable, outdated_machines: outdated }
}

/** A row's last conversation comes after those that it replaced. */
const endedFirst = (a: ExchangeItem, b: ExchangeItem): number => Number(isEnded(b)) - Number(isEnded(a))

const isEnded = (item: ExchangeItem): boolean => item.kind === 'row' && item.ended

type Taken = 'taken' | 'waiting' | 'unreadable'

async function takeItem(
  backup: BackupDatabase,
  item: ExchangeItem,
  machine: MachineName,
  state: string,
  pieces: PieceReader,
  options: ReceiveOptions,
): Promise<Taken> {
  try {
    if (item.kind === 'file') {
      const files = [item, ...item.side].map((file) => readFile(file, pieces))
      backup.received.takeFile(machine, item, state, files, options.now())
    } else await takeRow(backup, item, machine, state, pieces, options)
    return 'taken'
  } catch (error) {
    if (error instanceof MissingPieceError) return 'waiting'
    if (error instanceof AppError && error.code === 'unusable_data') return 'unreadable'
    throw error
  }
}

function readFile(file: ExchangeFile, pieces: PieceReader): ReceivedFile {
  const size = file.pieces.reduce((sum, [, length]) => sum + length, 0)
  if (size !== file.size) throw damagedError(file.path)
  return { ...file, bodies: file.pieces.map((piece) => pieces.packed(piece)) }
}

async function takeRow(
  backup: BackupDatabase,
  item: ExchangeItem & { readonly kind: 'row' },
  machine: MachineName,
  state: string,
  pieces: PieceReader,
  { agents, now }: ReceiveOptions,
): Promise<void> {
  const agent = agents.find((one) => one.volatile && agentIdsOf(one).includes(item.agent))
  const store = `${machine.name}:${item.store}`
  const source: Source = { agent: item.agent, path: store, key: item.key }
  const captures = []
  for (const names of item.states) {
    const bytes = Buffer.concat(names.map((piece) => pieces.content(piece)))
    const captured = await agent?.volatile?.capture({ ...source, bytes })
    if (captured?.kind !== 'conversation') throw damagedError(item.session)
    captures.push(captured.capture)
  }
  const at = item.first_seen ?? now()
  for (const capture of captures)
    if (!backup.isForgotten(capture)) backup.put(capture, { agent: item.agent, store, key: item.key }, at)
  backup.received.markRow(machine, item.id, state, store)
}

const damagedError = (what: string): AppError =>
  new AppError('unusable_data', `${what} is damaged in the folder.`, `フォルダーにある ${what} が壊れています。`)

/** Not in the folder yet: the program that synchronizes it is still working. */
class MissingPieceError extends Error {}

class PieceReader {
  readonly #folder: string
  readonly #machine: string
  readonly #keys: ReadonlyMap<string, ExchangeKey>
  readonly #key: ExchangeKey

  constructor(folder: string, machine: string, keys: ReadonlyMap<string, ExchangeKey>, key: ExchangeKey) {
    this.#folder = folder
    this.#machine = machine
    this.#keys = keys
    this.#key = key
  }

  /** The compressed bytes, whose content is checked. */
  packed([hash, length]: PieceName): Buffer {
    const place = piecePlace(this.#machine, addressOf(this.#key, hash))
    const opened = openSealedFile(this.#folder, place, this.#keys)
    if (opened.kind === 'absent') throw new MissingPieceError(place)
    if (opened.kind === 'unreadable') throw damagedError(place)
    const content = unpackPiece(opened.content)
    if (content.length !== length || sha256(content) !== hash) throw damagedError(place)
    return opened.content
  }

  content(piece: PieceName): Buffer {
    return unpackPiece(this.packed(piece))
  }
}

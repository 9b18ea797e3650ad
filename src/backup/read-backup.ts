/** Reads the backup: rows byte for byte, complete conversations, older spellings. */
import { sha256 } from '../lib/hash.ts'
import { AppError } from '../model/error.ts'
import type { SessionId } from '../model/ids.ts'
import type { BackupTables } from './backup-tables.ts'
import type { StoredEntry } from './entry-table.ts'
import type { Generation } from './generation-table.ts'
import { assembleRow } from './layout-table.ts'
import type { RowLocation } from './records.ts'

/** The last state of the row. */
export function readBackedUpRow(tables: BackupTables, session: SessionId, location: RowLocation | undefined): Buffer {
  const { rows, layouts } = tables
  const generation = findGeneration(tables, session)
  const row = location && rows.find(location)
  const layout = location && !row ? undefined : layouts.read(generation.id, row?.id)
  if (!layout)
    throw new AppError(
      'not_found',
      `${session} was never in that row.`,
      `${session} がその行にあったことはありません。`,
    )
  const bytes = assembleRow(layout.parts, layout.frame, pieceReader(tables))
  if (sha256(bytes) !== layout.hash)
    throw new AppError(
      'unusable_data',
      `The backup of ${session} does not match its checksum: the file is damaged.`,
      `${session} をバックアップしたとおりに取り出せません。バックアップのファイルが壊れています。`,
    )
  return bytes
}

/** The last state of the row with all backed-up entries, including those it had dropped. */
export function readFullConversation(tables: BackupTables, session: SessionId): Buffer {
  const generation = findGeneration(tables, session)
  const layout = tables.layouts.readWithEntries(generation.id)
  if (!layout) throw new Error('a generation without a layout')
  const pieceOf = pieceReader(tables)
  const path = entriesOfGeneration(tables, generation)
  const bytesOf = (entries: readonly StoredEntry[]): readonly Buffer[] => entries.map((entry) => pieceOf(entry.piece))
  return assembleRow(layout.parts, layout.frame, pieceOf, {
    before: bytesOf(path.slice(0, layout.skip)),
    after: bytesOf(path.slice(layout.skip + layout.entries)),
  })
}

/** Every spelling of one entry, latest first. */
export function readSpellings(tables: BackupTables, session: SessionId, number: number): readonly Buffer[] {
  const entry = entriesOfGeneration(tables, findGeneration(tables, session))[number - 1]
  if (!entry)
    throw new AppError(
      'not_found',
      `${session} has no entry ${number}.`,
      `${session} に ${number} 番目の項目はありません。`,
    )
  return tables.entries.spellings(entry).map(pieceReader(tables))
}

function findGeneration({ generations }: BackupTables, session: SessionId): Generation {
  return generations.named(session) ?? throwNotBackedUp(session)
}

export function throwNotBackedUp(session: SessionId): never {
  throw new AppError('not_found', `There is no backup of ${session}.`, `会話 ${session} のバックアップはありません。`)
}

function entriesOfGeneration({ entries }: BackupTables, generation: Generation): readonly StoredEntry[] {
  if (generation.conversation_id === null) return []
  return entries.treeOf(generation.conversation_id).path(generation.head_id)
}

/** Caches unpacked pieces, because a row may contain one many times. */
function pieceReader({ pieces }: BackupTables): (id: number) => Buffer {
  const cache = new Map<number, Buffer>()
  return (id) => {
    const bytes = cache.get(id) ?? pieces.get(id)
    cache.set(id, bytes)
    return bytes
  }
}

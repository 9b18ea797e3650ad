/** Backs up a row: stores new pieces, entries and the layout, and ends sessions that the row no longer holds. */

import { sha256 } from '../lib/hash.ts'
import type { Capture } from '../model/capture.ts'
import { type Instant, makeSessionId } from '../model/ids.ts'
import type { BackupTables } from './backup-tables.ts'
import type { Generation, StoreRow } from './generation-table.ts'
import { frameBetween, type RecipePart } from './layout-table.ts'
import {
  compareRow,
  findUnchanged,
  freeSessionName,
  type HashedPiece,
  type RowComparison,
  sharedBeginning,
} from './match-row.ts'
import type { BackupResult, EndedSession, EndReason, RowOrigin } from './records.ts'

/** Records that the row now holds this generation. */
export function assignRow(
  tables: BackupTables,
  row: StoreRow,
  generation: number,
  from: RowOrigin,
  at: Instant,
  endReason: (previous: Generation) => EndReason,
): readonly EndedSession[] {
  tables.rows.setGeneration(row.id, generation, from)
  tables.generations.markSeen(generation, at)
  const previous = row.generation_id === null || row.generation_id === generation ? undefined : row.generation_id
  return previous === undefined ? [] : endIfUnused(tables, previous, at, endReason)
}

/** After a complete listing of a store, ends the sessions of rows that were not found. */
export function endVanished(
  tables: BackupTables,
  store: string,
  keysSeen: ReadonlySet<string>,
  at: Instant,
): readonly EndedSession[] {
  const { rows } = tables
  const id = rows.store(store)
  if (id === undefined) return []
  const gone = rows.occupied(id).filter((row) => !keysSeen.has(row.key))
  for (const row of gone) rows.setGeneration(row.id, null)
  const ended = gone.flatMap((row) => endIfUnused(tables, row.generation_id, at, () => 'vanished'))
  rows.markSwept(id, at)
  return ended
}

function endIfUnused(
  { generations, rows }: BackupTables,
  id: number,
  at: Instant,
  endReason: (previous: Generation) => EndReason,
): readonly EndedSession[] {
  const previous = generations.get(id)
  if (!previous || rows.rowsWith(id).length > 0) return []
  const reason = endReason(previous)
  generations.end(id, at, reason)
  return [{ session: previous.session, how: reason }]
}

/** A row to back up. */
export interface IncomingRow {
  readonly capture: Capture
  /** SHA-256 of the row, hex. */
  readonly hash: string
  readonly from: RowOrigin
  readonly at: Instant
}

export function putCapture(tables: BackupTables, incoming: IncomingRow): BackupResult {
  return putUnchanged(tables, incoming) ?? putChanged(tables, incoming)
}

function putUnchanged(tables: BackupTables, { capture, hash, from, at }: IncomingRow): BackupResult | undefined {
  const unchanged = findUnchanged(tables, capture, hash, from)
  if (!unchanged) return undefined
  const { row, generation, skip } = unchanged
  tables.rows.setGeneration(row.id, generation.id, from)
  tables.generations.markSeen(generation.id, at)
  const { session } = generation
  return { session, change: 'unchanged', first_number: skip + 1, new_entries: 0, stored_bytes: 0, ended: [] }
}

function putChanged(tables: BackupTables, incoming: IncomingRow): BackupResult {
  const { rows, generations, layouts } = tables
  const { capture, hash, from, at } = incoming
  const comparison = compareRow(tables, capture, from)
  const { step, session, renamed, identities } = comparison
  const row = rows.ensure(from)
  const conversation =
    comparison.conversation ??
    generations.addConversation(rows.ensureStore(from.store), capture.agent, capture.native_id)
  const { parts, stored } = putPieces(tables, capture.bytes, comparison.cuts)
  const head = putEntries(tables, conversation, comparison, parts)
  const generation = putGeneration(tables, incoming, conversation, comparison, head)
  const skip = skippedEntries(comparison)
  const isLast = layouts.isLast(generation, row.id, hash)
  const frame = frameBetween(capture.bytes, comparison.cuts)
  const layout = { skip, entries: identities.length, size: capture.bytes.length, hash, parts, frame }
  const layoutBytes = isLast ? 0 : layouts.save(generation, row.id, layout)
  const ended = assignRow(tables, row, generation, from, at, (previous) =>
    endReasonOf(previous, conversation, comparison),
  )
  const new_entries = Math.max(0, skip + identities.length - entriesBefore(comparison))
  const sameChange = new_entries > 0 ? 'grown' : isLast ? 'unchanged' : 'changed'
  return {
    session,
    change: step.kind === 'same' ? sameChange : renamed === undefined ? 'new' : 'branched',
    first_number: skip + 1,
    new_entries,
    stored_bytes: stored + layoutBytes,
    ended,
    ...(renamed !== undefined && { renamed }),
  }
}

const skippedEntries = ({ step }: RowComparison): number => (step.kind === 'begin' ? 0 : step.skip)

/** Number of entries that the session had before. */
function entriesBefore({ step }: RowComparison): number {
  if (step.kind === 'begin') return 0
  return step.kind === 'same' ? step.line.path.length : step.skip + step.shared
}

function putPieces(
  { pieces }: BackupTables,
  bytes: Uint8Array,
  cuts: readonly HashedPiece[],
): { readonly parts: readonly RecipePart[]; readonly stored: number } {
  const ids = new Map<string, number>()
  let stored = 0
  let at = 0
  const parts = cuts.map(({ start, end, hash, isEntry }) => {
    let piece = ids.get(hash)
    if (piece === undefined) {
      const put = pieces.put(hash, bytes.subarray(start, end))
      piece = put.id
      stored += put.stored
      ids.set(hash, piece)
    }
    const gap = start - at
    at = end
    return { gap, piece, isEntry }
  })
  return { parts, stored }
}

/** @returns the row's last entry, or the one before its first if it has none */
function putEntries(
  tables: BackupTables,
  conversation: number,
  comparison: RowComparison,
  parts: readonly RecipePart[],
): number | undefined {
  const { step, tree, cuts, identities } = comparison
  let last = step.kind === 'begin' ? undefined : step.line.path[step.skip - 1]
  let number = 0
  cuts.forEach(({ hash, isEntry }, at) => {
    const piece = parts[at]?.piece
    const identity = isEntry ? identities[number++] : undefined
    if (piece !== undefined && identity !== undefined)
      last = tables.entries.addAfter(tree, conversation, last, { identity, piece, hash })
  })
  return last?.id
}

function putGeneration(
  { rows, generations }: BackupTables,
  { capture, from, at }: IncomingRow,
  conversation: number,
  comparison: RowComparison,
  head: number | undefined,
): number {
  const { step, session, renamed, identities } = comparison
  const entries = skippedEntries(comparison) + identities.length
  if (step.kind === 'same') {
    const { generation, path } = step.line
    if (head !== undefined && entries > path.length) generations.grow(generation.id, head, entries)
    return generation.id
  }
  if (step.kind === 'branch' && renamed !== undefined) generations.rename(step.line.generation.id, renamed)
  return generations.add({
    session,
    store: rows.ensureStore(from.store),
    agent: capture.agent,
    conversation,
    head: head ?? null,
    entries,
    first_seen: step.kind === 'branch' ? step.line.generation.first_seen : at,
    at,
  })
}

function endReasonOf(previous: Generation, conversation: number, comparison: RowComparison): EndReason {
  if (previous.conversation_id !== conversation) return 'overwritten'
  const line = comparison.lines.find((one) => one.generation.id === previous.id)
  return line && sharedBeginning(comparison.identities, line) ? 'truncated' : 'cleared'
}

/** Backs up bytes that are not a conversation, as one session per row and content. */
export function putUnreadable(tables: BackupTables, bytes: Uint8Array, from: RowOrigin, at: Instant): BackupResult {
  const { rows, generations, layouts } = tables
  const hash = sha256(bytes)
  const row = rows.ensure(from)
  const known = generations.unreadable(row.id, hash)
  const named = (): BackupResult['session'] =>
    freeSessionName(
      makeSessionId(from.agent, 'unreadable'),
      hash,
      from.store,
      (name) => generations.named(name) !== undefined,
    )
  const session = known?.session ?? named()
  const generation =
    known?.id ??
    generations.add({
      session,
      store: rows.ensureStore(from.store),
      agent: from.agent,
      conversation: null,
      head: null,
      entries: 0,
      first_seen: at,
      at,
    })
  const layout = { skip: 0, entries: 0, size: bytes.length, hash, parts: [], frame: bytes }
  const stored_bytes = known ? 0 : layouts.save(generation, row.id, layout)
  const ended = assignRow(tables, row, generation, from, at, () => 'overwritten')
  return { session, change: known ? 'unchanged' : 'new', first_number: 1, new_entries: 0, stored_bytes, ended }
}

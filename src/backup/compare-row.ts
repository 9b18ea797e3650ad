/** Looks at a captured row: what of it is known, and which session it belongs to. Writes nothing. */
import { sha256 } from '../lib/hash.ts'
import type { Capture } from '../model/capture.ts'
import { makeSessionId, type SessionId } from '../model/ids.ts'
import { freeSessionName } from './free-session-name.ts'
import { type EntryLine, type GenerationMatch, matchGeneration } from './match-generation.ts'
import type { RowLocation, SessionMatch } from './records.ts'
import { cutRow, type RowPiece } from './row-recipe.ts'
import type { BackupTables } from './tables/backup-tables.ts'
import type { EntryTree, StoredEntry } from './tables/entries.ts'
import type { Generation } from './tables/generations.ts'
import type { StoreRow } from './tables/rows.ts'

export interface HashedPiece extends RowPiece {
  /** Of the bytes, hex. */
  readonly hash: string
}

export interface GenerationLine extends EntryLine {
  readonly generation: Generation
  readonly path: readonly StoredEntry[]
}

export interface RowComparison {
  readonly conversation: number | undefined
  readonly tree: EntryTree
  readonly cuts: readonly HashedPiece[]
  /** Of the row's entries, in order. */
  readonly identities: readonly string[]
  readonly lines: readonly GenerationLine[]
  readonly step: GenerationMatch<GenerationLine>
  readonly session: SessionId
  /** What the session is to be called that has this name until now. */
  readonly renamed?: SessionId
}

export function compareRow(tables: BackupTables, capture: Capture, location: RowLocation): RowComparison {
  const { entries, generations } = tables
  const conversation = generations.conversation(location.store, capture.agent, capture.native_id)
  const tree = entries.treeOf(conversation)
  const cuts = cutRow(capture).map((cut) => ({ ...cut, hash: sha256(capture.bytes.subarray(cut.start, cut.end)) }))
  const identities = identitiesOf(capture, cuts, tree)
  const lines = conversation === undefined ? [] : generationLines(tables, conversation, tree, location)
  const step = matchGeneration(identities, lines)
  return {
    conversation,
    tree,
    cuts,
    identities,
    lines,
    step,
    ...chooseNames(tables, capture, location, identities, step),
  }
}

/** A row that holds to the byte what it held last time: nothing is cut and nothing compared. */
export interface UnchangedRow {
  readonly row: StoreRow
  readonly generation: Generation
  readonly skip: number
}

/** @param hash SHA-256 of the row, hex */
export function findUnchanged(
  tables: BackupTables,
  capture: Capture,
  hash: string,
  location: RowLocation,
): UnchangedRow | undefined {
  const { rows, generations, layouts } = tables
  const row = rows.find(location)
  const generation = row && row.generation_id !== null ? generations.get(row.generation_id) : undefined
  if (!row || !generation || !layouts.isLast(generation.id, row.id, hash)) return undefined
  const conversation = generations.conversation(location.store, capture.agent, capture.native_id)
  if (generation.conversation_id !== conversation) return undefined
  return { row, generation, skip: layouts.skip(generation.id, row.id) }
}

export function matchRow(tables: BackupTables, capture: Capture, location: RowLocation): SessionMatch {
  const unchanged = findUnchanged(tables, capture, sha256(capture.bytes), location)
  if (unchanged) return toMatch(unchanged.generation, unchanged.skip)
  const { step, session } = compareRow(tables, capture, location)
  if (step.kind === 'begin') return { session, first_number: 1 }
  return { ...toMatch(step.line.generation, step.skip), session }
}

const toMatch = ({ session, first_seen }: Generation, skip: number): SessionMatch => ({
  session,
  first_number: skip + 1,
  first_seen,
})

/** Bytes that were seen before are the same entry; only of others is it asked what they say. */
function identitiesOf(capture: Capture, cuts: readonly HashedPiece[], tree: EntryTree): readonly string[] {
  const hashes = cuts.filter((cut) => cut.isEntry).map((cut) => cut.hash)
  return capture.entries.map((entry, at) => tree.identityOf(hashes[at] ?? '') ?? sha256(entry.identity()))
}

function generationLines(
  tables: BackupTables,
  conversation: number,
  tree: EntryTree,
  location: RowLocation,
): readonly GenerationLine[] {
  const row = tables.rows.find(location)
  return tables.generations.ofConversation(conversation).map((generation) => {
    const path = tree.path(generation.head_id)
    return {
      generation,
      path,
      identities: path.map((entry) => entry.identity),
      skip: tables.layouts.skip(generation.id, row?.id),
      isHere: row?.generation_id === generation.id,
      isElsewhere: tables.rows.rowsWith(generation.id).some((holder) => holder !== row?.id),
    }
  })
}

function chooseNames(
  { generations }: BackupTables,
  capture: Capture,
  location: RowLocation,
  identities: readonly string[],
  step: GenerationMatch<GenerationLine>,
): Pick<RowComparison, 'session' | 'renamed'> {
  if (step.kind === 'same') return { session: step.line.generation.session }
  const plain = makeSessionId(capture.agent, capture.native_id)
  const isTaken = (name: SessionId): boolean => generations.named(name) !== undefined
  const named = (identity: string | undefined): SessionId =>
    freeSessionName(plain, identity ?? sha256(location.store), location.store, isTaken)
  if (step.kind === 'begin') return { session: isTaken(plain) ? named(identities[0]) : plain }
  // A row that went back keeps the name, unless another row still holds what it went back from.
  const { line, skip, shared } = step
  if (line.isElsewhere) return { session: named(identities[shared]) }
  return { session: line.generation.session, renamed: named(line.identities[skip + shared]) }
}

/** Compares a captured row with the backup: what is new in it, and which session it belongs to. Writes nothing. */
import { sha256 } from '../lib/hash.ts'
import type { Capture } from '../model/capture.ts'
import { makeSessionId, type SessionId } from '../model/ids.ts'
import type { BackupTables } from './backup-tables.ts'
import type { EntryTree, StoredEntry } from './entry-table.ts'
import type { Generation, StoreRow } from './generation-table.ts'
import { cutRow, type RowPiece } from './layout-table.ts'
import type { RowLocation, SessionMatch } from './records.ts'

const MIN_SUFFIX_DIGITS = 6

/**
 * `~` and the first digits of the hash of an entry that distinguishes this session; six digits, or more on a collision.
 * If two stores contain the same entry, the path of the store is hashed too.
 */
export function freeSessionName(
  plain: SessionId,
  hash: string,
  store: string,
  isTaken: (name: SessionId) => boolean,
): SessionId {
  for (let digits = hash, round = 1; ; digits = sha256(`${hash}\n${store}\n${round}`), round++)
    for (let length = MIN_SUFFIX_DIGITS; length <= digits.length; length++) {
      const name = `${plain}~${digits.slice(0, length)}` as SessionId
      if (!isTaken(name)) return name
    }
}

/** What matching needs to know of a generation. */
export interface EntryLine {
  readonly identities: readonly string[]
  /** Number of entries missing from the front of the row when it was last seen. */
  readonly skip: number
  /** The captured row held this generation until now. */
  readonly isHere: boolean
  /** Another row holds this generation. */
  readonly isElsewhere: boolean
}

export type GenerationMatch<L> =
  /** The row continues no generation: a new session begins. */
  | { readonly kind: 'begin' }
  /** The row's first entry is number `skip + 1` of this generation. Entries beyond the generation's end are new. */
  | { readonly kind: 'same'; readonly line: L; readonly skip: number }
  /** Like `same` up to entry `skip + shared`; after that the row differs or ends. */
  | { readonly kind: 'branch'; readonly line: L; readonly skip: number; readonly shared: number }

/** @param lines all generations of this conversation, latest first */
export function matchGeneration<L extends EntryLine>(row: readonly string[], lines: readonly L[]): GenerationMatch<L> {
  if (row.length === 0) return matchEmptyRow(lines)
  const borders = prefixBorders(row)
  const next = firstBest(
    lines.flatMap((line) => {
      const matched = continuesLine(row, borders, line)
      return matched === undefined ? [] : [{ line, matched }]
    }),
    (one) => one.matched * 2 + (one.line.isHere ? 1 : 0),
  )
  if (next) return { kind: 'same', line: next.line, skip: next.line.identities.length - next.matched }
  const branched = firstBest(
    lines.flatMap((line) => {
      const shared = sharedBeginning(row, line)
      return shared === undefined ? [] : [{ line, ...shared }]
    }),
    (one) => (one.line.isHere ? Number.MAX_SAFE_INTEGER : one.shared),
  )
  if (!branched) return { kind: 'begin' }
  const isOlderCopy = branched.line.isElsewhere && branched.shared === row.length
  return isOlderCopy ? { kind: 'same', line: branched.line, skip: branched.skip } : { kind: 'branch', ...branched }
}

/** A row without entries cannot be told apart, so it belongs to the generation that was in the row. */
function matchEmptyRow<L extends EntryLine>(lines: readonly L[]): GenerationMatch<L> {
  const line = lines.find((one) => one.isHere) ?? lines[0]
  return line ? { kind: 'same', line, skip: line.identities.length } : { kind: 'begin' }
}

/**
 * Number of entries at the end of a generation with which the row begins; undefined if the row does not continue it.
 * The row may have lost entries at its front, but then it must not begin like the generation.
 */
function continuesLine(row: readonly string[], borders: readonly number[], line: EntryLine): number | undefined {
  const stored = line.identities
  if (stored.length === 0) return 0
  const overlap = findOverlap(stored, row, borders)
  if (overlap === stored.length) return overlap
  return overlap > commonBeginning(row, stored, 0) ? overlap : undefined
}

/** Also tries the entry with which the row began when it was last seen. */
export function sharedBeginning(row: readonly string[], line: EntryLine): { skip: number; shared: number } | undefined {
  const fromStart = { skip: 0, shared: commonBeginning(row, line.identities, 0) }
  const fromSkip = { skip: line.skip, shared: commonBeginning(row, line.identities, line.skip) }
  const longer = fromSkip.shared > fromStart.shared ? fromSkip : fromStart
  return longer.shared > 0 ? longer : undefined
}

function commonBeginning(row: readonly string[], stored: readonly string[], skip: number): number {
  let length = 0
  while (length < row.length && skip + length < stored.length && row[length] === stored[skip + length]) length++
  return length
}

/** The longest suffix of `stored` that is a prefix of `row`, in linear time (Knuth-Morris-Pratt). */
function findOverlap(stored: readonly string[], row: readonly string[], borders: readonly number[]): number {
  let matched = 0
  for (const identity of stored) {
    while (matched > 0 && (matched === row.length || row[matched] !== identity)) matched = borders[matched - 1] ?? 0
    if (row[matched] === identity) matched++
  }
  return matched
}

/** For each prefix of `row`, the length of its longest proper suffix that is also a prefix. */
function prefixBorders(row: readonly string[]): readonly number[] {
  const borders = [0]
  let length = 0
  for (let at = 1; at < row.length; at++) {
    while (length > 0 && row[at] !== row[length]) length = borders[length - 1] ?? 0
    if (row[at] === row[length]) length++
    borders.push(length)
  }
  return borders
}

/** The first candidate with the highest score. */
function firstBest<T>(candidates: readonly T[], score: (candidate: T) => number): T | undefined {
  let found: T | undefined
  for (const candidate of candidates) if (found === undefined || score(candidate) > score(found)) found = candidate
  return found
}

export interface HashedPiece extends RowPiece {
  /** Hash of the bytes, hex. */
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
  /** Identities of the row's entries, in order. */
  readonly identities: readonly string[]
  readonly lines: readonly GenerationLine[]
  readonly step: GenerationMatch<GenerationLine>
  readonly session: SessionId
  /** New name of the session whose current name is taken over. */
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

/** A row identical to its last state: nothing needs to be cut or compared. */
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

/** Known bytes are a known entry. Only unknown bytes are parsed for their content. */
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
  // A row that was rolled back keeps its name, unless another row still holds the longer version.
  const { line, skip, shared } = step
  if (line.isElsewhere) return { session: named(identities[shared]) }
  return { session: line.generation.session, renamed: named(line.identities[skip + shared]) }
}

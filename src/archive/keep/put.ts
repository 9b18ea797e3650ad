/** Keeps a row: its new pieces, its entries in the tree, and how it is put together. */
import { sha256 } from '../../lib/hash.ts'
import type { Capture } from '../../model/capture.ts'
import { type Instant, sessionId } from '../../model/ids.ts'
import { occupy } from './ends.ts'
import { sharedBeginning } from './follow.ts'
import { type HashedCut, type Look, look, lookUnchanged } from './look.ts'
import { freeName } from './names.ts'
import { frameOf, type Part } from './recipe.ts'
import type { EndedHow, From, Put } from './record.ts'
import type { Generation } from './tables/generations.ts'
import type { Shelves } from './tables/shelves.ts'

/** A row that came in. */
export interface Arrival {
  readonly capture: Capture
  /** SHA-256 of the row, hex. */
  readonly hash: string
  readonly from: From
  readonly at: Instant
}

export function putCapture(shelves: Shelves, arrival: Arrival): Put {
  return putUnchanged(shelves, arrival) ?? putChanged(shelves, arrival)
}

function putUnchanged(shelves: Shelves, { capture, hash, from, at }: Arrival): Put | undefined {
  const unchanged = lookUnchanged(shelves, capture, hash, from)
  if (!unchanged) return undefined
  const { row, generation, skip } = unchanged
  shelves.rows.hold(row.id, generation.id, from)
  shelves.generations.seen(generation.id, at)
  const { session } = generation
  return { session, change: 'unchanged', first_number: skip + 1, new_entries: 0, stored_bytes: 0, ended: [] }
}

function putChanged(shelves: Shelves, arrival: Arrival): Put {
  const { rows, generations, layouts } = shelves
  const { capture, hash, from, at } = arrival
  const seen = look(shelves, capture, from)
  const { step, session, renamed, identities } = seen
  const row = rows.ensure(from)
  const conversation =
    seen.conversation ?? generations.addConversation(rows.ensureStore(from.store), capture.agent, capture.native_id)
  const { parts, stored } = putPieces(shelves, capture.bytes, seen.cuts)
  const head = putEntries(shelves, conversation, seen, parts)
  const generation = putGeneration(shelves, arrival, conversation, seen, head)
  const skip = skipOf(seen)
  const isLast = layouts.isLast(generation, row.id, hash)
  const frame = frameOf(capture.bytes, seen.cuts)
  const layout = { skip, entries: identities.length, size: capture.bytes.length, hash, parts, frame }
  const laid = isLast ? 0 : layouts.save(generation, row.id, layout)
  const ended = occupy(shelves, row, generation, from, at, (left) => howLeft(left, conversation, seen))
  const new_entries = Math.max(0, skip + identities.length - knownBefore(seen))
  const sameChange = new_entries > 0 ? 'grown' : isLast ? 'unchanged' : 'changed'
  return {
    session,
    change: step.kind === 'same' ? sameChange : renamed === undefined ? 'new' : 'branched',
    first_number: skip + 1,
    new_entries,
    stored_bytes: stored + laid,
    ended,
    ...(renamed !== undefined && { renamed }),
  }
}

const skipOf = ({ step }: Look): number => (step.kind === 'begin' ? 0 : step.skip)

/** How many entries its session had before. */
function knownBefore({ step }: Look): number {
  if (step.kind === 'begin') return 0
  return step.kind === 'same' ? step.line.path.length : step.skip + step.shared
}

function putPieces(
  { pieces }: Shelves,
  bytes: Uint8Array,
  cuts: readonly HashedCut[],
): { readonly parts: readonly Part[]; readonly stored: number } {
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

/** @returns the row's last entry, or the one before its first where it has none */
function putEntries(shelves: Shelves, conversation: number, seen: Look, parts: readonly Part[]): number | undefined {
  const { step, tree, cuts, identities } = seen
  let last = step.kind === 'begin' ? undefined : step.line.path[step.skip - 1]
  let number = 0
  cuts.forEach(({ hash, isEntry }, at) => {
    const piece = parts[at]?.piece
    const identity = isEntry ? identities[number++] : undefined
    if (piece !== undefined && identity !== undefined)
      last = shelves.entries.follow(tree, conversation, last, { identity, piece, hash })
  })
  return last?.id
}

function putGeneration(
  { rows, generations }: Shelves,
  { capture, from, at }: Arrival,
  conversation: number,
  seen: Look,
  head: number | undefined,
): number {
  const { step, session, renamed, identities } = seen
  const entries = skipOf(seen) + identities.length
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

function howLeft(left: Generation, conversation: number, seen: Look): EndedHow {
  if (left.conversation_id !== conversation) return 'overwritten'
  const line = seen.lines.find((one) => one.generation.id === left.id)
  return line && sharedBeginning(seen.identities, line) ? 'truncated' : 'cleared'
}

/** Bytes that are no conversation: one session for each row and content. */
export function putUnreadable(shelves: Shelves, bytes: Uint8Array, from: From, at: Instant): Put {
  const { rows, generations, layouts } = shelves
  const hash = sha256(bytes)
  const row = rows.ensure(from)
  const known = generations.unreadable(row.id, hash)
  const named = (): Put['session'] =>
    freeName(sessionId(from.agent, 'unreadable'), hash, from.store, (name) => generations.named(name) !== undefined)
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
  const ended = occupy(shelves, row, generation, from, at, () => 'overwritten')
  return { session, change: known ? 'unchanged' : 'new', first_number: 1, new_entries: 0, stored_bytes, ended }
}

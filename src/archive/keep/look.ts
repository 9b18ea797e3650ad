/** Looks at a captured row: what of it is known, and which session it belongs to. Writes nothing. */
import { sha256 } from '../../lib/hash.ts'
import type { Capture } from '../../model/capture.ts'
import { type SessionId, sessionId } from '../../model/ids.ts'
import { follow, type Line, type Step } from './follow.ts'
import { freeName } from './names.ts'
import { type Cut, cutsOf } from './recipe.ts'
import type { Match, Place } from './record.ts'
import type { Entry, Tree } from './tables/entries.ts'
import type { Generation } from './tables/generations.ts'
import type { Row } from './tables/rows.ts'
import type { Shelves } from './tables/shelves.ts'

export interface HashedCut extends Cut {
  /** Of the bytes, hex. */
  readonly hash: string
}

export interface HeldLine extends Line {
  readonly generation: Generation
  readonly path: readonly Entry[]
}

export interface Look {
  readonly conversation: number | undefined
  readonly tree: Tree
  readonly cuts: readonly HashedCut[]
  /** Of the row's entries, in order. */
  readonly identities: readonly string[]
  readonly lines: readonly HeldLine[]
  readonly step: Step<HeldLine>
  readonly session: SessionId
  /** What the session is to be called that has this name until now. */
  readonly renamed?: SessionId
}

export function look(shelves: Shelves, capture: Capture, place: Place): Look {
  const { entries, generations } = shelves
  const conversation = generations.conversation(place.store, capture.agent, capture.native_id)
  const tree = entries.treeOf(conversation)
  const cuts = cutsOf(capture).map((cut) => ({ ...cut, hash: sha256(capture.bytes.subarray(cut.start, cut.end)) }))
  const identities = identitiesOf(capture, cuts, tree)
  const lines = conversation === undefined ? [] : linesOf(shelves, conversation, tree, place)
  const step = follow(identities, lines)
  return { conversation, tree, cuts, identities, lines, step, ...namesFor(shelves, capture, place, identities, step) }
}

/** A row that holds to the byte what it held last time: nothing is cut and nothing compared. */
export interface Unchanged {
  readonly row: Row
  readonly generation: Generation
  readonly skip: number
}

/** @param hash SHA-256 of the row, hex */
export function lookUnchanged(shelves: Shelves, capture: Capture, hash: string, place: Place): Unchanged | undefined {
  const { rows, generations, layouts } = shelves
  const row = rows.find(place)
  const generation = row && row.generation_id !== null ? generations.get(row.generation_id) : undefined
  if (!row || !generation || !layouts.isLast(generation.id, row.id, hash)) return undefined
  const conversation = generations.conversation(place.store, capture.agent, capture.native_id)
  if (generation.conversation_id !== conversation) return undefined
  return { row, generation, skip: layouts.skip(generation.id, row.id) }
}

export function matchOf(shelves: Shelves, capture: Capture, place: Place): Match {
  const unchanged = lookUnchanged(shelves, capture, sha256(capture.bytes), place)
  if (unchanged) return matched(unchanged.generation, unchanged.skip)
  const { step, session } = look(shelves, capture, place)
  if (step.kind === 'begin') return { session, first_number: 1 }
  return { ...matched(step.line.generation, step.skip), session }
}

const matched = ({ session, first_seen }: Generation, skip: number): Match => ({
  session,
  first_number: skip + 1,
  first_seen,
})

/** Bytes that were seen before are the same entry; only of others is it asked what they say. */
function identitiesOf(capture: Capture, cuts: readonly HashedCut[], tree: Tree): readonly string[] {
  const hashes = cuts.filter((cut) => cut.isEntry).map((cut) => cut.hash)
  return capture.entries.map((entry, at) => tree.identityOf(hashes[at] ?? '') ?? sha256(entry.identity()))
}

function linesOf(shelves: Shelves, conversation: number, tree: Tree, place: Place): readonly HeldLine[] {
  const row = shelves.rows.find(place)
  return shelves.generations.ofConversation(conversation).map((generation) => {
    const path = tree.path(generation.head_id)
    return {
      generation,
      path,
      identities: path.map((entry) => entry.identity),
      skip: shelves.layouts.skip(generation.id, row?.id),
      isHere: row?.generation_id === generation.id,
      isElsewhere: shelves.rows.holding(generation.id).some((holder) => holder !== row?.id),
    }
  })
}

function namesFor(
  { generations }: Shelves,
  capture: Capture,
  place: Place,
  identities: readonly string[],
  step: Step<HeldLine>,
): Pick<Look, 'session' | 'renamed'> {
  if (step.kind === 'same') return { session: step.line.generation.session }
  const plain = sessionId(capture.agent, capture.native_id)
  const isTaken = (name: SessionId): boolean => generations.named(name) !== undefined
  const named = (identity: string | undefined): SessionId =>
    freeName(plain, identity ?? sha256(place.store), place.store, isTaken)
  if (step.kind === 'begin') return { session: isTaken(plain) ? named(identities[0]) : plain }
  // A row that went back keeps the name, unless another row still holds what it went back from.
  const { line, skip, shared } = step
  if (line.isElsewhere) return { session: named(identities[shared]) }
  return { session: line.generation.session, renamed: named(line.identities[skip + shared]) }
}

/** Gives back what is kept: rows to the byte, whole conversations, older spellings. */
import { sha256 } from '../../lib/hash.ts'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import { assemble } from './recipe.ts'
import type { Place } from './record.ts'
import type { Entry } from './tables/entries.ts'
import type { Generation } from './tables/generations.ts'
import type { Shelves } from './tables/shelves.ts'

/** The row as it was last. */
export function rowOf(shelves: Shelves, session: SessionId, place: Place | undefined): Buffer {
  const { rows, layouts } = shelves
  const generation = generationOf(shelves, session)
  const row = place && rows.find(place)
  const layout = place && !row ? undefined : layouts.read(generation.id, row?.id)
  if (!layout)
    throw new AppError(
      'not_found',
      `${session} was never in that row.`,
      `${session} がその行にあったことはありません。`,
    )
  const bytes = assemble(layout.parts, layout.frame, pieceReader(shelves))
  if (sha256(bytes) !== layout.hash)
    throw new AppError(
      'unusable_data',
      `${session} does not come back as it was kept: the file is damaged.`,
      `${session} を控えた内容のとおりに取り出せません。控えのファイルが壊れています。`,
    )
  return bytes
}

/** The row as it was last, with all entries that are kept, also those that it had dropped. */
export function conversationOf(shelves: Shelves, session: SessionId): Buffer {
  const generation = generationOf(shelves, session)
  const layout = shelves.layouts.readWithEntries(generation.id)
  if (!layout) throw new Error('a generation without a layout')
  const pieceOf = pieceReader(shelves)
  const path = pathOf(shelves, generation)
  const spelt = (entries: readonly Entry[]): readonly Buffer[] => entries.map((entry) => pieceOf(entry.piece))
  return assemble(layout.parts, layout.frame, pieceOf, {
    before: spelt(path.slice(0, layout.skip)),
    after: spelt(path.slice(layout.skip + layout.entries)),
  })
}

/** One entry in every way in which its owner ever wrote it, the latest first. */
export function spellingsOf(shelves: Shelves, session: SessionId, number: number): readonly Buffer[] {
  const entry = pathOf(shelves, generationOf(shelves, session))[number - 1]
  if (!entry)
    throw new AppError(
      'not_found',
      `${session} has no entry ${number}.`,
      `${session} に ${number} 番目の項目はありません。`,
    )
  return shelves.entries.spellings(entry).map(pieceReader(shelves))
}

function generationOf({ generations }: Shelves, session: SessionId): Generation {
  return generations.named(session) ?? notKept(session)
}

export function notKept(session: SessionId): never {
  throw new AppError('not_found', `No session ${session} is kept.`, `会話 ${session} の控えはありません。`)
}

function pathOf({ entries }: Shelves, generation: Generation): readonly Entry[] {
  if (generation.conversation_id === null) return []
  return entries.treeOf(generation.conversation_id).path(generation.head_id)
}

/** A row may hold a piece many times; it is unpacked once. */
function pieceReader({ pieces }: Shelves): (id: number) => Buffer {
  const read = new Map<number, Buffer>()
  return (id) => {
    const bytes = read.get(id) ?? pieces.get(id)
    read.set(id, bytes)
    return bytes
  }
}

/** Calls and their results, brought together where they stand near each other. */
import type { LoadedMessage } from '../../../app.ts'

/** A result that comes later than so many messages after its call stands for itself. */
export const MAX_PAIR_DISTANCE = 64

/** A body with its place in the session. */
export interface BodyAtOffset {
  readonly body: LoadedMessage
  readonly offset: number
}

export interface CallPairs {
  /** By the offset of the call: its result. */
  readonly results: ReadonlyMap<number, BodyAtOffset>
  /** By the offset of the result: its call. */
  readonly calls: ReadonlyMap<number, BodyAtOffset>
}

/** The last call of an id before a result is meant. @param bodies in the order of the session */
export function pairToolCalls(bodies: readonly BodyAtOffset[]): CallPairs {
  const results = new Map<number, BodyAtOffset>()
  const calls = new Map<number, BodyAtOffset>()
  const open = new Map<string, BodyAtOffset>()
  for (const placed of bodies) {
    const id = callIdOf(placed.body)
    if (id === undefined) continue
    if (placed.body.known.source_type === 'tool_call') open.set(id, placed)
    const call = placed.body.known.source_type === 'tool_result' ? open.get(id) : undefined
    if (!call) continue
    open.delete(id)
    if (placed.offset - call.offset > MAX_PAIR_DISTANCE) continue
    results.set(call.offset, placed)
    calls.set(placed.offset, call)
  }
  return { results, calls }
}

function callIdOf(body: LoadedMessage): string | undefined {
  if (body.kind === 'gone' || body.known.duplicate) return undefined
  return body.message.tool_call?.call_id ?? undefined
}

/** Calls and their results, brought together where they stand near each other. */
import type { Body } from '../../../app.ts'

/** A result that comes later than so many messages after its call stands for itself. */
export const NEAR = 64

/** A body with its place in the session. */
export interface Placed {
  readonly body: Body
  readonly offset: number
}

export interface Joined {
  /** By the offset of the call: its result. */
  readonly results: ReadonlyMap<number, Placed>
  /** By the offset of the result: its call. */
  readonly calls: ReadonlyMap<number, Placed>
}

/** The last call of an id before a result is meant. @param near in the order of the session */
export function joined(near: readonly Placed[]): Joined {
  const results = new Map<number, Placed>()
  const calls = new Map<number, Placed>()
  const open = new Map<string, Placed>()
  for (const placed of near) {
    const id = callIdOf(placed.body)
    if (id === undefined) continue
    if (placed.body.known.source_type === 'tool_call') open.set(id, placed)
    const call = placed.body.known.source_type === 'tool_result' ? open.get(id) : undefined
    if (!call) continue
    open.delete(id)
    if (placed.offset - call.offset > NEAR) continue
    results.set(call.offset, placed)
    calls.set(placed.offset, call)
  }
  return { results, calls }
}

function callIdOf(body: Body): string | undefined {
  if (body.kind === 'gone' || body.known.duplicate) return undefined
  return body.message.tool_call?.call_id ?? undefined
}

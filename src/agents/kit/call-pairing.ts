/** Pairs each tool result with the nearest earlier call of the same id. */
import { mergeFields } from '../../lib/merge-fields.ts'
import type { Mutable, ToolCall } from '../../model/normalized.ts'

/** What other records say about the outcome of a call. */
export interface Enrichment {
  readonly exit_code?: number
  readonly duration_ms?: number
  readonly failed?: boolean
}

export interface TrackedCall<Position> {
  /** Id of the call's message. */
  readonly id: string
  readonly spot: Position
  readonly answered: boolean
  readonly found?: Enrichment | undefined
  /** Absent once answered, and in a cursor: `restore` reads it again at its position. */
  readonly tool?: ToolCall | undefined
}

/** The name is there once the call is answered. */
interface SavedCall<Position> extends Omit<TrackedCall<Position>, 'tool'> {
  readonly tool?: { readonly name: string | null; readonly namespace?: string | undefined } | undefined
}

export type SavedCalls<Position> = readonly (readonly [call_id: string, call: SavedCall<Position>])[]

const MAX_ANSWERED_CALLS = 256
const MAX_OPEN_CALLS = 4096

export class CallPairing<Position> {
  readonly #calls: Map<string, TrackedCall<Position>>
  readonly #answered: string[]

  constructor(saved: SavedCalls<Position> = []) {
    this.#calls = new Map(saved.map(([call_id, call]) => [call_id, toTrackedCall(call_id, call)]))
    this.#answered = saved.filter(([, call]) => call.answered).map(([call_id]) => call_id)
  }

  open(call_id: string, id: string, spot: Position, tool: ToolCall): void {
    this.#calls.delete(call_id)
    this.#calls.set(call_id, { id, spot, answered: false, tool })
    if (this.#calls.size <= MAX_OPEN_CALLS) return
    for (const oldest of this.#calls.keys()) {
      this.#calls.delete(oldest)
      return
    }
  }

  get(call_id: string): TrackedCall<Position> | undefined {
    return this.#calls.get(call_id)
  }

  enrich(call_id: string, found: Enrichment): TrackedCall<Position> | undefined {
    const call = this.#calls.get(call_id)
    if (call) {
      const { id, spot, answered, tool } = call
      this.#calls.set(call_id, { id, spot, answered, tool, found: mergeFields(call.found ?? {}, found) })
    }
    return call
  }

  /** A repeated result of the same call gets its name but not its arguments. */
  answer(call_id: string, call: TrackedCall<Position>): void {
    this.#calls.set(call_id, { ...call, answered: true, tool: call.tool && withoutArguments(call.tool) })
    if (!call.answered) this.#answered.push(call_id)
    if (this.#answered.length <= MAX_ANSWERED_CALLS) return
    const oldest = this.#answered.shift()
    if (oldest !== undefined && this.#calls.get(oldest)?.answered) this.#calls.delete(oldest)
  }

  save(): SavedCalls<Position> {
    return Array.from(this.#calls, ([call_id, { id, spot, answered, found, tool }]) => [
      call_id,
      {
        id,
        spot,
        answered,
        found,
        tool: answered && tool ? { name: tool.name, namespace: tool.namespace } : undefined,
      },
    ])
  }

  /** After a cursor, reads the arguments of open calls again. */
  async restore(read: (spot: Position) => Promise<ToolCall | undefined>): Promise<void> {
    for (const [call_id, call] of this.#calls)
      if (!call.answered && !call.tool) this.#calls.set(call_id, { ...call, tool: await read(call.spot) })
  }
}

function toTrackedCall<Position>(
  call_id: string,
  { id, spot, answered, found, tool }: SavedCall<Position>,
): TrackedCall<Position> {
  if (!tool) return { id, spot, answered, found, tool }
  const { name, namespace } = tool
  const named = { call_id, name, ...(namespace !== undefined && { namespace }), status: 'pending' } as const
  return { id, spot, answered, found, tool: named }
}

export const withoutArguments = ({ call_id, name, namespace, status }: ToolCall): ToolCall =>
  namespace === undefined ? { call_id, name, status } : { call_id, name, namespace, status }

const CALL_KEYS = ['arguments', 'arguments_json', 'input', 'input_json'] as const
const RESULT_KEYS = ['output', 'output_json'] as const

function copyKeys(from: ToolCall | undefined, keys: readonly (keyof ToolCall)[], to: { [key: string]: unknown }): void {
  for (const key of keys) if (from?.[key] !== undefined) to[key] = from[key]
}

/** Call and result in one object, as stored in the result's message. */
export function joinCallAndResult(
  result: ToolCall,
  called: ToolCall | undefined,
  found: Enrichment | undefined,
): ToolCall {
  const joined: Mutable<ToolCall> = {
    call_id: result.call_id ?? called?.call_id ?? null,
    name: result.name ?? called?.name ?? null,
    status: found?.failed && result.status === 'success' ? 'error' : result.status,
  }
  const namespace = result.namespace ?? called?.namespace
  if (namespace !== undefined) joined.namespace = namespace
  if (result.source_status !== undefined) joined.source_status = result.source_status
  copyKeys(called, CALL_KEYS, joined)
  copyKeys(result, RESULT_KEYS, joined)
  const exit_code = result.exit_code ?? found?.exit_code
  if (exit_code !== undefined) joined.exit_code = exit_code
  const duration_ms = result.duration_ms ?? found?.duration_ms
  if (duration_ms !== undefined) joined.duration_ms = duration_ms
  return joined
}

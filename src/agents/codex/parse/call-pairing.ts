/** Pairs each result with the nearest earlier call of the same id. */
import type { ToolCall } from '../../../model/normalized.ts'
import type { Enrichment } from '../record/draft.ts'

/** Where a record lies: offset (in a whole-file log, number of the item), length, check sum, and part. */
export type RecordPosition = readonly [offset: number, length: number, check: number, part: number]

export interface TrackedCall {
  readonly id: string
  readonly spot: RecordPosition
  readonly answered: boolean
  readonly found?: Enrichment | undefined
  /** Dropped once answered, and in a cursor: there it is read again from its spot. */
  readonly tool?: ToolCall | undefined
}

export type SavedCodexCalls = readonly (readonly [call_id: string, call: TrackedCall])[]

const MAX_ANSWERED_CALLS = 256
const MAX_OPEN_CALLS = 4096

export class CodexCallPairing {
  readonly #calls: Map<string, TrackedCall>
  readonly #answered: string[] = []

  constructor(saved: SavedCodexCalls = []) {
    this.#calls = new Map(saved)
    for (const [call_id, call] of saved) if (call.answered) this.#answered.push(call_id)
  }

  open(call_id: string, id: string, position: RecordPosition, tool: ToolCall): void {
    this.#calls.delete(call_id)
    this.#calls.set(call_id, { id, spot: position, answered: false, tool })
    if (this.#calls.size > MAX_OPEN_CALLS) this.#forgetOldest()
  }

  get(call_id: string): TrackedCall | undefined {
    return this.#calls.get(call_id)
  }

  enrich(call_id: string, found: Enrichment): TrackedCall | undefined {
    const call = this.#calls.get(call_id)
    if (call) this.#calls.set(call_id, { ...call, found: { ...call.found, ...found } })
    return call
  }

  answer(call_id: string, call: TrackedCall): void {
    const name = call.tool && withoutArguments(call.tool)
    this.#calls.set(call_id, { ...call, answered: true, tool: name })
    if (!call.answered) this.#answered.push(call_id)
    if (this.#answered.length <= MAX_ANSWERED_CALLS) return
    const oldest = this.#answered.shift()
    if (oldest !== undefined && this.#calls.get(oldest)?.answered) this.#calls.delete(oldest)
  }

  #forgetOldest(): void {
    for (const oldest of this.#calls.keys()) {
      this.#calls.delete(oldest)
      return
    }
  }

  save(): SavedCodexCalls {
    return [...this.#calls].map(([call_id, call]) => [call_id, call.answered ? call : withoutTool(call)])
  }

  /** After a cursor: the calls that still wait, with what they were asked read anew. */
  async restore(read: (call: TrackedCall) => Promise<ToolCall | undefined>): Promise<void> {
    for (const [call_id, call] of this.#calls) {
      if (!call.answered && !call.tool) this.#calls.set(call_id, { ...call, tool: await read(call) })
    }
  }
}

/** What is known of a call that was answered before. */
export function withoutArguments({ call_id, name, namespace, status }: ToolCall): ToolCall {
  return namespace === undefined ? { call_id, name, status } : { call_id, name, namespace, status }
}

function withoutTool({ tool: _, ...call }: TrackedCall): TrackedCall {
  return call
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** What was asked and what came of it, in one object. */
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
  if (called?.arguments !== undefined) joined.arguments = called.arguments
  if (called?.arguments_json !== undefined) joined.arguments_json = called.arguments_json
  if (called?.input !== undefined) joined.input = called.input
  if (called?.input_json !== undefined) joined.input_json = called.input_json
  if (result.output !== undefined) joined.output = result.output
  if (result.output_json !== undefined) joined.output_json = result.output_json
  const exit_code = result.exit_code ?? found?.exit_code
  if (exit_code !== undefined) joined.exit_code = exit_code
  const duration_ms = result.duration_ms ?? found?.duration_ms
  if (duration_ms !== undefined) joined.duration_ms = duration_ms
  return joined
}

/** Pairs each result with the nearest earlier call of the same id. */
import type { ToolCall } from '../../../model/normalized.ts'
import type { Enrichment } from '../record/draft.ts'

/** Where a record lies: offset (in a whole-file log, number of the item), length, check sum, and part. */
export type Spot = readonly [offset: number, length: number, check: number, part: number]

export interface Call {
  readonly id: string
  readonly spot: Spot
  readonly answered: boolean
  readonly found?: Enrichment | undefined
  /** Dropped once answered, and in a cursor: there it is read again from its spot. */
  readonly tool?: ToolCall | undefined
}

export type SavedCalls = readonly (readonly [call_id: string, call: Call])[]

/** Every cursor holds these: results that come twice, and what events add to them, come close to the first one. */
const KEEP_ANSWERED = 32
const KEEP_OPEN = 4096

export class Calls {
  readonly #calls: Map<string, Call>
  readonly #answered: string[] = []

  constructor(saved: SavedCalls = []) {
    this.#calls = new Map(saved)
    for (const [call_id, call] of saved) if (call.answered) this.#answered.push(call_id)
  }

  open(call_id: string, id: string, spot: Spot, tool: ToolCall): void {
    this.#calls.delete(call_id)
    this.#calls.set(call_id, { id, spot, answered: false, tool })
    if (this.#calls.size > KEEP_OPEN) this.#forgetOldest()
  }

  get(call_id: string): Call | undefined {
    return this.#calls.get(call_id)
  }

  enrich(call_id: string, found: Enrichment): Call | undefined {
    const call = this.#calls.get(call_id)
    if (call) this.#calls.set(call_id, { ...call, found: { ...call.found, ...found } })
    return call
  }

  answer(call_id: string, call: Call): void {
    const name = call.tool && nameOnly(call.tool)
    this.#calls.set(call_id, { ...call, answered: true, tool: name })
    if (!call.answered) this.#answered.push(call_id)
    if (this.#answered.length <= KEEP_ANSWERED) return
    const oldest = this.#answered.shift()
    if (oldest !== undefined && this.#calls.get(oldest)?.answered) this.#calls.delete(oldest)
  }

  #forgetOldest(): void {
    for (const oldest of this.#calls.keys()) {
      this.#calls.delete(oldest)
      return
    }
  }

  save(): SavedCalls {
    return [...this.#calls].map(([call_id, call]) => [call_id, call.answered ? call : withoutTool(call)])
  }

  /** After a cursor: the calls that still wait, with what they were asked read anew. */
  async restore(read: (call: Call) => Promise<ToolCall | undefined>): Promise<void> {
    for (const [call_id, call] of this.#calls) {
      if (!call.answered && !call.tool) this.#calls.set(call_id, { ...call, tool: await read(call) })
    }
  }
}

/** What is known of a call that was answered before. */
export function nameOnly({ call_id, name, namespace, status }: ToolCall): ToolCall {
  return namespace === undefined ? { call_id, name, status } : { call_id, name, namespace, status }
}

function withoutTool({ tool: _, ...call }: Call): Call {
  return call
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** What was asked and what came of it, in one object. */
export function join(result: ToolCall, asked: ToolCall | undefined, found: Enrichment | undefined): ToolCall {
  const joined: Mutable<ToolCall> = {
    call_id: result.call_id ?? asked?.call_id ?? null,
    name: result.name ?? asked?.name ?? null,
    status: found?.failed && result.status === 'success' ? 'error' : result.status,
  }
  const namespace = result.namespace ?? asked?.namespace
  if (namespace !== undefined) joined.namespace = namespace
  if (result.source_status !== undefined) joined.source_status = result.source_status
  if (asked?.arguments !== undefined) joined.arguments = asked.arguments
  if (asked?.arguments_json !== undefined) joined.arguments_json = asked.arguments_json
  if (asked?.input !== undefined) joined.input = asked.input
  if (asked?.input_json !== undefined) joined.input_json = asked.input_json
  if (result.output !== undefined) joined.output = result.output
  if (result.output_json !== undefined) joined.output_json = result.output_json
  const exit_code = result.exit_code ?? found?.exit_code
  if (exit_code !== undefined) joined.exit_code = exit_code
  const duration_ms = result.duration_ms ?? found?.duration_ms
  if (duration_ms !== undefined) joined.duration_ms = duration_ms
  return joined
}

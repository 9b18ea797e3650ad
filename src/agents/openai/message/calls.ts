/** Pairs each result with the nearest earlier call of the same id. */
import type { ToolCall } from '../../../model/normalized.ts'
import type { Draft, Mutable } from './draft.ts'

interface Call {
  readonly tool: ToolCall
  answered: boolean
}

export interface Link {
  /** The id is ours. */
  readonly inferred: boolean
  /** The call is not there. */
  readonly orphan: boolean
}

const PLAIN: Link = { inferred: false, orphan: false }
const GUESSED: Link = { inferred: true, orphan: false }
const ORPHAN: Link = { inferred: false, orphan: true }

export class Calls {
  readonly #calls = new Map<string, Call>()
  #count = 0

  /** A branch knows the calls of the line that it leaves. */
  constructor(before?: Calls) {
    if (!before) return
    for (const [id, call] of before.#calls) this.#calls.set(id, { ...call })
    this.#count = before.#count
  }

  /** A call without an id gets one. */
  open({ tool_call: tool }: Draft): Link {
    if (!tool) return PLAIN
    this.#count++
    const inferred = tool.call_id === null
    tool.call_id ??= `fc_${this.#count}`
    this.#calls.set(tool.call_id, { tool, answered: false })
    return inferred ? GUESSED : PLAIN
  }

  /** Joins a result with what was asked. Without an id it answers the call of its name that has waited longest. */
  answer({ tool_call: tool }: Draft): Link {
    if (!tool) return PLAIN
    const inferred = tool.call_id === null
    const id = tool.call_id ?? this.#waiting(tool.name)
    const call = id === undefined ? undefined : this.#calls.get(id)
    if (id === undefined || !call) return ORPHAN
    join(tool, id, call)
    call.answered = true
    return inferred ? GUESSED : PLAIN
  }

  #waiting(name: string | null): string | undefined {
    let first: string | undefined
    for (const [id, { tool, answered }] of this.#calls) {
      if (answered) continue
      if (name === null || tool.name === name) return id
      first ??= id
    }
    return first
  }
}

/** An answer that comes again knows only the name. */
function join(result: Mutable<ToolCall>, id: string, { tool, answered }: Call): void {
  result.call_id = id
  result.name = tool.name ?? result.name
  if (answered) return
  if (tool.arguments !== undefined) result.arguments = tool.arguments
  if (tool.arguments_json !== undefined) result.arguments_json = tool.arguments_json
  if (tool.input !== undefined) result.input = tool.input
  if (tool.input_json !== undefined) result.input_json = tool.input_json
}

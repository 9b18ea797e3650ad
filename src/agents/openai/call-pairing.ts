/** Pairs each result with the nearest earlier call of the same id. */
import type { Mutable, ToolCall } from '../../model/normalized.ts'
import type { ChatDraft } from './content.ts'

interface CallLink {
  /** We assigned the id. */
  readonly inferred: boolean
  /** There is no such call. */
  readonly orphan: boolean
}

const PLAIN_LINK: CallLink = { inferred: false, orphan: false }
const INFERRED_LINK: CallLink = { inferred: true, orphan: false }
const ORPHAN_LINK: CallLink = { inferred: false, orphan: true }

export class ChatCallPairing {
  readonly #calls = new Map<string, ToolCall>()
  readonly #answered = new Set<string>()
  /** Unanswered calls of this line, oldest first. */
  readonly #open = new Set<string>()
  /**
   * The line from which a branch departs. Its calls are looked up rather than copied, because there may be many
   * branches.
   */
  readonly #before: ChatCallPairing | undefined
  #count: number

  constructor(before?: ChatCallPairing) {
    this.#before = before
    this.#count = before ? before.#count : 0
  }

  /** Assigns an id to a call without one. */
  open({ tool_call: tool }: ChatDraft): CallLink {
    if (!tool) return PLAIN_LINK
    this.#count++
    const inferred = tool.call_id === null
    tool.call_id ??= `fc_${this.#count}`
    this.#calls.set(tool.call_id, tool)
    this.#answered.delete(tool.call_id)
    this.#open.delete(tool.call_id)
    this.#open.add(tool.call_id)
    return inferred ? INFERRED_LINK : PLAIN_LINK
  }

  /** Joins a result with its call. Without an id, takes the oldest open call with the same name. */
  answer({ tool_call: tool }: ChatDraft): CallLink {
    if (!tool) return PLAIN_LINK
    const inferred = tool.call_id === null
    const id = tool.call_id ?? this.#waiting(tool.name)
    const call = id === undefined ? undefined : this.#find(id)
    if (id === undefined || !call) return ORPHAN_LINK
    tool.call_id = id
    joinCallAndResult(tool, call, this.#isAnswered(id))
    this.#answered.add(id)
    this.#open.delete(id)
    return inferred ? INFERRED_LINK : PLAIN_LINK
  }

  #find(id: string): ToolCall | undefined {
    for (let line: ChatCallPairing | undefined = this; line; line = line.#before) {
      const call = line.#calls.get(id)
      if (call) return call
    }
    return undefined
  }

  #isAnswered(id: string): boolean {
    for (let line: ChatCallPairing | undefined = this; line; line = line.#before) {
      if (line.#answered.has(id)) return true
      if (line.#calls.has(id)) return false
    }
    return false
  }

  #waiting(name: string | null): string | undefined {
    let first: string | undefined
    for (let line: ChatCallPairing | undefined = this; line && first === undefined; line = line.#before) {
      for (const id of line.#open) {
        if (line !== this && this.#isAnswered(id)) continue
        if (name === null || line.#calls.get(id)?.name === name) return id
        first ??= id
      }
    }
    return first
  }
}

/** @param again a repeated result gets only the name */
function joinCallAndResult(result: Mutable<ToolCall>, call: ToolCall, again: boolean): void {
  result.name = call.name ?? result.name
  if (again) return
  if (call.arguments !== undefined) result.arguments = call.arguments
  if (call.arguments_json !== undefined) result.arguments_json = call.arguments_json
  if (call.input !== undefined) result.input = call.input
  if (call.input_json !== undefined) result.input_json = call.input_json
}

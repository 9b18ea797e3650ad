/** Calls and their outputs: which belong together, and what is missing. */
import { type Fields, stringOf } from '../../../lib/object.ts'
import type { CodexReport } from './rules.ts'

/** What a call is answered by. */
const ANSWERS: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  local_shell_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
  tool_search_call: 'tool_search_output',
}
const OUTPUTS = new Set(Object.values(ANSWERS))
const LONGEST = 64

export class Calls {
  readonly #report: CodexReport
  /** The type of output that each call waits for, with the call's place; nothing once it is there. */
  readonly #calls = new Map<string, { readonly wants: string; readonly place: string } | undefined>()

  constructor(report: CodexReport) {
    this.#report = report
  }

  /** An item that is read. */
  add(item: Fields, place: string): void {
    const type = stringOf(item['type']) ?? ''
    const wants = ANSWERS[type]
    if (wants === undefined && !OUTPUTS.has(type)) return
    const id = stringOf(item['call_id'])
    if (id === undefined) return
    if (id === '' || id.length > LONGEST)
      this.#report('call_id', `${place}.call_id`, `The id of a call has 1 to ${LONGEST} letters.`)
    if (wants === undefined) this.#output(id, type, place)
    else this.#call(id, wants, place)
  }

  #call(id: string, wants: string, place: string): void {
    if (this.#calls.get(id)) this.#report('call_id_unique', `${place}.call_id`, 'An open call has the same id.')
    this.#calls.set(id, { wants, place })
  }

  #output(id: string, type: string, place: string): void {
    const call = this.#calls.get(id)
    if (call && call.wants !== type)
      this.#report('output_kind', `${place}.type`, `The call is one that is answered by ${call.wants}.`)
    else if (!call && this.#calls.has(id))
      this.#report('output_once', `${place}.call_id`, 'The call has an output already.')
    else if (!call) this.#report('output_call', `${place}.call_id`, 'No call before it has this id; it is dropped.')
    if (call) this.#calls.set(id, undefined)
  }

  end(): void {
    for (const call of this.#calls.values())
      if (call) this.#report('call_answered', call.place, 'The call has no output.')
  }
}

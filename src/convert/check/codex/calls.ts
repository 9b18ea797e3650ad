/** Calls and their outputs: which belong together, and what is missing. */
import { type Fields, stringOf } from '../../../lib/object.ts'
import { phrase } from '../../../model/phrase.ts'
import type { CodexReport } from './rules.ts'

/** What a call is answered by. */
const OUTPUT_OF_CALL: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  local_shell_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
  tool_search_call: 'tool_search_output',
}
const OUTPUT_TYPES = new Set(Object.values(OUTPUT_OF_CALL))
const MAX_CALL_ID_LENGTH = 64

export class CallOutputChecker {
  readonly #report: CodexReport
  /** The type of output that each call waits for, with the call's place; nothing once it is there. */
  readonly #calls = new Map<string, { readonly wants: string; readonly place: string } | undefined>()

  constructor(report: CodexReport) {
    this.#report = report
  }

  /** An item that is read. */
  add(item: Fields, place: string): void {
    const type = stringOf(item['type']) ?? ''
    const wants = Object.hasOwn(OUTPUT_OF_CALL, type) ? OUTPUT_OF_CALL[type] : undefined
    if (wants === undefined && !OUTPUT_TYPES.has(type)) return
    const id = stringOf(item['call_id'])
    if (id === undefined) return
    if (id === '' || id.length > MAX_CALL_ID_LENGTH)
      this.#report(
        'call_id',
        `${place}.call_id`,
        phrase(
          `The id of a call has 1 to ${MAX_CALL_ID_LENGTH} letters.`,
          `呼び出しの ID は 1〜${MAX_CALL_ID_LENGTH} 文字です。`,
        ),
      )
    if (wants === undefined) this.#output(id, type, place)
    else this.#call(id, wants, place)
  }

  #call(id: string, wants: string, place: string): void {
    if (this.#calls.get(id))
      this.#report(
        'call_id_unique',
        `${place}.call_id`,
        phrase('An open call has the same id.', 'まだ結果のない呼び出しに同じ ID があります。'),
      )
    this.#calls.set(id, { wants, place })
  }

  #output(id: string, type: string, place: string): void {
    const call = this.#calls.get(id)
    if (call && call.wants !== type)
      this.#report(
        'output_kind',
        `${place}.type`,
        phrase(`The call is one that is answered by ${call.wants}.`, `この呼び出しには ${call.wants} で答えます。`),
      )
    else if (!call && this.#calls.has(id))
      this.#report(
        'output_once',
        `${place}.call_id`,
        phrase('The call has an output already.', 'この呼び出しにはすでに結果があります。'),
      )
    else if (!call)
      this.#report(
        'output_call',
        `${place}.call_id`,
        phrase('No call before it has this id; it is dropped.', 'この ID の呼び出しが前にありません。捨てられます。'),
      )
    if (call) this.#calls.set(id, undefined)
  }

  end(): void {
    for (const call of this.#calls.values())
      if (call)
        this.#report('call_answered', call.place, phrase('The call has no output.', '呼び出しの結果がありません。'))
  }
}

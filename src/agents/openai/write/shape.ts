/** Makes messages fit for a server while they are written. */
import { sha256 } from '../../../lib/hash.ts'
import { type Fields, isObject, listOf, stringOf } from '../../../lib/object.ts'
import { type Change, change } from '../../../model/replay/change.ts'
import { CallIds } from '../../../model/replay/names.ts'
import { repair } from '../../../openai/check/validate.ts'
import type { Profile } from '../../../openai/profile.ts'
import type { ChatElement } from './messages.ts'

export class Shaper {
  readonly #profile: Profile
  readonly #onRepair: (path: string, what: Change) => void
  /** All messages, where instructions from anywhere belong into the first. */
  readonly #all: Fields[] | undefined
  /** Of all calls so far: what is shaped piece by piece does not see its neighbours. */
  readonly #ids: CallIds
  #count = 0

  constructor(profile: Profile, onRepair: (path: string, what: Change) => void) {
    this.#profile = { ...profile, endsWithAssistant: false }
    this.#onRepair = onRepair
    this.#ids = new CallIds(Number.POSITIVE_INFINITY, sha256, profile.callIds.legal)
    this.#all = profile.system === 'first' ? [] : undefined
  }

  /** @param elements that belong together: an answer with its results, or a single message */
  shape(elements: readonly ChatElement[]): readonly ChatElement[] {
    const messages = elements.map(({ value }) => value)
    if (!this.#all) return this.#repaired(messages)
    this.#all.push(...messages)
    return []
  }

  /** What could not be written before everything was known. */
  end(): readonly ChatElement[] {
    return this.#all ? this.#repaired(this.#all) : []
  }

  #repaired(given: readonly Fields[]): readonly ChatElement[] {
    const { messages, problems } = repair(given, this.#profile)
    for (const { path, what } of problems) this.#onRepair(numbered(path, this.#count), change('server_refuses', what))
    const apart = this.#apart(messages as unknown as readonly Fields[])
    this.#count += given.length
    return apart.map((value) => ({ value }))
  }

  /** Within a piece no id comes twice, and results follow their calls. */
  #apart(messages: readonly Fields[]): readonly Fields[] {
    const given = new Map<string, string>()
    return messages.map((message, at) => {
      const answered = given.get(stringOf(message['tool_call_id']) ?? '')
      if (answered !== undefined) return { ...message, tool_call_id: answered }
      const calls = listOf(message['tool_calls']).filter(isObject)
      const before = given.size
      for (const { id } of calls) {
        const taken = this.#ids.take(stringOf(id) ?? null)
        if (taken !== id) given.set(String(id), taken)
      }
      if (given.size === before) return message
      this.#onRepair(`messages[${this.#count + at}]`, change('call_id_changed'))
      return {
        ...message,
        tool_calls: calls.map((call) => ({ ...call, id: given.get(String(call['id'])) ?? call['id'] })),
      }
    })
  }
}

/** `$[1].content` of a part is `messages[41].content` of the whole. */
const numbered = (path: string, before: number): string =>
  path.replace(/^\$\[(\d+)\]/, (_, at: string) => `messages[${before + Number(at)}]`)

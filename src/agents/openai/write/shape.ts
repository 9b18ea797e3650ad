/** Makes messages fit for a server while they are written. */
import { sha256 } from '../../../lib/hash.ts'
import { type Fields, isObject, listOf, stringOf } from '../../../lib/object.ts'
import { type ConversionChange, toConversionChange } from '../../../model/replay/change.ts'
import { UniqueCallIds } from '../../../model/replay/names.ts'
import { repair } from '../../../openai/check/validate.ts'
import type { Profile } from '../../../openai/profile.ts'
import type { ChatElement } from './messages.ts'

export class ProfileShaper {
  readonly #profile: Profile
  readonly #onRepair: (path: string, what: ConversionChange) => void
  /** All messages, where instructions from anywhere belong into the first. */
  readonly #all: Fields[] | undefined
  /** Of all calls so far: what is shaped piece by piece does not see its neighbours. */
  readonly #ids: UniqueCallIds
  #count = 0

  constructor(profile: Profile, onRepair: (path: string, what: ConversionChange) => void) {
    this.#profile = { ...profile, endsWithAssistant: false }
    this.#onRepair = onRepair
    this.#ids = new UniqueCallIds(Number.POSITIVE_INFINITY, sha256, profile.callIds.legal)
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

  #repaired(newIds: readonly Fields[]): readonly ChatElement[] {
    const { messages, problems } = repair(newIds, this.#profile)
    for (const { path, what } of problems)
      this.#onRepair(messagePath(path, this.#count), toConversionChange('server_refuses', what))
    const shaped = this.#withUniqueIds(messages as unknown as readonly Fields[])
    this.#count += newIds.length
    return shaped.map((value) => ({ value }))
  }

  /** Within a piece no id comes twice, and results follow their calls. */
  #withUniqueIds(messages: readonly Fields[]): readonly Fields[] {
    const newIds = new Map<string, string>()
    return messages.map((message, at) => {
      const answered = newIds.get(stringOf(message['tool_call_id']) ?? '')
      if (answered !== undefined) return { ...message, tool_call_id: answered }
      const calls = listOf(message['tool_calls']).filter(isObject)
      const before = newIds.size
      for (const { id } of calls) {
        const uniqueId = this.#ids.take(stringOf(id) ?? null)
        if (uniqueId !== id) newIds.set(String(id), uniqueId)
      }
      if (newIds.size === before) return message
      this.#onRepair(`messages[${this.#count + at}]`, toConversionChange('call_id_changed'))
      return {
        ...message,
        tool_calls: calls.map((call) => ({ ...call, id: newIds.get(String(call['id'])) ?? call['id'] })),
      }
    })
  }
}

/** `$[1].content` of a part is `messages[41].content` of the whole. */
const messagePath = (path: string, before: number): string =>
  path.replace(/^\$\[(\d+)\]/, (_, at: string) => `messages[${before + Number(at)}]`)

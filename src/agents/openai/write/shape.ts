/** Makes messages fit for a server while they are written. */
import type { Fields } from '../../../lib/object.ts'
import { repair } from '../../../openai/check/validate.ts'
import type { Profile } from '../../../openai/profile.ts'
import type { ChatElement } from './messages.ts'

export class Shaper {
  readonly #profile: Profile
  readonly #onRepair: (path: string, what: string) => void
  /** All messages, where instructions from anywhere belong into the first. */
  readonly #all: Fields[] | undefined
  #count = 0

  constructor(profile: Profile, onRepair: (path: string, what: string) => void) {
    this.#profile = { ...profile, endsWithAssistant: false }
    this.#onRepair = onRepair
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
    for (const { path, what } of problems) this.#onRepair(numbered(path, this.#count), what)
    this.#count += given.length
    return messages.map((value) => ({ value: value as unknown as Fields }))
  }
}

/** `$[1].content` of a part is `messages[41].content` of the whole. */
const numbered = (path: string, before: number): string =>
  path.replace(/^\$\[(\d+)\]/, (_, at: string) => `messages[${before + Number(at)}]`)

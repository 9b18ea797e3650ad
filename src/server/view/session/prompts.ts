/** What the prompts of a session say. Its outline is asked for again whenever it grows: each of them is read once. */
import type { Entry, House } from '../../../app.ts'
import { Recent } from '../recent.ts'
import { promptIn } from './prompt.ts'

export interface Asked {
  readonly text: string
  readonly tangent: boolean
}

interface Read {
  readonly path: string
  readonly size: number
  readonly prompts: Map<string, Asked>
}

/** Prompts of all sessions that are remembered. */
const MOST = 50_000

export class Prompts {
  readonly #house: House
  readonly #known = new Recent<string, Read>(MOST, ({ prompts }) => prompts.size)

  constructor(house: House) {
    this.#house = house
  }

  /** Those whose source is gone are not among them. @param messages their ids */
  async of({ id, path, size }: Entry, messages: readonly string[]): Promise<ReadonlyMap<string, Asked>> {
    const before = this.#known.get(id)
    // A log that is shorter than it was is another one.
    const known = before && before.path === path && before.size <= size ? before.prompts : new Map<string, Asked>()
    const prompts = new Map<string, Asked>()
    for (const message of messages) {
      const asked = known.get(message) ?? (await this.#read(id, message))
      if (asked) prompts.set(message, asked)
    }
    this.#known.set(id, { path, size, prompts })
    return prompts
  }

  async #read(session: Entry['id'], message: string): Promise<Asked | undefined> {
    const body = await this.#house.message(session, message)
    if (body?.kind !== 'body') return undefined
    return { text: promptIn(body.message), tangent: body.message.metadata?.['tangent'] === true }
  }
}

/** What the prompts of a session say. Its outline is asked for again whenever it grows: each of them is read once. */
import type { App, SessionEntry } from '../../../app.ts'
import { LruCache } from '../lru-cache.ts'
import { promptLineOf } from './prompt-line.ts'

export interface PromptSummary {
  readonly text: string
  readonly tangent: boolean
}

interface CachedPrompts {
  readonly path: string
  readonly size: number
  readonly prompts: Map<string, PromptSummary>
}

/** Prompts of all sessions that are remembered. */
const MAX_CACHED_PROMPTS = 50_000

export class PromptCache {
  readonly #app: App
  readonly #cache = new LruCache<string, CachedPrompts>(MAX_CACHED_PROMPTS, ({ prompts }) => prompts.size)

  constructor(app: App) {
    this.#app = app
  }

  /** Those whose source is gone are not among them. @param messages their ids */
  async of({ id, path, size }: SessionEntry, messages: readonly string[]): Promise<ReadonlyMap<string, PromptSummary>> {
    const before = this.#cache.get(id)
    // A log that is shorter than it was is another one.
    const known =
      before && before.path === path && before.size <= size ? before.prompts : new Map<string, PromptSummary>()
    const prompts = new Map<string, PromptSummary>()
    for (const message of messages) {
      const summary = known.get(message) ?? (await this.#read(id, message))
      if (summary) prompts.set(message, summary)
    }
    this.#cache.set(id, { path, size, prompts })
    return prompts
  }

  async #read(session: SessionEntry['id'], message: string): Promise<PromptSummary | undefined> {
    const body = await this.#app.message(session, message)
    if (body?.kind !== 'body') return undefined
    return { text: promptLineOf(body.message), tangent: body.message.metadata?.['tangent'] === true }
  }
}

/** Caches of recent sessions: layouts, prompts and totals, each valid for one revision of the session. */
import type { App, SessionEntry } from '../app.ts'
import { withYields } from '../lib/yield-loop.ts'
import { promptMarksOf } from '../model/classify.ts'
import { AppError } from '../model/error.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import { NO_SESSION_FACTS } from '../model/session-facts.ts'
import { LruCache } from './lru-cache.ts'
import { promptLineOf, SessionTally } from './view/session-tally.ts'

export type Layout = ReturnType<App['index']['layout']>

/** Up to this offset, reading without a layout is as fast. */
const MAX_OFFSET_WITHOUT_LAYOUT = 2000

interface CachedLayout {
  readonly epoch: string
  readonly revision: number
  readonly size: number
  readonly layout: Layout
}

/** Layouts of recent sessions. An open page requests the same one repeatedly. */
export class LayoutCache {
  readonly #app: App
  readonly #cache = new LruCache<string, CachedLayout>(16)

  constructor(app: App) {
    this.#app = app
  }

  of(entry: SessionEntry): Layout {
    const ready = this.known(entry)
    if (ready) return ready
    const epoch = this.#epoch
    const before = this.#cache.get(entry.id)
    const hasGrown = before && before.epoch === epoch && before.size <= entry.size
    const layout = this.#app.index.layout(entry.id, hasGrown ? before.layout : undefined)
    this.#cache.set(entry.id, { epoch, revision: entry.revision, size: entry.size, layout })
    return layout
  }

  /** For reading at an offset: far into a session a layout makes it faster. */
  near(entry: SessionEntry, offset: number): Layout | undefined {
    return offset > MAX_OFFSET_WITHOUT_LAYOUT ? this.of(entry) : this.known(entry)
  }

  /** Undefined unless it was made for the current revision. */
  known(entry: SessionEntry): Layout | undefined {
    const known = this.#cache.get(entry.id)
    return known?.epoch === this.#epoch && known.revision === entry.revision ? known.layout : undefined
  }

  get #epoch(): string {
    return this.#app.index.epoch ?? ''
  }
}

interface PromptSummary {
  readonly text: string
  readonly tangent: boolean
}

interface CachedPrompts {
  readonly path: string
  readonly size: number
  readonly prompts: Map<string, PromptSummary>
}

const MAX_CACHED_PROMPTS = 50_000

/** First lines of prompts. The outline of a growing session needs each of them repeatedly. */
export class PromptCache {
  readonly #app: App
  readonly #cache = new LruCache<string, CachedPrompts>(MAX_CACHED_PROMPTS, ({ prompts }) => prompts.size)

  constructor(app: App) {
    this.#app = app
  }

  /** Prompts whose source is gone are missing. @param messages ids */
  async of({ id, path, size }: SessionEntry, messages: readonly string[]): Promise<ReadonlyMap<string, PromptSummary>> {
    const before = this.#cache.get(id)
    // A log that has shrunk was replaced.
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
    return {
      text: promptLineOf(body.message),
      tangent: promptMarksOf(body.message, NO_SESSION_FACTS).includes('tangent'),
    }
  }
}

interface CachedTally {
  readonly epoch: string
  readonly cursor: Cursor | undefined
  readonly size: number
  readonly path: string
  /** Up to the cursor. A log that has grown is read from there. */
  readonly certain: SessionTally
  /** Of the complete log, at the revision of the stamp. */
  readonly complete: SessionTally
  readonly stamp: string
}

type Cursor = { readonly [key: string]: unknown }

/** Larger logs are read in the background; the client repeats its request. */
export const MAX_WAITED_BYTES = 4_000_000

/** Totals that need the complete log: tokens of each turn, roll-backs, events, rate limits. */
export class TallyCache {
  readonly #app: App
  readonly #cache = new LruCache<string, CachedTally>(24)
  readonly #reading = new Map<string, Promise<SessionTally>>()

  constructor(app: App) {
    this.#app = app
  }

  /** Undefined unless the current revision was read. */
  known(entry: SessionEntry): SessionTally | undefined {
    const known = this.#cache.get(entry.id)
    return known?.stamp === this.#stampOf(entry) ? known.complete : undefined
  }

  /** Requests for the same revision share one reading. */
  of(entry: SessionEntry): Promise<SessionTally> {
    const ready = this.known(entry)
    if (ready) return Promise.resolve(ready)
    const key = `${entry.id} ${this.#stampOf(entry)}`
    const running = this.#reading.get(key)
    if (running) return running
    const reading = this.#read(entry).finally(() => this.#reading.delete(key))
    this.#reading.set(key, reading)
    return reading
  }

  #stampOf({ revision }: SessionEntry): string {
    return `${this.#app.index.epoch} ${revision}`
  }

  async #read(entry: SessionEntry): Promise<SessionTally> {
    const { id } = entry
    const stamp = this.#stampOf(entry)
    const epoch = this.#app.index.epoch ?? ''
    const log = await this.#app.logOf(id)
    if (!log)
      throw new AppError(
        'not_found',
        `The log of ${id} is gone: ${entry.path}, and there is no backup`,
        `会話 ${id} のログ ${entry.path} がなくなっています。バックアップもありません。`,
      )
    const { list } = await this.#app.prices()
    const before = this.#cache.get(id)
    const from = before && isContinued(before, entry, epoch) ? before.cursor : undefined
    let certain = from && before ? before.certain.copy() : new SessionTally(list)
    let cursor: Cursor | undefined = from
    let pending: NormalizedMessage[] = []
    const add = (tally: SessionTally): void => {
      for (const message of pending) tally.add(message)
      pending = []
    }
    for await (const batch of withYields(log.agent.read(log.source, { includePrivate: true, ...(from && { from }) }))) {
      for (const one of batch) {
        if (one.kind === 'message' && one.message.raw.session_id === id) pending.push(withoutCiphertext(one.message))
        if (one.kind !== 'cursor') continue
        add(certain)
        cursor = one.cursor
      }
    }
    // Without cursors a log is read from its start each time.
    const complete = cursor ? certain.copy() : certain
    add(complete)
    if (!cursor) certain = new SessionTally(list)
    this.#cache.set(id, { epoch, cursor, size: entry.size, path: entry.path, certain, complete, stamp })
    return complete
  }
}

const isContinued = (before: CachedTally, { size, path }: SessionEntry, epoch: string): boolean =>
  before.epoch === epoch && before.path === path && before.size <= size

/** Only the length of ciphertext is counted. */
function withoutCiphertext(message: NormalizedMessage): NormalizedMessage {
  const { encrypted_content, ...raw } = message.raw
  if (encrypted_content === undefined) return message
  const bytes = Buffer.byteLength(encrypted_content)
  return { ...message, raw, metadata: { ...message.metadata, encrypted_bytes: bytes } }
}

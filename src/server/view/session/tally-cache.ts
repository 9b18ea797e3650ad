/** What only a reading of the whole log tells: tokens of each turn, what was taken back, events, rate limits. */
import type { App, SessionEntry } from '../../../app.ts'
import { withYields } from '../../../lib/yield-loop.ts'
import { AppError } from '../../../model/error.ts'
import type { NormalizedMessage } from '../../../model/normalized.ts'
import { LruCache } from '../lru-cache.ts'
import { SessionTally } from './session-tally.ts'

interface StampedTally {
  readonly stamp: string
  readonly tally: SessionTally
}

/** A log that goes on is read from where the last reading could be sure of it. */
interface CachedTally {
  readonly epoch: string
  readonly cursor: Cursor | undefined
  /** Of the log, and where it was. */
  readonly size: number
  readonly path: string
  readonly sure: SessionTally
  readonly outline: StampedTally
}

type Cursor = { readonly [key: string]: unknown }

/** Logs of so many bytes are read while the client waits. */
export const MAX_WAITED_BYTES = 4_000_000

export class TallyCache {
  readonly #app: App
  readonly #cache = new LruCache<string, CachedTally>(24)
  readonly #reading = new Map<string, Promise<SessionTally>>()

  constructor(app: App) {
    this.#app = app
  }

  /** What is known of a session as it is now, if anything. */
  known(entry: SessionEntry): SessionTally | undefined {
    const known = this.#cache.get(entry.id)
    return known?.outline.stamp === this.#stampOf(entry) ? known.outline.tally : undefined
  }

  /** One reading for all who wait for it. */
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
        `the log of ${id} is gone: ${entry.path}, and no copy was kept`,
        `会話 ${id} のログ ${entry.path} がなくなっています。控えもありません。`,
      )
    const { list } = await this.#app.prices()
    const before = this.#cache.get(id)
    const from = before && isContinued(before, entry, epoch) ? before.cursor : undefined
    let certain = from && before ? before.sure.copy() : new SessionTally(list)
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
    // A log without cursors is read anew each time, and nothing of it is kept for later.
    const tally = cursor ? certain.copy() : certain
    add(tally)
    if (!cursor) certain = new SessionTally(list)
    this.#cache.set(id, { epoch, cursor, size: entry.size, path: entry.path, sure: certain, outline: { stamp, tally } })
    return tally
  }
}

/** The same log, and no shorter than it was. */
const isContinued = (before: CachedTally, { size, path }: SessionEntry, epoch: string): boolean =>
  before.epoch === epoch && before.path === path && before.size <= size

/** What is not counted goes at once. */
function withoutCiphertext(message: NormalizedMessage): NormalizedMessage {
  const { encrypted_content, ...raw } = message.raw
  if (encrypted_content === undefined) return message
  const bytes = Buffer.byteLength(encrypted_content)
  return { ...message, raw, metadata: { ...message.metadata, encrypted_bytes: bytes } }
}

/** What only a reading of the whole log tells: tokens of each turn, what was taken back, events, rate limits. */
import type { Entry, House } from '../../../app.ts'
import { breathing } from '../../../lib/disk/breathing.ts'
import { AppError } from '../../../model/error.ts'
import type { NormalizedMessage } from '../../../model/normalized.ts'
import { Recent } from '../recent.ts'
import { Tally } from './tally.ts'

interface Outline {
  readonly stamp: string
  readonly tally: Tally
}

/** A log that goes on is read from where the last reading could be sure of it. */
interface Known {
  readonly epoch: string
  readonly cursor: Cursor | undefined
  /** Of the log, and where it was. */
  readonly size: number
  readonly path: string
  readonly sure: Tally
  readonly outline: Outline
}

type Cursor = { readonly [key: string]: unknown }

/** Logs of so many bytes are read while the client waits. */
export const SMALL = 4_000_000

export class Outlines {
  readonly #house: House
  readonly #known = new Recent<string, Known>(24)
  readonly #reading = new Map<string, Promise<Tally>>()

  constructor(house: House) {
    this.#house = house
  }

  /** What is known of a session as it is now, if anything. */
  known(entry: Entry): Tally | undefined {
    const known = this.#known.get(entry.id)
    return known?.outline.stamp === this.#stampOf(entry) ? known.outline.tally : undefined
  }

  /** One reading for all who wait for it. */
  of(entry: Entry): Promise<Tally> {
    const ready = this.known(entry)
    if (ready) return Promise.resolve(ready)
    const key = `${entry.id} ${this.#stampOf(entry)}`
    const under = this.#reading.get(key)
    if (under) return under
    const reading = this.#read(entry).finally(() => this.#reading.delete(key))
    this.#reading.set(key, reading)
    return reading
  }

  #stampOf({ revision }: Entry): string {
    return `${this.#house.index.epoch} ${revision}`
  }

  async #read(entry: Entry): Promise<Tally> {
    const { id } = entry
    const stamp = this.#stampOf(entry)
    const epoch = this.#house.index.epoch ?? ''
    const log = await this.#house.logOf(id)
    if (!log)
      throw new AppError(
        'not_found',
        `the log of ${id} is gone: ${entry.path}, and no copy was kept`,
        `会話 ${id} のログ ${entry.path} がなくなっています。控えもありません。`,
      )
    const { list } = await this.#house.prices()
    const before = this.#known.get(id)
    const from = before && isContinued(before, entry, epoch) ? before.cursor : undefined
    let sure = from && before ? before.sure.copy() : new Tally(list)
    let cursor: Cursor | undefined = from
    let pending: NormalizedMessage[] = []
    const add = (tally: Tally): void => {
      for (const message of pending) tally.see(message)
      pending = []
    }
    for await (const batch of breathing(log.agent.read(log.source, { includePrivate: true, ...(from && { from }) }))) {
      for (const one of batch) {
        if (one.kind === 'message' && one.message.raw.session_id === id) pending.push(slim(one.message))
        if (one.kind !== 'cursor') continue
        add(sure)
        cursor = one.cursor
      }
    }
    // A log without cursors is read anew each time, and nothing of it is kept for later.
    const tally = cursor ? sure.copy() : sure
    add(tally)
    if (!cursor) sure = new Tally(list)
    this.#known.set(id, { epoch, cursor, size: entry.size, path: entry.path, sure, outline: { stamp, tally } })
    return tally
  }
}

/** The same log, and no shorter than it was. */
const isContinued = (before: Known, { size, path }: Entry, epoch: string): boolean =>
  before.epoch === epoch && before.path === path && before.size <= size

/** What is not counted goes at once. */
function slim(message: NormalizedMessage): NormalizedMessage {
  const { encrypted_content, ...raw } = message.raw
  if (encrypted_content === undefined) return message
  const bytes = Buffer.byteLength(encrypted_content)
  return { ...message, raw, metadata: { ...message.metadata, encrypted_bytes: bytes } }
}

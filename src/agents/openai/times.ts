/** Times as text. */
import { type Instant, instantOf } from '../../model/ids.ts'
import type { Moment } from './place.ts'

const MOST_KNOWN = 4096
const EPOCH = '1970-01-01T00:00:00.000Z' as Instant

/** Files that tell no times need the same few again and again, and making one costs as much as a message. */
export class Times {
  readonly #known = new Map<number, Moment>()

  at(milliseconds: number): Instant {
    return this.inferred(milliseconds).at
  }

  /** A time that the file does not tell. */
  inferred(milliseconds: number): Moment {
    const known = this.#known.get(milliseconds)
    if (known) return known
    const moment = { at: instantOf(milliseconds) ?? EPOCH, inferred: true }
    if (this.#known.size < MOST_KNOWN) this.#known.set(milliseconds, moment)
    return moment
  }
}

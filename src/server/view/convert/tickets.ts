/** What was shown to somebody before it is done: a paper that says so, good for ten minutes. */
import { randomBytes } from 'node:crypto'
import { Recent } from '../recent.ts'

const MOST = 100
const LIFE = 600_000

export class Tickets<Value> {
  readonly #given = new Recent<string, { readonly value: Value; readonly until: number }>(MOST)

  give(value: Value): string {
    const ticket = randomBytes(18).toString('base64url')
    this.#given.set(ticket, { value, until: performance.now() + LIFE })
    return ticket
  }

  /** Nothing when nobody has it, or no longer. */
  show(ticket: string): Value | undefined {
    const given = this.#given.get(ticket)
    return given && given.until > performance.now() ? given.value : undefined
  }

  /** Good once. */
  take(ticket: string): Value | undefined {
    const value = this.show(ticket)
    this.#given.delete(ticket)
    return value
  }
}

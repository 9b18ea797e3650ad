/** What was shown to somebody before it is done: a paper that says so, good for ten minutes. */
import { randomBytes } from 'node:crypto'
import { LruCache } from '../recent.ts'

const MAX_TICKETS = 100
const TICKET_LIFETIME_MS = 600_000

export class PreviewTickets<Value> {
  readonly #issued = new LruCache<string, { readonly value: Value; readonly until: number }>(MAX_TICKETS)

  issue(value: Value): string {
    const ticket = randomBytes(18).toString('base64url')
    this.#issued.set(ticket, { value, until: performance.now() + TICKET_LIFETIME_MS })
    return ticket
  }

  /** Nothing when nobody has it, or no longer. */
  peek(ticket: string): Value | undefined {
    const issued = this.#issued.get(ticket)
    return issued && issued.until > performance.now() ? issued.value : undefined
  }

  /** Good once. */
  take(ticket: string): Value | undefined {
    const value = this.peek(ticket)
    this.#issued.delete(ticket)
    return value
  }
}

/** All that reads bodies for a question: windows of a session, searches, deep searches. */
import type { PrivacyOptions } from '../../agents/agent.ts'
import type { SessionFilter } from '../../archive/get/filter.ts'
import type { WindowOptions } from '../../archive/get/messages.ts'
import type { IndexReader } from '../../archive/get.ts'
import type { Keep } from '../../archive/keep.ts'
import type { Mark } from '../../archive/marks/record.ts'
import type { Known } from '../../archive/record.ts'
import type { SessionId } from '../../model/ids.ts'
import { Bodies, type Body } from './bodies.ts'
import { type DeepEvent, type DeepOptions, deepSearch } from './deep.ts'
import { Finder, type SearchAnswer, type SearchOptions } from './find.ts'
import { type SayingAnswer, type SpotsAnswer, sessionsSaying, spotsIn } from './within.ts'

/** Opened when they are first asked for. */
export interface Beside {
  keep(): Keep
  marks(): readonly Mark[]
}

export class Reading {
  readonly #reader: IndexReader
  readonly #keep: () => Keep
  readonly #bodies: Bodies
  readonly #finder: Finder
  readonly #marks: () => readonly Mark[]

  constructor(reader: IndexReader, { keep, marks }: Beside) {
    this.#reader = reader
    this.#keep = keep
    this.#bodies = new Bodies(reader, keep)
    this.#marks = marks
    this.#finder = new Finder(reader, this.#bodies, marks)
  }

  messages(id: SessionId, options: WindowOptions): Promise<readonly Body[]> {
    return this.#bodies.in(id, options)
  }

  /** Bodies of messages of one session, in the order in which they are given. */
  async bodies(session: SessionId, messages: readonly Known[], options: PrivacyOptions = {}): Promise<readonly Body[]> {
    const where = this.#reader.sourceOf(session)
    const found: Body[] = []
    for (const known of messages) found.push(await this.#bodies.of(known, where, options))
    return found
  }

  /** Every message of a session that says it. */
  spots(session: SessionId, query: string): Promise<SpotsAnswer> {
    return spotsIn(this.#reader, this.#finder, session, query)
  }

  sessionsSaying(query: string, filter: SessionFilter): Promise<SayingAnswer> {
    return sessionsSaying(this.#reader, this.#finder, query, filter, this.#marks())
  }

  /** Session by session. */
  async *prompts(): AsyncGenerator<Body> {
    for (const known of this.#reader.prompts()) yield this.#bodies.of(known)
  }

  search(query: string, options: SearchOptions): Promise<SearchAnswer> {
    return this.#finder.search(query, options)
  }

  deepSearch(query: string, options: DeepOptions): AsyncGenerator<DeepEvent> {
    return deepSearch(query, { reader: this.#reader, finder: this.#finder, keep: this.#keep }, options)
  }
}

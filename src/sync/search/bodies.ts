/** Fetches messages' bodies from where they lie: files, or the keep. */
import type { PrivacyOptions, Source } from '../../agents/agent.ts'
import type { WindowOptions } from '../../archive/get/messages.ts'
import type { Standing } from '../../archive/get/standing.ts'
import type { IndexReader } from '../../archive/get.ts'
import type { Keep } from '../../archive/keep.ts'
import type { Known } from '../../archive/record.ts'
import { failureOf, logFailure } from '../../lib/failure.ts'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { isCopy, sourceAt } from '../keep/sources.ts'
import { agentOf } from '../passes/work.ts'

export type Body =
  | { readonly kind: 'body'; readonly known: Known; readonly message: NormalizedMessage }
  /** The source is gone, or no longer what it was when it was read. */
  | { readonly kind: 'gone'; readonly known: Known; readonly reason: string }

export class Bodies {
  readonly #reader: IndexReader
  readonly #keep: () => Keep
  /** Kept bytes are put together from pieces: the last ones stay for the next question. */
  #last: { readonly key: string; readonly source: Source } | undefined

  constructor(reader: IndexReader, keep: () => Keep) {
    this.#reader = reader
    this.#keep = keep
  }

  /** A stretch of a session. */
  async in(session: SessionId, options: WindowOptions): Promise<readonly Body[]> {
    const where = this.#reader.sourceOf(session)
    const found: Body[] = []
    for (const known of this.#reader.messages(session, options)) found.push(await this.of(known, where))
    return found
  }

  /** @param where its session lies, if that is known already */
  async of(known: Known, where = this.#reader.sourceOf(known.session), options: PrivacyOptions = {}): Promise<Body> {
    try {
      const source = this.#sourceOf(known.session, where)
      const agent = await agentOf(source.agent)
      const message = await agent.body(source, known.locator, options)
      return { kind: 'body', known, message }
    } catch (error) {
      if (isGone(error)) return { kind: 'gone', known, reason: error.message }
      const failure = failureOf(error)
      logFailure(known.session, failure)
      return { kind: 'gone', known, reason: failure.reason }
    }
  }

  #sourceOf(session: SessionId, where: Standing | undefined): Source {
    if (!where)
      throw new AppError('not_found', `the source of ${session} is gone`, `${session} の元のログがありません。`)
    if (!where.kept || isCopy(where.key)) return sourceAt(where, this.#keep, session)
    const key = `${session} ${this.#keep().get(session)?.revision}`
    if (this.#last?.key !== key) this.#last = { key, source: sourceAt(where, this.#keep, session) }
    return this.#last.source
  }
}

const isGone = (error: unknown): error is Error =>
  (error instanceof AppError && error.code === 'not_found') || (error instanceof Error && 'syscall' in error)

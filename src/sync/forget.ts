/** Sessions that are not wanted: they leave the index and the keep, and no sync brings them back. Their sources are not touched. */
import type { IndexReader } from '../archive/get.ts'
import { doubt, isDamage, openBesideHolder, openToWrite } from '../archive/index-file.ts'
import type { Forgotten } from '../archive/keep/forget.ts'
import type { Keep } from '../archive/keep.ts'
import { takeLock } from '../archive/lock.ts'
import { IndexWriter } from '../archive/put.ts'
import type { Scanned } from '../archive/record.ts'
import { sha256 } from '../lib/hash.ts'
import { AppError } from '../model/error.ts'
import type { Instant, SessionId } from '../model/ids.ts'
import type { Session } from '../model/session.ts'

/** Throws `not_found` for what the index does not know. */
export function forgetSession(
  directory: string,
  index: IndexReader,
  keep: Keep,
  session: SessionId,
  at: Instant,
): void {
  const told = index.tellersOf(session)
  const first = told[0]
  if (!first) {
    throw new AppError(
      'not_found',
      `No session ${session} is in the index. fumi list shows what is.`,
      `会話 ${session} は索引にありません。索引にある会話は fumi list で見られます。`,
    )
  }
  // The wish comes first: whatever fails behind it can be done again.
  keep.forget({ session, claim: first.claim, first_record: first.first_record }, at)
  keep.copies.forget(told.map(({ path }) => path))
  const taken = takeLock(directory, 'forget')
  try {
    const writer = new IndexWriter(
      directory,
      taken.kind === 'taken' ? openToWrite(directory) : openBesideHolder(directory),
    )
    try {
      writer.forget(session)
    } finally {
      writer.close()
    }
  } catch (error) {
    // Its holder makes it anew, without what is not wanted.
    if (taken.kind === 'taken' || !isDamage(error, directory)) throw error
    doubt(directory)
  } finally {
    if (taken.kind === 'taken') taken.lock.release()
  }
}

/** What a sync must leave out, and a sign that changes with it. */
export class Unwanted {
  /** Empty when nothing is. */
  readonly sign: string
  readonly #keys: ReadonlySet<string>

  constructor(forgotten: readonly Forgotten[]) {
    this.#keys = new Set(forgotten.map(({ claim, first_record }) => `${claim}\n${first_record}`))
    this.sign = forgotten.length === 0 ? '' : ` forgotten ${sha256([...this.#keys].join('\n')).slice(0, 16)}`
  }

  /** A source that tells what is not wanted is known, so that it is not read again and again, but tells nothing of it. */
  leftOut(scanned: Scanned): Scanned {
    const parts = scanned.parts?.filter(({ session }) => !this.#has(session))
    if (parts && parts.length < (scanned.parts?.length ?? 0)) return { ...this.#signed(scanned), parts }
    const { session, history: _, cursor: __, ...rest } = scanned
    return session && this.#has(session) ? { ...this.#signed(rest), ...NOTHING, anew: true } : scanned
  }

  #has({ id, first_record }: Session): boolean {
    return this.#keys.has(`${id}\n${first_record}`)
  }

  #signed<T extends Pick<Scanned, 'fingerprint'>>(scanned: T): T {
    return { ...scanned, fingerprint: scanned.fingerprint === undefined ? undefined : scanned.fingerprint + this.sign }
  }
}

const NO_COUNTS = { lines: 0, messages: 0, tools: {} }
const NOTHING = {
  sure: NO_COUNTS,
  counts: NO_COUNTS,
  usage: [],
  provisionalUsage: [],
  estimates: [],
  provisionalEstimates: [],
  titles: [],
  issues: [],
  provisionalIssues: [],
}

/**
 * Forgets a session: removes it from the index and the backup, and makes later syncs skip it. Its source files are not
 * touched.
 */

import type { BackupDatabase } from '../backup/backup-database.ts'
import type { ForgottenSession } from '../backup/forgotten-sessions.ts'
import { isIndexDamage, markIndexSuspect, openIndexToWrite, openIndexWithoutLock } from '../index/index-file.ts'
import { takeIndexLock } from '../index/lock.ts'
import type { IndexReader } from '../index/reader.ts'
import type { ScannedSource } from '../index/records.ts'
import { IndexWriter } from '../index/writer.ts'
import { sha256 } from '../lib/hash.ts'
import { AppError } from '../model/error.ts'
import type { Instant, SessionId } from '../model/ids.ts'
import type { Session } from '../model/session.ts'

/**
 * Throws `not_found` if the index does not contain the session.
 * @param erased items of exchange folders that hold it: nothing of it may stay in our files
 */
export function forgetSession(
  directory: string,
  index: IndexReader,
  backup: BackupDatabase,
  session: SessionId,
  at: Instant,
  erased?: readonly string[],
): void {
  const sessionSources = index.allSourcesOf(session)
  const first = sessionSources[0]
  if (!first) {
    throw new AppError(
      'not_found',
      `The index has no session ${session}. Run fumi list for a list.`,
      `会話 ${session} は索引にありません。索引にある会話は fumi list で見られます。`,
    )
  }
  // Recorded first, so that every later step can be repeated after a failure.
  backup.forget({ session, claim: first.claim, first_record: first.first_record }, at, erased)
  backup.files.forget(sessionSources.map(({ path }) => path))
  if (erased) backup.rewrite()
  forgetInIndex(directory, session)
}

/** No byte of it stays in the file. */
export function forgetInIndex(directory: string, session: SessionId): void {
  const attempt = takeIndexLock(directory, 'forget')
  try {
    const writer = new IndexWriter(
      directory,
      attempt.kind === 'taken' ? openIndexToWrite(directory) : openIndexWithoutLock(directory),
    )
    try {
      writer.forget(session)
    } finally {
      writer.close()
    }
  } catch (error) {
    // The lock holder rebuilds the index without the forgotten session.
    if (attempt.kind === 'taken' || !isIndexDamage(error, directory)) throw error
    markIndexSuspect(directory)
  } finally {
    if (attempt.kind === 'taken') attempt.lock.release()
  }
}

/** Filters forgotten sessions out of a sync. Its fingerprint suffix changes with the list of forgotten sessions. */
export class ForgottenFilter {
  /** Empty if no session is forgotten. */
  readonly fingerprintSuffix: string
  readonly #keys: ReadonlySet<string>

  constructor(forgotten: readonly ForgottenSession[]) {
    this.#keys = new Set(forgotten.map(({ claim, first_record }) => `${claim}\n${first_record}`))
    this.fingerprintSuffix =
      forgotten.length === 0 ? '' : ` forgotten ${sha256([...this.#keys].join('\n')).slice(0, 16)}`
  }

  /** Keeps the source as known, so that it is not read with every sync, but removes all data of forgotten sessions. */
  withoutForgotten(scanned: ScannedSource): ScannedSource {
    const parts = scanned.parts?.filter(({ session }) => !this.#has(session))
    if (parts && parts.length < (scanned.parts?.length ?? 0)) return { ...this.#withSuffix(scanned), parts }
    const { session, history: _, cursor: __, ...rest } = scanned
    return session && this.#has(session) ? { ...this.#withSuffix(rest), ...EMPTY_SCAN, fromStart: true } : scanned
  }

  #has({ id, first_record }: Session): boolean {
    return this.#keys.has(`${id}\n${first_record}`)
  }

  #withSuffix<T extends Pick<ScannedSource, 'fingerprint'>>(scanned: T): T {
    return {
      ...scanned,
      fingerprint: scanned.fingerprint === undefined ? undefined : scanned.fingerprint + this.fingerprintSuffix,
    }
  }
}

const ZERO_COUNTS = { lines: 0, messages: 0, tools: {} }
const EMPTY_SCAN = {
  sure: ZERO_COUNTS,
  counts: ZERO_COUNTS,
  usage: [],
  provisionalUsage: [],
  estimates: [],
  provisionalEstimates: [],
  titles: [],
  issues: [],
  provisionalIssues: [],
}

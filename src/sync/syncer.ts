/** Brings the index up to date: sweep, first pass, second pass. */
import { availableParallelism } from 'node:os'
import { type BackupDatabase, openBackupDatabase } from '../backup/backup-database.ts'
import type { RelocatedSession } from '../backup/relocated-table.ts'
import { isIndexDamage, isIndexSuspect, moveDamagedIndex } from '../index/index-file.ts'
import type {
  KnownSource,
  ReadTask,
  ScannedSource,
  SessionChange,
  SessionChunk,
  SourceLocation,
} from '../index/records.ts'
import { moveTexts, releaseRowBatch } from '../index/row-batch.ts'
import { IndexWriter } from '../index/writer.ts'
import { logSourceFailure, type SourceFailure, toSourceFailure } from '../lib/failure.ts'
import { AppError } from '../model/error.ts'
import { type BuiltTerms, TermBuilder } from '../search/segments/term-builder.ts'
import { ForgottenFilter } from './forget-session.ts'
import { failedScan, issueForSource } from './scan-source.ts'
import { type FoundSource, KnownSources, sweepSources } from './sweep.ts'
import { type JobResult, runInThisThread, runInThreads, SourceWorker, type SyncJob } from './threads.ts'

export interface IndexSyncProgress {
  readonly phase: 'scan' | 'read'
  readonly done: number
  readonly total: number
  readonly bytes: number
  readonly total_bytes: number
}

export interface SyncOptions {
  /** The locations searched; default: everywhere. */
  readonly paths?: Iterable<string>
  /** Sources for which this returns false are removed from the index. */
  readonly isWanted?: (source: SourceLocation) => boolean
  readonly onProgress?: (progress: IndexSyncProgress) => void
  readonly onChanges?: (changes: readonly SessionChange[]) => void
  readonly signal?: AbortSignal
  /** Lists and totals need only the first pass; search needs both. */
  readonly passes?: 'first' | 'both'
}

export interface SyncResult {
  readonly sources: number
  readonly scanned: number
  readonly gone: number
  readonly read: number
  /** Stopped early. The next sync continues here. */
  readonly stopped: boolean
  /** New path of the damaged index that was replaced. */
  readonly setAside?: string
}

/** Below this, starting worker threads costs more than it saves. */
const MIN_BYTES_FOR_THREADS = 4_000_000
/** Below this, shrinking the file frees too little space. */
const MIN_SESSIONS_TO_SHRINK = 20
const SOURCES_PER_TRANSACTION = 256
/** Chunks become visible with their text, so they must not wait longer than this, in milliseconds. */
const MAX_TEXT_AGE_MS = 2000

export class Syncer {
  readonly directory: string
  readonly #threads: number
  readonly #ownWorker: SourceWorker
  /** Kept between syncs, because getting its memory takes longer than reading a few lines. */
  readonly #terms = new TermBuilder()
  readonly #backup: BackupDatabase
  #writer: IndexWriter
  #known: KnownSources
  /** New path of a damaged index, until the next result reports it. */
  #setAside: string | undefined

  /** The caller must hold the lock. */
  constructor(directory: string, threads = Math.max(1, availableParallelism() - 1)) {
    this.directory = directory
    this.#threads = threads
    this.#ownWorker = new SourceWorker(directory)
    this.#backup = openBackupDatabase(directory)
    const { writer, known, setAside } = openOrRebuild(directory)
    this.#writer = writer
    this.#known = known
    this.#setAside = setAside
  }

  close(): void {
    this.#backup.close()
    this.#writer.close()
  }

  /**
   * Like `sync`, but sets aside and rebuilds an index that is damaged or was flagged as damaged.
   * @param everything all sources, for the rebuild
   */
  async syncOrRebuild(
    found: () => AsyncIterable<FoundSource> | Iterable<FoundSource>,
    options: SyncOptions = {},
    everything: typeof found = found,
  ): Promise<SyncResult> {
    try {
      if (!isIndexSuspect(this.directory)) return this.#withSetAside(await this.sync(found(), options))
    } catch (error) {
      if (!isIndexDamage(error, this.directory) && (error instanceof AppError || this.#writer.isSound())) throw error
    }
    this.#writer.close()
    this.#setAside = moveDamagedIndex(this.directory)
    this.#writer = new IndexWriter(this.directory)
    this.#known = new KnownSources([])
    const { paths: _, ...rest } = options
    return this.#withSetAside(await this.sync(everything(), rest))
  }

  #withSetAside(synced: SyncResult): SyncResult {
    const setAside = this.#setAside
    this.#setAside = undefined
    return setAside === undefined ? synced : { ...synced, setAside }
  }

  async sync(
    found: AsyncIterable<FoundSource> | Iterable<FoundSource>,
    options: SyncOptions = {},
  ): Promise<SyncResult> {
    const writer = this.#writer
    const unwanted = new ForgottenFilter(this.#backup.forgotten())
    const swept = await sweepSources(
      found,
      this.#known,
      (id) => writer.resume(id),
      options.paths,
      unwanted.fingerprintSuffix,
    )
    const onChanges = (changes: readonly SessionChange[]): void => {
      if (changes.length > 0) options.onChanges?.(changes)
    }
    const isWanted = options.isWanted ?? (() => true)
    const gone = swept.gone.filter(isWanted)
    onChanges(writer.putGone(gone, swept.back))
    for (const source of gone) this.#known.set({ ...source, gone: true })
    onChanges(this.#removeUnwanted([...this.#known.missed(options.paths)].filter((source) => !isWanted(source))))
    for (const source of swept.back) this.#known.set({ ...source, gone: false })
    await this.#scan(
      swept.changed.map((task) => ({ kind: 'scan', task })),
      options,
      onChanges,
      unwanted,
    )
    const read = options.passes === 'first' ? 0 : await this.#readAll(writer.tasks(), options, onChanges)
    if (read > 0 && !options.signal?.aborted) writer.tidy()
    if (read > MIN_SESSIONS_TO_SHRINK) writer.shrink()
    return {
      sources: swept.sources,
      scanned: swept.changed.length,
      gone: gone.length,
      read,
      stopped: options.signal?.aborted ?? false,
    }
  }

  #removeUnwanted(unwanted: readonly KnownSource[]): readonly SessionChange[] {
    for (const source of unwanted) this.#known.delete(source)
    return this.#writer.putUnwanted(unwanted)
  }

  async #scan(
    jobs: readonly (SyncJob & { kind: 'scan' })[],
    options: SyncOptions,
    onChanges: OnChanges,
    unwanted: ForgottenFilter,
  ): Promise<void> {
    const total_bytes = jobs.reduce((sum, { task }) => sum + (task.size ?? 0), 0)
    const relocated = this.#backup.relocated()
    let batch: ScannedSource[] = []
    let done = 0
    let bytes = 0
    const put = (): void => {
      if (batch.length > 0) onChanges(this.#putScanned(batch))
      for (const scanned of batch) {
        const source = this.#writer.source(scanned)
        if (source) this.#known.set(source)
      }
      batch = []
    }
    for await (const result of this.#run(jobs, jobs.length > 16 ? MIN_BYTES_FOR_THREADS : 0)) {
      if (options.signal?.aborted) break
      const scanned = toScannedSource(result)
      if (!scanned) continue
      batch.push(unwanted.withoutForgotten(withOriginalRecord(scanned, relocated)))
      bytes += scanned.size
      options.onProgress?.({ phase: 'scan', done: ++done, total: jobs.length, bytes, total_bytes })
      if (batch.length >= SOURCES_PER_TRANSACTION) put()
    }
    put()
  }

  /** Writes the batch in one transaction, which is much faster. If a source fails, writes each one separately. */
  #putScanned(batch: readonly ScannedSource[]): readonly SessionChange[] {
    try {
      return this.#writer.putScanned(batch)
    } catch (error) {
      const failure = this.#failureOf(error)
      const [only] = batch
      if (batch.length > 1 || !only) return batch.flatMap((one) => this.#putScanned([one]))
      logSourceFailure(only.path, failure)
      return this.#writer.putScanned([failedScan(only, failure)])
    }
  }

  /** Writes chunks the same way. @returns the sessions that could not be written */
  #putChunks(
    chunks: readonly SessionChunk[],
    terms: BuiltTerms,
    onChanges: OnChanges,
  ): ReadonlyMap<number, SourceFailure> {
    const failed = new Map<number, SourceFailure>()
    try {
      onChanges(this.#writer.putChunks(chunks, terms))
    } catch (error) {
      const failure = this.#failureOf(error)
      const sessions = new Set(chunks.map(({ session }) => session))
      for (const session of sessions) {
        if (sessions.size === 1) failed.set(session, failure)
        else {
          const own = chunks.filter((chunk) => chunk.session === session)
          for (const [failedSession, chunkFailure] of this.#putChunks(own, terms, onChanges))
            failed.set(failedSession, chunkFailure)
        }
      }
    }
    return failed
  }

  /** Throws if the source is not to blame: a damaged index must be rebuilt. */
  #failureOf(error: unknown): SourceFailure {
    if (isIndexDamage(error, this.directory)) throw error
    return toSourceFailure(error)
  }

  async #readAll(tasks: readonly ReadTask[], options: SyncOptions, onChanges: OnChanges): Promise<number> {
    const total_bytes = tasks.reduce((sum, { size, read }) => sum + Math.max(0, size - read), 0)
    const before = new Map(tasks.map(({ session, read }) => [session, read]))
    /** Sessions with a failed chunk: writing later chunks would leave a gap. */
    const failed = new Set<number>()
    const fail = (session: number, failure: SourceFailure): void => {
      const task = tasks.find((one) => one.session === session || one.parts?.some((part) => part.session === session))
      if (!task || failed.has(session)) return
      failed.add(session)
      logSourceFailure(task.path, failure)
      const { source } = task.parts?.find((part) => part.session === session) ?? task
      onChanges(this.#writer.putFailed(session, source, issueForSource(task, failure)))
    }
    /** Reported at the end, because what was read before the failure is written first. */
    const failures: Extract<JobResult, { kind: 'failed' }>[] = []
    /** Chunks whose text is in the segment that is not written yet. */
    let waiting: SessionChunk[] = []
    let waitingSince = 0
    const terms = this.#terms
    // A sync that was stopped left its text.
    if (terms.documents > 0) terms.take()
    const put = (): void => {
      if (waiting.length === 0) return
      const complete = waiting.filter(({ session }) => !failed.has(session))
      for (const [session, failure] of this.#putChunks(complete, terms.take(), onChanges)) fail(session, failure)
      for (const { rows } of waiting) releaseRowBatch(rows)
      waiting = []
    }
    const done = new Set<number>()
    let bytes = 0
    for await (const result of this.#run(
      tasks.map((task) => ({ kind: 'read', task })),
      total_bytes,
    )) {
      if (options.signal?.aborted) break
      if (result.kind === 'failed') failures.push(result)
      if (result.kind !== 'chunk') continue
      const chunk = { ...result.chunk, rows: moveTexts(result.chunk.rows, terms) }
      if (waiting.length === 0) waitingSince = performance.now()
      waiting.push(chunk)
      bytes += Math.max(0, chunk.read - (before.get(chunk.session) ?? 0))
      before.set(chunk.session, chunk.read)
      if (chunk.done) done.add(chunk.session)
      options.onProgress?.({ phase: 'read', done: done.size, total: tasks.length, bytes, total_bytes })
      if (terms.isFull || performance.now() - waitingSince > MAX_TEXT_AGE_MS) put()
    }
    if (!options.signal?.aborted) put()
    for (const { job, failure } of failures)
      if (job.kind === 'read') for (const { session } of job.task.parts ?? [job.task]) fail(session, failure)
    return done.size
  }

  #run(jobs: readonly SyncJob[], bytes: number): AsyncGenerator<JobResult> {
    return bytes >= MIN_BYTES_FOR_THREADS && this.#threads > 0
      ? runInThreads(this.directory, jobs, this.#threads)
      : runInThisThread(this.#ownWorker, jobs)
  }
}

interface OpenedWriter {
  readonly writer: IndexWriter
  readonly known: KnownSources
  readonly setAside: string | undefined
}

/** Sets a damaged index aside. */
function openOrRebuild(directory: string): OpenedWriter {
  try {
    return openWriter(directory)
  } catch (error) {
    if (error instanceof AppError && !isIndexDamage(error, directory)) throw error
    const setAside = moveDamagedIndex(directory)
    return { ...openWriter(directory), setAside }
  }
}

function openWriter(directory: string): OpenedWriter {
  const writer = new IndexWriter(directory)
  try {
    return { writer, known: new KnownSources(writer.sources()), setAside: writer.setAside }
  } catch (error) {
    writer.close()
    throw error
  }
}

/** The result of the first pass, or an empty result if the adapter threw. */
function toScannedSource(result: JobResult): ScannedSource | undefined {
  if (result.kind === 'scanned') return result.scanned
  if (result.kind !== 'failed' || result.job.kind !== 'scan') return undefined
  const { task } = result.job
  logSourceFailure(task.path, result.failure)
  return failedScan(task, result.failure)
}

/**
 * A file that was restored for another directory stays the session that it was: its header gets the first record of the
 * original, by which sources of one session are recognized.
 */
function withOriginalRecord(scanned: ScannedSource, relocated: readonly RelocatedSession[]): ScannedSource {
  const { session } = scanned
  const found = relocated.find(
    ({ claim, first_record }) => claim === session?.id && first_record === session.first_record,
  )
  return session && found ? { ...scanned, session: { ...session, first_record: found.original } } : scanned
}

type OnChanges = (changes: readonly SessionChange[]) => void

/** Brings the index up to date: sweep, first pass, second pass. */
import { availableParallelism } from 'node:os'
import { isDamage, isDoubted, putAside } from '../archive/index-file.ts'
import { type Keep, openKeep } from '../archive/keep.ts'
import { IndexWriter } from '../archive/put.ts'
import type { Change, Chunk, KnownSource, Scanned, Task, Where } from '../archive/record.ts'
import { release } from '../archive/rows/rows.ts'
import { type Failure, failureOf, logFailure } from '../lib/failure.ts'
import { AppError } from '../model/error.ts'
import { Unwanted } from './forget.ts'
import { KnownSources } from './known.ts'
import { failedScan, issueAt } from './passes/failed.ts'
import { runHere, runInThreads } from './passes/threads.ts'
import type { Job, Result } from './passes/work.ts'
import { type Found, sweep } from './sweep.ts'

export interface Progress {
  readonly phase: 'scan' | 'read'
  readonly done: number
  readonly total: number
  readonly bytes: number
  readonly total_bytes: number
}

export interface SyncOptions {
  /** Where sources were looked for; everywhere if not given. */
  readonly paths?: Iterable<string>
  /** What is not wanted leaves the index. */
  readonly isWanted?: (source: Where) => boolean
  readonly onProgress?: (progress: Progress) => void
  readonly onChanges?: (changes: readonly Change[]) => void
  readonly signal?: AbortSignal
  /** Lists and totals need no more than the first pass; search needs both. */
  readonly passes?: 'first' | 'both'
}

export interface Synced {
  readonly sources: number
  readonly scanned: number
  readonly gone: number
  readonly read: number
  /** It was stopped before its end. The next one goes on where it stopped. */
  readonly stopped: boolean
  /** Where a damaged index was put; this one was made anew. */
  readonly setAside?: string
}

/** Less is done before threads are up. */
const WORTH_THREADS = 4_000_000
/** Bytes. */
const MUCH = 20_000_000
/** Each transaction makes a piece of the text's index; the more pieces, the more there is to put together, the fewer, the more memory it takes. */
const ROWS_AT_ONCE = 16_000
const LETTERS_AT_ONCE = 8_000_000
/** After fewer sessions there is no room worth giving back. */
const MANY = 20
const SOURCES_AT_ONCE = 256
/** What was read is seen after so many milliseconds, however little it is. */
const AT_LEAST_EVERY = 3000

export class Syncer {
  readonly directory: string
  readonly #threads: number
  readonly #keep: Keep
  #writer: IndexWriter
  #known: KnownSources
  /** Where a damaged index was put, until that is told. */
  #setAside: string | undefined

  /** Only for who holds the lock. */
  constructor(directory: string, threads = Math.max(1, availableParallelism() - 1)) {
    this.directory = directory
    this.#threads = threads
    this.#keep = openKeep(directory)
    const { writer, known, setAside } = openSound(directory)
    this.#writer = writer
    this.#known = known
    this.#setAside = setAside
  }

  close(): void {
    this.#keep.close()
    this.#writer.close()
  }

  /**
   * The same as `sync`; an index that turns out to be damaged, or that somebody found damaged, is set aside and made again.
   * @param everything all that there is, for an index that is made again
   */
  async syncSound(
    found: () => AsyncIterable<Found> | Iterable<Found>,
    options: SyncOptions = {},
    everything: typeof found = found,
  ): Promise<Synced> {
    try {
      if (!isDoubted(this.directory)) return this.#told(await this.sync(found(), options))
    } catch (error) {
      if (!isDamage(error, this.directory) && (error instanceof AppError || this.#writer.isSound())) throw error
    }
    this.#writer.close()
    this.#setAside = putAside(this.directory)
    this.#writer = new IndexWriter(this.directory)
    this.#known = new KnownSources([])
    const { paths: _, ...rest } = options
    return this.#told(await this.sync(everything(), rest))
  }

  #told(synced: Synced): Synced {
    const setAside = this.#setAside
    this.#setAside = undefined
    return setAside === undefined ? synced : { ...synced, setAside }
  }

  async sync(found: AsyncIterable<Found> | Iterable<Found>, options: SyncOptions = {}): Promise<Synced> {
    const writer = this.#writer
    const unwanted = new Unwanted(this.#keep.forgotten())
    const swept = await sweep(found, this.#known, (id) => writer.resume(id), options.paths, unwanted.sign)
    const tell = (changes: readonly Change[]): void => {
      if (changes.length > 0) options.onChanges?.(changes)
    }
    const isWanted = options.isWanted ?? (() => true)
    const gone = swept.gone.filter(isWanted)
    tell(writer.putGone(gone, swept.back))
    for (const source of gone) this.#known.set({ ...source, gone: true })
    tell(this.#leave([...this.#known.missed(options.paths)].filter((source) => !isWanted(source))))
    for (const source of swept.back) this.#known.set({ ...source, gone: false })
    await this.#scan(
      swept.changed.map((task) => ({ kind: 'scan', task })),
      options,
      tell,
      unwanted,
    )
    const read = options.passes === 'first' ? 0 : await this.#readAll(writer.tasks(), options, tell)
    if (read > MANY) writer.shrink()
    return {
      sources: swept.sources,
      scanned: swept.changed.length,
      gone: gone.length,
      read,
      stopped: options.signal?.aborted ?? false,
    }
  }

  #leave(unwanted: readonly KnownSource[]): readonly Change[] {
    for (const source of unwanted) this.#known.delete(source)
    return this.#writer.putUnwanted(unwanted)
  }

  async #scan(
    jobs: readonly (Job & { kind: 'scan' })[],
    options: SyncOptions,
    tell: Tell,
    unwanted: Unwanted,
  ): Promise<void> {
    const total_bytes = jobs.reduce((sum, { task }) => sum + (task.size ?? 0), 0)
    let batch: Scanned[] = []
    let done = 0
    let bytes = 0
    const put = (): void => {
      if (batch.length > 0) tell(this.#putScanned(batch))
      for (const scanned of batch) {
        const source = this.#writer.source(scanned)
        if (source) this.#known.set(source)
      }
      batch = []
    }
    for await (const result of this.#run(jobs, jobs.length > 16 ? WORTH_THREADS : 0)) {
      if (options.signal?.aborted) break
      const scanned = scannedIn(result)
      if (!scanned) continue
      batch.push(unwanted.leftOut(scanned))
      bytes += scanned.size
      options.onProgress?.({ phase: 'scan', done: ++done, total: jobs.length, bytes, total_bytes })
      if (batch.length >= SOURCES_AT_ONCE) put()
    }
    put()
  }

  /** Together, as one transaction is much quicker than many; where one of them cannot be written, each by itself. */
  #putScanned(batch: readonly Scanned[]): readonly Change[] {
    try {
      return this.#writer.putScanned(batch)
    } catch (error) {
      const failure = this.#failureOf(error)
      const [only] = batch
      if (batch.length > 1 || !only) return batch.flatMap((one) => this.#putScanned([one]))
      logFailure(only.path, failure)
      return this.#writer.putScanned([failedScan(only, failure)])
    }
  }

  /** The same for what was read. @returns the sessions that could not be written */
  #putChunks(chunks: readonly Chunk[], tell: Tell): ReadonlyMap<number, Failure> {
    const failed = new Map<number, Failure>()
    try {
      tell(this.#writer.putChunks(chunks))
    } catch (error) {
      const failure = this.#failureOf(error)
      const sessions = new Set(chunks.map(({ session }) => session))
      for (const session of sessions) {
        if (sessions.size === 1) failed.set(session, failure)
        else {
          const own = chunks.filter((chunk) => chunk.session === session)
          for (const [which, why] of this.#putChunks(own, tell)) failed.set(which, why)
        }
      }
    }
    return failed
  }

  /** Throws what is no source's fault: a damaged index is made again. */
  #failureOf(error: unknown): Failure {
    if (isDamage(error, this.directory)) throw error
    return failureOf(error)
  }

  async #readAll(tasks: readonly Task[], options: SyncOptions, tell: Tell): Promise<number> {
    const total_bytes = tasks.reduce((sum, { size, read }) => sum + Math.max(0, size - read), 0)
    if (total_bytes < MUCH) return this.#read(tasks, total_bytes, options, tell)
    this.#writer.expectMuch(true)
    try {
      return await this.#read(tasks, total_bytes, options, tell)
    } finally {
      this.#writer.expectMuch(false)
    }
  }

  async #read(tasks: readonly Task[], total_bytes: number, options: SyncOptions, tell: Tell): Promise<number> {
    const before = new Map(tasks.map(({ session, read }) => [session, read]))
    /** Sessions of which a stretch is missing: what follows it would leave a gap. */
    const failed = new Set<number>()
    const fail = (session: number, failure: Failure): void => {
      const task = tasks.find((one) => one.session === session || one.parts?.some((part) => part.session === session))
      if (!task || failed.has(session)) return
      failed.add(session)
      logFailure(task.path, failure)
      const { source } = task.parts?.find((part) => part.session === session) ?? task
      tell(this.#writer.putFailed(session, source, issueAt(task, failure)))
    }
    const batch = new Batch((chunks) => {
      const whole = chunks.filter(({ session }) => !failed.has(session))
      for (const [session, failure] of this.#putChunks(whole, tell)) fail(session, failure)
    })
    let done = 0
    let bytes = 0
    for await (const result of this.#run(
      tasks.map((task) => ({ kind: 'read', task })),
      total_bytes,
    )) {
      if (options.signal?.aborted) break
      if (result.kind === 'failed') {
        batch.put()
        if (result.job.kind === 'read')
          for (const { session } of result.job.task.parts ?? [result.job.task]) fail(session, result.failure)
      }
      if (result.kind !== 'chunk') continue
      const { chunk } = result
      batch.add(chunk)
      bytes += Math.max(0, chunk.read - (before.get(chunk.session) ?? 0))
      before.set(chunk.session, chunk.read)
      if (chunk.done) done++
      options.onProgress?.({ phase: 'read', done, total: tasks.length, bytes, total_bytes })
    }
    batch.put()
    return done
  }

  #run(jobs: readonly Job[], bytes: number): AsyncGenerator<Result> {
    return bytes >= WORTH_THREADS && this.#threads > 0
      ? runInThreads(this.directory, jobs, this.#threads)
      : runHere(this.directory, jobs)
  }
}

interface Begun {
  readonly writer: IndexWriter
  readonly known: KnownSources
  readonly setAside: string | undefined
}

/** One that is damaged is set aside. */
function openSound(directory: string): Begun {
  try {
    return open(directory)
  } catch (error) {
    if (error instanceof AppError && !isDamage(error, directory)) throw error
    const setAside = putAside(directory)
    return { ...open(directory), setAside }
  }
}

function open(directory: string): Begun {
  const writer = new IndexWriter(directory)
  try {
    return { writer, known: new KnownSources(writer.sources()), setAside: writer.setAside }
  } catch (error) {
    writer.close()
    throw error
  }
}

/** What the first pass found in a source, or that it found nothing because of a bug. */
function scannedIn(result: Result): Scanned | undefined {
  if (result.kind === 'scanned') return result.scanned
  if (result.kind !== 'failed' || result.job.kind !== 'scan') return undefined
  const { task } = result.job
  logFailure(task.path, result.failure)
  return failedScan(task, result.failure)
}

type Tell = (changes: readonly Change[]) => void

/** Gathers stretches until they are worth a transaction. */
class Batch {
  readonly #put: (chunks: readonly Chunk[]) => void
  #chunks: Chunk[] = []
  #rows = 0
  #letters = 0
  #since = 0

  constructor(put: (chunks: readonly Chunk[]) => void) {
    this.#put = put
  }

  add(chunk: Chunk): void {
    if (this.#chunks.length === 0) this.#since = performance.now()
    this.#chunks.push(chunk)
    this.#rows += chunk.rows.count
    this.#letters += chunk.rows.texts.length
    const isOld = performance.now() - this.#since > AT_LEAST_EVERY
    if (this.#rows >= ROWS_AT_ONCE || this.#letters >= LETTERS_AT_ONCE || isOld) this.put()
  }

  put(): void {
    if (this.#chunks.length === 0) return
    const chunks = this.#chunks
    this.#chunks = []
    this.#rows = 0
    this.#letters = 0
    this.#put(chunks)
    for (const { rows } of chunks) release(rows)
  }
}

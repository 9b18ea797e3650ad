/** Runs jobs on sources in worker threads, or in this thread if threads would cost more than they save. */

import { Worker as Thread } from 'node:worker_threads'
import { loadAgent } from '../agents/load-agents.ts'
import { type BackupDatabase, openBackupDatabase } from '../backup/backup-database.ts'
import { readableSource } from '../backup/readable-source.ts'
import type { ReadTask, ScannedSource, SessionChunk } from '../index/records.ts'
import { type SourceFailure, toSourceFailure } from '../lib/failure.ts'
import { AppError } from '../model/error.ts'
import type { FromThread, ToThread } from './ingest.ts'
import { readSession } from './read-session.ts'
import { type ScanTask, scanSource } from './scan-source.ts'

export type SyncJob =
  | { readonly kind: 'scan'; readonly task: ScanTask }
  | { readonly kind: 'read'; readonly task: ReadTask }

export type JobResult =
  | { readonly kind: 'scanned'; readonly scanned: ScannedSource }
  | { readonly kind: 'chunk'; readonly chunk: SessionChunk }
  /** The source could not be read; the job is over. */
  | { readonly kind: 'failed'; readonly job: SyncJob; readonly failure: SourceFailure }

export class SourceWorker {
  readonly #directory: string
  #backup: BackupDatabase | undefined

  constructor(directory: string) {
    this.#directory = directory
  }

  /** An exception of an adapter becomes an issue of that source only. */
  async *run(job: SyncJob): AsyncGenerator<JobResult> {
    try {
      yield* this.#run(job)
    } catch (error) {
      yield { kind: 'failed', job, failure: toSourceFailure(error) }
    }
  }

  async *#run(job: SyncJob): AsyncGenerator<JobResult> {
    const agent = await loadAgent(job.task.agent)
    if (job.kind === 'scan') {
      const source = readableSource(job.task, () => this.#openBackup())
      yield { kind: 'scanned', scanned: await scanSource(agent, source, job.task) }
      return
    }
    const source = readableSource(job.task, () => this.#openBackup(), job.task.parts ? undefined : job.task.name)
    for await (const chunk of readSession(agent, source, job.task)) yield { kind: 'chunk', chunk }
  }

  /** It can be used again. */
  close(): void {
    this.#backup?.close()
    this.#backup = undefined
  }

  #openBackup(): BackupDatabase {
    this.#backup ??= openBackupDatabase(this.#directory)
    return this.#backup
  }
}

/** Undefined when run from the sources: threads cannot load TypeScript with every supported Node. */
const INGEST_URL = import.meta.url.endsWith('.js') ? new URL('./ingest.js', import.meta.url) : undefined
/**
 * Minimum number of jobs and bytes of logs queued for a thread. With less it would idle while a transaction keeps this
 * thread busy.
 */
const MIN_QUEUED_JOBS = 3
const MIN_QUEUED_BYTES = 32_000_000

/** Runs the jobs in this thread, one after another. */
export async function* runInThisThread(worker: SourceWorker, jobs: Iterable<SyncJob>): AsyncGenerator<JobResult> {
  try {
    for (const job of jobs) yield* worker.run(job)
  } finally {
    worker.close()
  }
}

/** Runs the jobs in threads. Results of one job arrive in order; jobs are interleaved. */
export async function* runInThreads(
  directory: string,
  jobs: Iterable<SyncJob>,
  count: number,
): AsyncGenerator<JobResult> {
  if (!INGEST_URL) {
    yield* runInThisThread(new SourceWorker(directory), jobs)
    return
  }
  const queue = new JobQueue(jobs)
  const arrived: { readonly message: FromThread | ThreadEnded; readonly crew: ReaderThread }[] = []
  let wake: (() => void) | undefined
  let open = 0
  const giveJob = (reader: ReaderThread): boolean => {
    const { queuedJobs, thread } = reader
    if (
      queuedJobs.length >= MIN_QUEUED_JOBS &&
      queuedJobs.reduce((sum, job) => sum + jobSizeOf(job), 0) >= MIN_QUEUED_BYTES
    )
      return false
    const job = queue.next()
    if (!job) return false
    open++
    queuedJobs.push(job)
    thread.postMessage({ kind: 'job', job } satisfies ToThread)
    return true
  }
  const start = (): ReaderThread => {
    const reader: ReaderThread = {
      thread: new Thread(INGEST_URL, { workerData: { directory } }),
      queuedJobs: [],
      isReady: false,
    }
    const onMessage = (message: FromThread | ThreadEnded): void => {
      arrived.push({ message, crew: reader })
      wake?.()
    }
    reader.thread.on('message', onMessage)
    reader.thread.on('error', (error) => onMessage({ kind: 'ended', error }))
    reader.thread.on('exit', () => onMessage({ kind: 'ended', error: new Error('the thread that read it ended') }))
    return reader
  }
  const readers = new Set(Array.from({ length: count }, start))
  try {
    // Round robin, so that a few jobs are spread over all threads.
    while ([...readers].filter(giveJob).length > 0);
    while (open > 0) {
      const next = arrived.shift()
      if (!next) {
        await new Promise<void>((done) => {
          wake = done
        })
        continue
      }
      const { message, crew: reader } = next
      switch (message.kind) {
        case 'ready':
          reader.isReady = true
          break
        case 'broken':
          throw message.error
        case 'refused':
          throw new AppError(message.code, message.phrase)
        case 'ended': {
          if (!readers.delete(reader)) break
          // A thread that failed to start would fail again.
          if (!reader.isReady) throw message.error
          const [job, ...rest] = reader.queuedJobs
          open -= reader.queuedJobs.length
          queue.putBack(rest)
          if (job) yield { kind: 'failed', job, failure: toSourceFailure(message.error) }
          const another = start()
          readers.add(another)
          while (giveJob(another));
          break
        }
        case 'done':
          open--
          reader.queuedJobs.shift()
          while (giveJob(reader));
          break
        default:
          reader.thread.postMessage({ kind: 'taken' } satisfies ToThread)
          yield message
      }
    }
  } finally {
    await Promise.all(Array.from(readers, ({ thread }) => thread.terminate()))
  }
}

/** A thread and its queued jobs, in order. */
interface ReaderThread {
  readonly thread: Thread
  readonly queuedJobs: SyncJob[]
  isReady: boolean
}

/** The thread ended: out of memory, or a bug. */
interface ThreadEnded {
  readonly kind: 'ended'
  readonly error: unknown
}

/** Unassigned jobs, starting with those of threads that ended. */
class JobQueue {
  readonly #jobs: Iterator<SyncJob>
  #back: SyncJob[] = []

  constructor(jobs: Iterable<SyncJob>) {
    this.#jobs = jobs[Symbol.iterator]()
  }

  next(): SyncJob | undefined {
    const back = this.#back.shift()
    if (back) return back
    const next = this.#jobs.next()
    return next.done ? undefined : next.value
  }

  putBack(jobs: readonly SyncJob[]): void {
    this.#back.push(...jobs)
  }
}

const jobSizeOf = ({ kind, task }: SyncJob): number =>
  kind === 'read' ? Math.max(0, task.size - task.read) : (task.size ?? 0)

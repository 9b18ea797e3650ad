/** Worker thread that reads sources for the writing thread. Runs only from the built files. */
import { parentPort, workerData } from 'node:worker_threads'
import { rowBatchBuffers } from '../index/row-batch.ts'
import { AppError, type ErrorCode } from '../model/error.ts'
import type { Phrase } from '../model/phrase.ts'
import { type JobResult, SourceWorker, type SyncJob } from './threads.ts'

/**
 * Limit for results that the writing thread has not taken yet. A higher limit only takes memory; a lower one makes this
 * thread wait for each transaction.
 */
const MAX_UNREAD_BYTES = 8_000_000

const port = parentPort
const worker = new SourceWorker((workerData as { directory: string }).directory)
const jobs: SyncJob[] = []
/** Sizes of the results in transit, oldest first. */
const unreadSizes: number[] = []
let unreadBytes = 0
let resumeSending: (() => void) | undefined
let isBusy = false

export type ToThread = { readonly kind: 'job'; readonly job: SyncJob } | { readonly kind: 'taken' }
export type FromThread =
  | JobResult
  /** The thread has started: errors from now on are caused by a job. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'done' }
  | { readonly kind: 'broken'; readonly error: unknown }
  /** An AppError as plain data, because error classes are lost between threads. */
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly phrase: Phrase }

port?.on('message', (message: ToThread) => {
  if (message.kind === 'job') {
    jobs.push(message.job)
    void runJobs()
    return
  }
  unreadBytes -= unreadSizes.shift() ?? 0
  resumeSending?.()
})

port?.postMessage({ kind: 'ready' } satisfies FromThread)

async function runJobs(): Promise<void> {
  if (isBusy) return
  isBusy = true
  for (let job = jobs.shift(); job; job = jobs.shift()) {
    try {
      for await (const result of worker.run(job)) await sendResult(result)
      port?.postMessage({ kind: 'done' } satisfies FromThread)
    } catch (error) {
      port?.postMessage(toFailureMessage(error))
    }
  }
  isBusy = false
}

const toFailureMessage = (error: unknown): FromThread =>
  error instanceof AppError ? { kind: 'refused', code: error.code, phrase: error.phrase } : { kind: 'broken', error }

const buffersOf = (result: JobResult): readonly ArrayBuffer[] =>
  result.kind === 'chunk' ? rowBatchBuffers(result.chunk.rows) : []

async function sendResult(result: JobResult): Promise<void> {
  const transferred = buffersOf(result)
  const size = transferred.reduce((sum, { byteLength }) => sum + byteLength, 1)
  while (unreadSizes.length > 0 && unreadBytes + size > MAX_UNREAD_BYTES)
    await new Promise<void>((done) => {
      resumeSending = done
    })
  unreadSizes.push(size)
  unreadBytes += size
  port?.postMessage(result satisfies FromThread, [...transferred])
}

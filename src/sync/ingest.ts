/** The thread that reads sources for the one that writes. Runs from the built files only. */
import { parentPort, workerData } from 'node:worker_threads'
import { buffersOf } from '../archive/rows/rows.ts'
import { AppError, type ErrorCode } from '../model/error.ts'
import type { Phrase } from '../model/phrase.ts'
import type { Job, Result } from './passes/work.ts'
import { Worker } from './passes/work.ts'

/** Bytes of results that nobody has taken yet: more would only fill the memory, less would let this thread wait for each transaction. */
const AHEAD = 8_000_000

const port = parentPort
const worker = new Worker((workerData as { directory: string }).directory)
const jobs: Job[] = []
/** The sizes of those that are on their way, the oldest first. */
const unread: number[] = []
let unreadBytes = 0
let resume: (() => void) | undefined
let isBusy = false

export type ToThread = { readonly kind: 'job'; readonly job: Job } | { readonly kind: 'taken' }
export type FromThread =
  | Result
  /** It runs: from now on whatever ends it is a job's doing. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'done' }
  | { readonly kind: 'broken'; readonly error: unknown }
  /** What kind of error it was does not survive the way between threads. */
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly phrase: Phrase }

port?.on('message', (message: ToThread) => {
  if (message.kind === 'job') {
    jobs.push(message.job)
    void work()
    return
  }
  unreadBytes -= unread.shift() ?? 0
  resume?.()
})

port?.postMessage({ kind: 'ready' } satisfies FromThread)

async function work(): Promise<void> {
  if (isBusy) return
  isBusy = true
  for (let job = jobs.shift(); job; job = jobs.shift()) {
    try {
      for await (const result of worker.run(job)) await give(result)
      port?.postMessage({ kind: 'done' } satisfies FromThread)
    } catch (error) {
      port?.postMessage(failure(error))
    }
  }
  isBusy = false
}

const failure = (error: unknown): FromThread =>
  error instanceof AppError ? { kind: 'refused', code: error.code, phrase: error.phrase } : { kind: 'broken', error }

async function give(result: Result): Promise<void> {
  const moved = result.kind === 'chunk' ? buffersOf(result.chunk.rows) : []
  const size = moved.reduce((sum, { byteLength }) => sum + byteLength, 1)
  while (unread.length > 0 && unreadBytes + size > AHEAD)
    await new Promise<void>((done) => {
      resume = done
    })
  unread.push(size)
  unreadBytes += size
  port?.postMessage(result satisfies FromThread, moved)
}

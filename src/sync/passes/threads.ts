/** Spreads work over threads, or does it here where threads would cost more than they give. */
import { Worker as Thread } from 'node:worker_threads'
import { AppError } from '../../model/error.ts'
import type { FromThread, ToThread } from '../ingest.ts'
import { type Job, type Result, Worker } from './work.ts'

/** Threads cannot run the source tree, which no Node understands unaided. */
const INGEST = import.meta.url.endsWith('.js') ? new URL('../ingest.js', import.meta.url) : undefined
/**
 * What a thread is given before it has to ask for more: at least so many jobs, and so many bytes of logs. With less it runs out of work
 * while a transaction keeps this thread busy.
 */
const QUEUED = 3
const QUEUED_BYTES = 32_000_000

/** In this thread, one after another. */
export async function* runHere(directory: string, jobs: Iterable<Job>): AsyncGenerator<Result> {
  const worker = new Worker(directory)
  try {
    for (const job of jobs) yield* worker.run(job)
  } finally {
    worker.close()
  }
}

/** In threads; results come in any order, those of one job in theirs. */
export async function* runInThreads(directory: string, jobs: Iterable<Job>, count: number): AsyncGenerator<Result> {
  if (!INGEST || count < 1) {
    yield* runHere(directory, jobs)
    return
  }
  const queue = jobs[Symbol.iterator]()
  const arrived: { readonly message: FromThread; readonly thread: Thread }[] = []
  let wake: (() => void) | undefined
  let open = 0
  /** The sizes of what each thread has, in the order in which it is done. */
  const given = new Map<Thread, number[]>()
  const give = (thread: Thread): boolean => {
    const sizes = given.get(thread) ?? []
    given.set(thread, sizes)
    if (sizes.length >= QUEUED && sizes.reduce((sum, size) => sum + size, 0) >= QUEUED_BYTES) return false
    const next = queue.next()
    if (next.done) return false
    open++
    sizes.push(sizeOf(next.value))
    thread.postMessage({ kind: 'job', job: next.value } satisfies ToThread)
    return true
  }
  const threads = Array.from({ length: count }, () => {
    const thread = new Thread(INGEST, { workerData: { directory } })
    const tell = (message: FromThread): void => {
      arrived.push({ message, thread })
      wake?.()
    }
    thread.on('message', tell)
    thread.on('error', (error) => tell({ kind: 'failed', error }))
    return thread
  })
  try {
    // In turns, so that a few jobs are for all of them.
    while (threads.filter(give).length > 0);
    while (open > 0) {
      const next = arrived.shift()
      if (!next) {
        await new Promise<void>((done) => {
          wake = done
        })
        continue
      }
      const { message, thread } = next
      if (message.kind === 'failed') throw message.error
      if (message.kind === 'refused') throw new AppError(message.code, message.phrase)
      if (message.kind === 'done') {
        open--
        given.get(thread)?.shift()
        while (give(thread));
        continue
      }
      thread.postMessage({ kind: 'taken' } satisfies ToThread)
      yield message
    }
  } finally {
    await Promise.all(threads.map((thread) => thread.terminate()))
  }
}

const sizeOf = ({ kind, task }: Job): number =>
  kind === 'read' ? Math.max(0, task.size - task.read) : (task.size ?? 0)

/** Spreads work over threads, or does it here where threads would cost more than they give. */
import { Worker as Thread } from 'node:worker_threads'
import { failureOf } from '../../lib/failure.ts'
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
  const queue = new Queue(jobs)
  const arrived: { readonly message: FromThread | Ended; readonly crew: Crew }[] = []
  let wake: (() => void) | undefined
  let open = 0
  const give = (crew: Crew): boolean => {
    const { given, thread } = crew
    if (given.length >= QUEUED && given.reduce((sum, job) => sum + sizeOf(job), 0) >= QUEUED_BYTES) return false
    const job = queue.next()
    if (!job) return false
    open++
    given.push(job)
    thread.postMessage({ kind: 'job', job } satisfies ToThread)
    return true
  }
  const start = (): Crew => {
    const crew: Crew = { thread: new Thread(INGEST, { workerData: { directory } }), given: [], isReady: false }
    const tell = (message: FromThread | Ended): void => {
      arrived.push({ message, crew })
      wake?.()
    }
    crew.thread.on('message', tell)
    crew.thread.on('error', (error) => tell({ kind: 'ended', error }))
    crew.thread.on('exit', () => tell({ kind: 'ended', error: new Error('the thread that read it ended') }))
    return crew
  }
  const crews = new Set(Array.from({ length: count }, start))
  try {
    // In turns, so that a few jobs are for all of them.
    while ([...crews].filter(give).length > 0);
    while (open > 0) {
      const next = arrived.shift()
      if (!next) {
        await new Promise<void>((done) => {
          wake = done
        })
        continue
      }
      const { message, crew } = next
      switch (message.kind) {
        case 'ready':
          crew.isReady = true
          break
        case 'broken':
          throw message.error
        case 'refused':
          throw new AppError(message.code, message.phrase)
        case 'ended': {
          if (!crews.delete(crew)) break
          // One that never ran would not run the next time either.
          if (!crew.isReady) throw message.error
          const [job, ...rest] = crew.given
          open -= crew.given.length
          queue.putBack(rest)
          if (job) yield { kind: 'failed', job, failure: failureOf(message.error) }
          const another = start()
          crews.add(another)
          while (give(another));
          break
        }
        case 'done':
          open--
          crew.given.shift()
          while (give(crew));
          break
        default:
          crew.thread.postMessage({ kind: 'taken' } satisfies ToThread)
          yield message
      }
    }
  } finally {
    await Promise.all(Array.from(crews, ({ thread }) => thread.terminate()))
  }
}

/** A thread, and the jobs that it has, in the order in which they are done. */
interface Crew {
  readonly thread: Thread
  readonly given: Job[]
  isReady: boolean
}

/** The thread is no more: out of memory, or ended by a bug. */
interface Ended {
  readonly kind: 'ended'
  readonly error: unknown
}

/** Jobs that nobody has; those of a thread that ended come first. */
class Queue {
  readonly #jobs: Iterator<Job>
  #back: Job[] = []

  constructor(jobs: Iterable<Job>) {
    this.#jobs = jobs[Symbol.iterator]()
  }

  next(): Job | undefined {
    const back = this.#back.shift()
    if (back) return back
    const next = this.#jobs.next()
    return next.done ? undefined : next.value
  }

  putBack(jobs: readonly Job[]): void {
    this.#back.push(...jobs)
  }
}

const sizeOf = ({ kind, task }: Job): number =>
  kind === 'read' ? Math.max(0, task.size - task.read) : (task.size ?? 0)

/** One piece of work on one source, done in this thread. */
import type { Agent } from '../../agents/agent.ts'
import { allAgents } from '../../agents/all.ts'
import { agentServing } from '../../agents/roots.ts'
import { type Keep, openKeep } from '../../archive/keep.ts'
import type { Chunk, Scanned, Task } from '../../archive/record.ts'
import { type Failure, failureOf } from '../../lib/failure.ts'
import type { AgentId } from '../../model/ids.ts'
import { sourceAt } from '../keep/sources.ts'
import { readSession } from './read-session.ts'
import { type ScanTask, scanSource } from './scan-source.ts'

export type Job = { readonly kind: 'scan'; readonly task: ScanTask } | { readonly kind: 'read'; readonly task: Task }

export type Result =
  | { readonly kind: 'scanned'; readonly scanned: Scanned }
  | { readonly kind: 'chunk'; readonly chunk: Chunk }
  /** The source could not be read: nothing more comes of this job. */
  | { readonly kind: 'failed'; readonly job: Job; readonly failure: Failure }

export class Worker {
  readonly #directory: string
  #keep: Keep | undefined

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Whatever an adapter throws costs its own source an issue. */
  async *run(job: Job): AsyncGenerator<Result> {
    try {
      yield* this.#run(job)
    } catch (error) {
      yield { kind: 'failed', job, failure: failureOf(error) }
    }
  }

  async *#run(job: Job): AsyncGenerator<Result> {
    const agent = await agentOf(job.task.agent)
    if (job.kind === 'scan') {
      const source = sourceAt(job.task, () => this.#kept())
      yield { kind: 'scanned', scanned: await scanSource(agent, source, job.task) }
      return
    }
    const source = sourceAt(job.task, () => this.#kept(), job.task.parts ? undefined : job.task.name)
    for await (const chunk of readSession(agent, source, job.task)) yield { kind: 'chunk', chunk }
  }

  close(): void {
    this.#keep?.close()
    this.#keep = undefined
  }

  #kept(): Keep {
    this.#keep ??= openKeep(this.#directory)
    return this.#keep
  }
}

export const agentOf = async (id: AgentId): Promise<Agent> => agentServing(id, await allAgents())

/** One piece of work on one source, done in this thread. */
import { loadAgent } from '../../agents/load-agents.ts'
import { type BackupDatabase, openBackupDatabase } from '../../backup/backup-database.ts'
import { readableSource } from '../../backup/readable-source.ts'
import type { ReadTask, ScannedSource, SessionChunk } from '../../index/records.ts'
import { type SourceFailure, toSourceFailure } from '../../lib/failure.ts'
import { readSession } from './read-session.ts'
import { type ScanTask, scanSource } from './scan-source.ts'

export type SyncJob =
  | { readonly kind: 'scan'; readonly task: ScanTask }
  | { readonly kind: 'read'; readonly task: ReadTask }

export type JobResult =
  | { readonly kind: 'scanned'; readonly scanned: ScannedSource }
  | { readonly kind: 'chunk'; readonly chunk: SessionChunk }
  /** The source could not be read: nothing more comes of this job. */
  | { readonly kind: 'failed'; readonly job: SyncJob; readonly failure: SourceFailure }

export class SourceWorker {
  readonly #directory: string
  #backup: BackupDatabase | undefined

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Whatever an adapter throws costs its own source an issue. */
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

  close(): void {
    this.#backup?.close()
    this.#backup = undefined
  }

  #openBackup(): BackupDatabase {
    this.#backup ??= openBackupDatabase(this.#directory)
    return this.#backup
  }
}

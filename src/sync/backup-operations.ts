/** What commands and pages do with the backup as a whole: fill it with files, watch, report, make room. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent, Source } from '../agents/agent.ts'
import { BACKUP_FILE } from '../backup/backup-database.ts'
import { readBackupOverview } from '../backup/backup-overview.ts'
import { backUpFile } from '../backup/backup-service.ts'
import { agentStatuses, type BackupStatus } from '../backup/backup-status.ts'
import { fileProbeAt } from '../backup/file-backups.ts'
import { type PruneStep, planPrune } from '../backup/prune.ts'
import type { SyncContext } from './list-sources.ts'
import type { BackupWatch, BackupWatchOptions } from './watch-backup.ts'

export interface BackupOperationsOptions {
  readonly directory: string
  readonly context: () => Promise<SyncContext>
  /** Logs at a path that the user named. */
  readonly logs: (path: string) => AsyncIterable<FoundLog>
}

interface FoundLog {
  readonly agent: Agent
  readonly source: Source
  /** No agent recognizes it. */
  readonly unknown: boolean
}

type OnFile = NonNullable<SyncContext['onFile']>

/** A part of the limit, so that there is room for new files. */
const PRUNE_TO = 0.9

export class BackupOperations {
  readonly #options: BackupOperationsOptions

  constructor(options: BackupOperationsOptions) {
    this.#options = options
  }

  /**
   * Backs up files: those that the settings and agents say, or all at these paths.
   * @param onFile called with each file
   */
  async backUpFiles(paths: readonly string[], onFile: OnFile): Promise<void> {
    const context = await this.#options.context()
    if (paths.length === 0) {
      const { backUpAllFiles } = await import('./watch-backup.ts')
      for await (const _ of backUpAllFiles({ ...context, onFile }));
      return
    }
    const { limit } = context.policy.settings
    for (const path of paths)
      for await (const { agent, source, unknown } of this.#options.logs(path))
        if (!unknown && !agent.volatile && source.key === undefined)
          onFile(source, await backUpFile(agent, source, context.backup, { at: context.now(), limit }))
  }

  /** Keeps backing up files as they change. */
  async watchFiles(onFile: OnFile, onProblem: BackupWatchOptions['onProblem']): Promise<BackupWatch> {
    const { watchFileBackups } = await import('./watch-backup.ts')
    return watchFileBackups({ ...(await this.#options.context()), onFile }, { onProblem })
  }

  /** What is backed up, why, since when, and how much. Changes nothing. */
  async status(): Promise<BackupStatus> {
    const { policy, places, agents } = await this.#options.context()
    const { limit } = policy.settings
    const path = join(this.#options.directory, BACKUP_FILE)
    const overview = readBackupOverview(path)
    const used = (overview?.bytes ?? 0) - (overview?.free_bytes ?? 0)
    const isUsed = (agent: Agent): boolean => places.some((place) => place.agent === agent && existsSync(place.root))
    return {
      path,
      bytes: overview?.bytes ?? 0,
      ...(limit !== undefined && { limit_bytes: limit }),
      without_backup: limit !== undefined && used >= limit ? await this.#countWithoutBackup() : 0,
      agents: agentStatuses(agents, isUsed, policy, overview),
    }
  }

  async #countWithoutBackup(): Promise<number> {
    const { backup } = await this.#options.context()
    const known = new Set(backup.files.list().map(({ probe }) => probe))
    let count = 0
    for await (const path of this.#wantedFiles()) if (!known.has(fileProbeAt(path) ?? '')) count++
    return count
  }

  async *#wantedFiles(): AsyncGenerator<string> {
    const { places, policy, isWanted } = await this.#options.context()
    for (const { agent, root } of places) {
      if (agent.volatile || !existsSync(root)) continue
      for await (const source of agent.find(root))
        if (source.key === undefined && isWanted(source) && (await policy.decideFor(agent, source)).kept)
          yield source.path
    }
  }

  /** What would be dropped: what the settings no longer ask for, then the oldest, until the backup is below its limit. */
  async planPrune(): Promise<{
    readonly steps: readonly PruneStep[]
    readonly bytes: number
    readonly limit_bytes?: number
  }> {
    const { policy, backup } = await this.#options.context()
    const wanted = new Set<string>()
    for await (const path of this.#wantedFiles()) wanted.add(path)
    const bytes = backup.files.usedBytes()
    const { limit } = policy.settings
    const files = backup.files.listWithSizes().filter(({ side_of }) => side_of === undefined)
    const excess = limit === undefined ? 0 : bytes - limit * PRUNE_TO
    const steps = planPrune({ files, excess, isWanted: ({ path }) => wanted.has(path) })
    return { steps, bytes, ...(limit !== undefined && { limit_bytes: limit }) }
  }

  async prune(steps: readonly PruneStep[]): Promise<void> {
    const { backup } = await this.#options.context()
    backup.files.drop(steps.map(({ file }) => file.id))
  }
}

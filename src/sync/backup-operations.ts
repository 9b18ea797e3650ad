/** What commands and pages do with the backup as a whole: fill it with files, watch, report, make room. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent, ResumeCommand, Source } from '../agents/agent.ts'
import { agentServing, hasSessionFiles, isSessionFileOf } from '../agents/agent-roots.ts'
import { backUpFiles } from '../backup/back-up-files.ts'
import { BACKUP_FILE } from '../backup/backup-database.ts'
import { readBackupOverview } from '../backup/backup-overview.ts'
import { BackupPolicy } from '../backup/backup-policy.ts'
import { agentStatuses, type BackupStatus } from '../backup/backup-status.ts'
import { thisMachineName } from '../backup/exchange/machine.ts'
import { type ReceivedReport, receiveBackups } from '../backup/exchange/receive.ts'
import { type SentReport, sendBackup } from '../backup/exchange/send.ts'
import { fileProbeAt } from '../backup/file-backups.ts'
import type { BackedUpFile } from '../backup/file-table.ts'
import { firstSession } from '../backup/first-session.ts'
import { type PruneStep, planPrune } from '../backup/prune.ts'
import { copyIdOf } from '../backup/readable-source.ts'
import { undoInstalledRow } from '../backup/restore.ts'
import { type InstalledFile, installFile, undoInstalledFile } from '../backup/restore-file.ts'
import type { Restored } from '../backup/restored-table.ts'
import type { VerifyOptions, VerifyReport } from '../backup/verify.ts'
import { takeIndexLock } from '../index/lock.ts'
import type { IndexReader } from '../index/reader.ts'
import { AppError } from '../model/error.ts'
import type { SessionId } from '../model/ids.ts'
import type { Phrase } from '../model/phrase.ts'
import type { Session } from '../model/session.ts'
import { forgetInIndex, forgetSession } from './forget-session.ts'
import { listAllSources, type SyncContext } from './list-sources.ts'
import type { BackupWatch, BackupWatchOptions } from './watch-backup.ts'

export interface BackupOperationsOptions {
  readonly directory: string
  readonly context: () => Promise<SyncContext>
  readonly index: IndexReader
  /** Logs at a path that the user named. */
  readonly logs: (path: string) => AsyncIterable<FoundLog>
}

interface FoundLog {
  readonly agent: Agent
  readonly source: Source
  /** No agent recognizes it. */
  readonly unknown: boolean
}

export interface EraseReport {
  readonly session: SessionId
  /** Exchange folders in which it is replaced by a tombstone. */
  readonly folders: readonly string[]
  readonly unreached: readonly Unreached[]
}

export interface Unreached {
  /** The program's own file, a folder that this machine wrote to, or a machine that may have taken it over. */
  readonly what: 'original' | 'exchange_folder' | 'machine'
  readonly path: string
  readonly reason?: Phrase
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
      for await (const { agent, source, unknown } of this.#options.logs(path)) {
        if (unknown || source.key !== undefined || !isSessionFileOf(agent, source.path)) continue
        const [done] = await backUpFiles([{ agent, source }], context.backup, { at: context.now(), limit })
        if (done) onFile(source, done)
      }
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
      if (!hasSessionFiles(agent) || !existsSync(root)) continue
      for await (const source of agent.find(root))
        if (
          source.key === undefined &&
          isSessionFileOf(agent, source.path) &&
          isWanted(source) &&
          (await policy.decideFor(agent, source)).kept
        )
          yield source.path
    }
  }

  /** Backed-up files of an indexed session, the one with the most content first. */
  async filesOf(session: SessionId): Promise<readonly BackedUpFile[]> {
    const { backup } = await this.#options.context()
    const sources = this.#options.index.allSourcesOf(session)
    const ids = new Set(sources.map(({ key }) => copyIdOf(key ?? undefined)))
    const paths = new Set(sources.map(({ path }) => path))
    return backup.files
      .list()
      .filter(({ id, path, side_of }) => side_of === undefined && (ids.has(id) || paths.has(path)))
      .sort((a, b) => b.size - a.size || b.id - a.id)
  }

  /** Puts a backed-up file where its program resumes it. Throws AppError with nothing changed. */
  async installFile(
    session: Session,
    file: BackedUpFile,
    options: { readonly directory?: string; readonly mayReplaceLonger: boolean },
  ): Promise<InstalledFile & { readonly resume?: ResumeCommand }> {
    const { backup, agents, environment, now } = await this.#options.context()
    const agent = agentServing(file.agent, agents)
    const { cwd } = session
    const { directory } = options
    if (directory !== undefined && cwd === undefined)
      throw new AppError(
        'nothing_readable',
        `${session.id} has no directory that could be replaced. Restore it without --directory and --here.`,
        `${session.id} には置き換えるディレクトリーがありません。--directory と --here を付けずに戻してください。`,
      )
    const paths = new Set([file.path])
    const all = backup.files.list()
    const owners = new Set(all.filter(({ path }) => paths.has(path)).map(({ id }) => id))
    const side = all.filter(({ side_of }) => side_of !== undefined && owners.has(side_of))
    const installed = installFile(agent, file, side, backup.files, {
      environment,
      now: new Date(now()),
      backups: join(this.#options.directory, 'backups'),
      native_id: session.native_id,
      session: session.id,
      mayReplaceLonger: options.mayReplaceLonger,
      ...(directory !== undefined &&
        cwd !== undefined &&
        directory !== cwd && { directory: { from: cwd, to: directory } }),
    })
    backup.addRestored(installed.record)
    const placed = await firstSession(agent, { agent: file.agent, path: installed.path })
    if (placed && placed.first_record !== session.first_record)
      backup.addRelocated({
        claim: placed.id,
        first_record: placed.first_record,
        original: session.first_record,
      })
    const resume = agent.resume?.({ ...session, ...(directory !== undefined && { cwd: directory }) })
    return resume ? { ...installed, resume } : installed
  }

  /** Undoes the last restore, or the last one of a session. Throws AppError with nothing changed. */
  async undoRestore(session?: string): Promise<Restored> {
    const { backup, agents, environment, now } = await this.#options.context()
    const last = backup.lastRestored(session)
    if (!last)
      throw new AppError(
        'not_found',
        session === undefined ? 'There is no restore to undo.' : `There is no restore of ${session} to undo.`,
        session === undefined ? '取り消せる復元はありません。' : `${session} には取り消せる復元がありません。`,
      )
    const { id, ...restored } = last
    const agent = agentServing(last.agent, agents)
    if (last.key === undefined) undoInstalledFile(agent, restored, environment)
    else await undoInstalledRow(agent, restored, new Date(now()), join(this.#options.directory, 'backups'))
    backup.removeRestored(id)
    return restored
  }

  /** Puts everything that this machine has into an exchange folder; backs it up first. */
  async send(folder: string, passphrase: string): Promise<SentReport> {
    return this.#withExchangeLock('backup --to', async () => {
      const context = await this.#options.context()
      const { environment, backup, now } = context
      const policy = new BackupPolicy({ ...context.policy.settings, keep: 'all' }, environment)
      for await (const _ of listAllSources({ ...context, policy }));
      const machine = thisMachineName(this.#options.directory)
      const sent = sendBackup(backup, { folder, passphrase, machine })
      backup.addExchangeFolder(folder, now())
      return sent
    })
  }

  /** Takes over what other machines have put into an exchange folder. */
  async receive(folder: string, passphrase: string): Promise<ReceivedReport> {
    return this.#withExchangeLock('backup --from', async () => {
      const { agents, backup, now } = await this.#options.context()
      const self = thisMachineName(this.#options.directory)
      const report = await receiveBackups(backup, { folder, passphrase, self, agents, now })
      if (report.erased_sessions.length > 0) backup.rewrite()
      for (const session of report.erased_sessions) forgetInIndex(this.#options.directory, session)
      return report
    })
  }

  /**
   * Removes a session from everything that we wrote, and says what could not be reached.
   * @param passphrase of the exchange folders
   */
  async erase(session: SessionId, passphrase: string | undefined): Promise<EraseReport> {
    const { backup, now } = await this.#options.context()
    const files = await this.filesOf(session)
    const items = [`row ${session}`, ...files.map(({ id }) => `file ${id}`)]
    const sources = this.#options.index.allSourcesOf(session).map(({ path }) => path)
    const machines = backup.received.machineNames()
    const saved = backup.takeRestored(session)
    forgetSession(this.#options.directory, this.#options.index, backup, session, now(), items)
    for (const path of saved) rmSync(path, { force: true })
    const folders: string[] = []
    const unreached: Unreached[] = []
    for (const folder of backup.exchangeFolders())
      try {
        if (passphrase === undefined) throw new AppError('bad_usage', 'No passphrase', 'パスフレーズがありません')
        await this.send(folder, passphrase)
        folders.push(folder)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        unreached.push({ what: 'exchange_folder', path: folder, reason: error.phrase })
      }
    for (const path of new Set(sources)) if (existsSync(path)) unreached.push({ what: 'original', path })
    for (const name of machines) unreached.push({ what: 'machine', path: name })
    return { session, folders, unreached }
  }

  /** One process of a machine uses exchange folders at a time. */
  async #withExchangeLock<T>(what: string, work: () => Promise<T>): Promise<T> {
    const attempt = takeIndexLock(join(this.#options.directory, 'exchange'), what)
    if (attempt.kind === 'held')
      throw new AppError(
        'busy',
        'Another process is exchanging backups. Try again when it has finished.',
        '別のプロセスがバックアップをやり取りしています。終わってから、もう一度実行してください。',
      )
    try {
      return await work()
    } finally {
      attempt.lock.release()
    }
  }

  /** Checks everything in the backup. */
  async verify(options: VerifyOptions): Promise<VerifyReport> {
    return (await this.#options.context()).backup.verify(options)
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

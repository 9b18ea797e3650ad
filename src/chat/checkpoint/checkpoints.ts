/** Checkpoints of a conversation: snapshots of the project's files, their list, and restoring one. */
import { mkdirSync } from 'node:fs'
import { dirname, join, parse } from 'node:path'
import {
  checkpointAfterTool,
  checkpointAfterTurn,
  createCheckpoint,
  type CheckpointResult as Done,
  diffCheckpoints,
  type FileChange,
  type Git,
  initCheckpoints,
  noteUserMessage,
  restoreCheckpoint,
} from '../../conversation/checkpoint.ts'
import { journalName } from '../../conversation/journal/journal-name.ts'
import type { Checkpoint, CheckpointManager, History } from '../../conversation/record.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { isGitInstalled, isInWorkTree, removeRepository } from '../../lib/git/run-git.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { createShadowGit, removeStaleLocks, type ShadowRepository } from './shadow-repository.ts'

export type CheckpointOutcome<T> = { readonly ok: true; readonly value: T } | CheckpointFailure

interface CheckpointFailure {
  readonly ok: false
  readonly reason: Phrase
}

const checkpointFailure = (reason: Phrase): CheckpointFailure => ({ ok: false, reason })

const checkpointNotFound = (tag: string): CheckpointFailure =>
  checkpointFailure(phrase(`Checkpoint '${tag}' not found`, `チェックポイント「${tag}」はありません`))

export const gitFailure = (reason: string): CheckpointFailure =>
  checkpointFailure(phrase(reason, `git の処理に失敗しました（${reason}）`))

export interface CheckpointRow {
  readonly tag: string
  readonly timestamp: string
  readonly description: string
  readonly isTurn: boolean
  readonly toolName: string | null
  /** Changes since the previous checkpoint, if known. */
  readonly files: { readonly added: number; readonly modified: number; readonly deleted: number } | null
  /** Number of history entries. */
  readonly length: number
}

/** Turns only. @param limit keeps the first ones */
export function listCheckpoints(
  { checkpoint_manager: manager }: ConversationState,
  limit?: number,
): readonly CheckpointRow[] {
  if (!manager) return []
  const rows = manager.checkpoints.filter(({ is_turn }) => is_turn).map((one) => rowOf(one, manager))
  return limit === undefined ? rows : rows.slice(0, limit)
}

/** A turn, followed by the checkpoints of its tools. */
export function expandCheckpoint(
  { checkpoint_manager: manager }: ConversationState,
  tag: string,
): CheckpointOutcome<readonly CheckpointRow[]> {
  const found = manager?.checkpoints.find((one) => one.tag === tag)
  if (!manager || !found) return checkpointNotFound(tag)
  const tools = manager.checkpoints.filter((one) => !one.is_turn && one.tag.startsWith(`${tag}.`))
  return { ok: true, value: [found, ...tools].map((one) => rowOf(one, manager)) }
}

function rowOf(checkpoint: Checkpoint, { file_stats_cache }: CheckpointManager): CheckpointRow {
  const { tag, timestamp, description, is_turn, tool_name, history_snapshot } = checkpoint
  const stats = /^\d/.test(tag) ? file_stats_cache.get(tag) : undefined
  return {
    tag,
    timestamp,
    description,
    isTurn: is_turn,
    toolName: tool_name,
    files: stats
      ? { added: Number(stats.added), modified: Number(stats.modified), deleted: Number(stats.deleted) }
      : null,
    length: history_snapshot.length,
  }
}

/** Changes since the previous checkpoint: `+1 ~2 -0`. */
export const checkpointFilesText = ({ files }: CheckpointRow): string =>
  files ? `+${files.added} ~${files.modified} -${files.deleted}` : ''

/** `2026-02-03 09:15:00`, local. */
export const checkpointTimeText = ({ timestamp }: CheckpointRow): string => timestamp.slice(0, 19).replace('T', ' ')

/** Access to the journal that stores the list. */
interface CheckpointHost {
  state(): ConversationState
  /** Writes the events that lead to this state. */
  change(next: ConversationState): void
  /** Records in the journal that files and history were restored from this checkpoint. */
  restored(tag: string, hard: boolean): void
}

interface CheckpointOptions {
  readonly directory: string
  readonly cwd: string
  readonly home: string
  readonly now: () => string
}

type CheckpointStart =
  | { readonly kind: 'on'; readonly how: 'new' | 'resumed' }
  | { readonly kind: 'off'; readonly reason: Phrase }

interface CheckpointDiff {
  readonly changes: readonly FileChange[]
  readonly stat: string
}

interface RestoredCheckpoint {
  readonly length: number
  /** Tag that restores the previous files and history. */
  readonly undo: string
}

const UNDO_TAG = 'undo'

const NO_CHECKPOINTS = phrase(
  'Checkpoints are off. Type /checkpoint init to start them.',
  'チェックポイントは無効です。/checkpoint init で始められます。',
)
const IN_TANGENT = phrase(
  'Checkpoints are not available in a tangent. Type /tangent to leave it first.',
  '脇道ではチェックポイントを使えません。先に /tangent で戻ってください。',
)

/** Runs one operation at a time. Git failures are values. */
export class Checkpoints {
  readonly #host: CheckpointHost
  readonly #options: CheckpointOptions
  #last: Promise<unknown> = Promise.resolve()
  #isUnlocked = false

  constructor(host: CheckpointHost, options: CheckpointOptions) {
    this.#host = host
    this.#options = options
  }

  get isOn(): boolean {
    return this.#host.state().checkpoint_manager !== null
  }

  /**
   * @param isRequested by a person: also allowed outside a git work tree
   * @param beginning history of the first checkpoint; default: the current history
   */
  start(isRequested: boolean, beginning?: History): Promise<CheckpointStart> {
    return this.#inTurn(async () => {
      if (!(await isGitInstalled())) return this.#off(NO_GIT)
      const manager = this.#host.state().checkpoint_manager
      if (manager && (await this.#resumes(manager))) return { kind: 'on', how: 'resumed' }
      const { cwd, home } = this.#options
      if (!isRequested && !(await isInWorkTree(cwd))) return this.#off(NO_WORK_TREE)
      if (cwd === home || cwd === parse(cwd).root)
        return this.#off(
          phrase(`${cwd} is too large for checkpoints.`, `${cwd} は広すぎるため、チェックポイントを作りません。`),
        )
      return this.#begin(beginning ?? this.#host.state().history)
    })
  }

  async #begin(history: History): Promise<CheckpointStart> {
    const shadow = this.#newShadow(this.#host.state().conversation_id)
    await removeRepository(shadow.repository)
    mkdirSync(dirname(shadow.repository), { recursive: true, mode: 0o700 })
    const created = await initCheckpoints(createShadowGit(shadow), {
      shadowRepoPath: shadow.repository,
      workTreePath: shadow.workTree,
      history,
      timestamp: this.#options.now(),
    })
    if (!created.ok)
      return this.#off(
        phrase(
          `Checkpoints could not be created: ${created.reason}.`,
          `チェックポイントを作れません（${created.reason}）。`,
        ),
      )
    this.#setManager(created.value)
    return { kind: 'on', how: 'new' }
  }

  /** False if the repository is missing or from another machine. */
  async #resumes(manager: CheckpointManager): Promise<boolean> {
    if (!this.#isOwn(manager)) return false
    const shadow = this.#shadowOf(manager)
    const tag = `refs/tags/${manager.checkpoints.at(-1)?.tag ?? '0'}`
    const known = await createShadowGit(shadow)([`--git-dir=${shadow.repository}`, 'rev-parse', '--verify', '-q', tag])
    return known.code === 0
  }

  #off(reason: Phrase): CheckpointStart {
    if (this.isOn) this.#setManager(null)
    return { kind: 'off', reason }
  }

  noteUserMessage(prompt: string): void {
    const manager = this.#active()
    if (manager) this.#setManager(noteUserMessage(manager, prompt))
  }

  /** Only if the tool changed files. Returns the tag of the new checkpoint. */
  afterTool(toolName: string, description: string): Promise<CheckpointOutcome<string | undefined>> {
    return this.#create((manager, situation) =>
      checkpointAfterTool(this.#git(manager), manager, { ...situation, toolName, description }),
    )
  }

  afterTurn(): Promise<CheckpointOutcome<string | undefined>> {
    return this.#create((manager, situation) => checkpointAfterTurn(this.#git(manager), manager, situation))
  }

  #create(
    work: (
      manager: CheckpointManager,
      situation: { readonly history: ConversationState['history']; readonly timestamp: string },
    ) => Promise<Done<CheckpointManager>>,
  ): Promise<CheckpointOutcome<string | undefined>> {
    return this.#inTurn(async () => {
      const manager = this.#active()
      if (!manager) return { ok: true, value: undefined }
      const { history } = this.#host.state()
      const created = await work(manager, { history, timestamp: this.#options.now() })
      if (!created.ok) return gitFailure(created.reason)
      if (created.value !== manager) this.#setManager(created.value)
      // A tool's checkpoint precedes that of its turn, which is made again with each tool.
      const added = created.value.checkpoints.filter((one) => !manager.checkpoints.includes(one))
      return { ok: true, value: added[0]?.tag }
    })
  }

  /** @param to default: the newest checkpoint, not the current files */
  diff(from: string, to = 'HEAD'): Promise<CheckpointOutcome<CheckpointDiff>> {
    return this.#inTurn(async () => {
      const manager = this.#host.state().checkpoint_manager
      if (!manager || !this.#isOwn(manager)) return checkpointFailure(NO_CHECKPOINTS)
      const unknown = [from, to].find((tag) => tag !== 'HEAD' && !manager.checkpoints.some((one) => one.tag === tag))
      if (unknown !== undefined) return checkpointNotFound(unknown)
      const git = this.#git(manager)
      const changes = await diffCheckpoints(git, manager, from, to)
      if (!changes.ok) return gitFailure(changes.reason)
      const { stdout } = await git([`--git-dir=${manager.shadow_repo_path}`, 'diff', '--stat', from, to, '--'])
      return { ok: true, value: { changes: changes.value, stat: stdout } }
    })
  }

  /** First saves the current state as `undo`. @param hard deletes files that were created later */
  restore(tag: string, hard: boolean): Promise<CheckpointOutcome<RestoredCheckpoint>> {
    return this.#inTurn(async () => {
      const state = this.#host.state()
      const manager = state.checkpoint_manager
      if (!manager || !this.#isOwn(manager)) return checkpointFailure(NO_CHECKPOINTS)
      if (state.tangent_state) return checkpointFailure(IN_TANGENT)
      const target = manager.checkpoints.find((one) => one.tag === tag)
      if (!target) return checkpointNotFound(tag)
      const git = this.#git(manager)
      // Restoring `undo` must not overwrite it first.
      const undoCreated =
        tag === UNDO_TAG ? ({ ok: true, value: manager } as const) : await this.#createUndo(manager, tag)
      if (!undoCreated.ok) return gitFailure(undoCreated.reason)
      if (undoCreated.value !== manager) this.#setManager(undoCreated.value)
      const done = await restoreCheckpoint(git, this.#host.state(), tag, hard)
      if (!done.ok) return gitFailure(done.reason)
      this.#host.restored(tag, hard)
      return { ok: true, value: { length: done.value.history.length, undo: UNDO_TAG } }
    })
  }

  #createUndo(manager: CheckpointManager, tag: string): Promise<Done<CheckpointManager>> {
    return createCheckpoint(this.#git(manager), manager, {
      tag: UNDO_TAG,
      description: `Before going back to ${tag}`,
      isTurn: true,
      toolName: null,
      history: this.#host.state().history,
      timestamp: this.#options.now(),
    })
  }

  /** Deletes the repository. The conversation stays unchanged. */
  clean(): Promise<CheckpointOutcome<true>> {
    return this.#inTurn(async () => {
      const manager = this.#host.state().checkpoint_manager
      if (!manager) return checkpointFailure(NO_CHECKPOINTS)
      if (this.#isOwn(manager)) await removeRepository(manager.shadow_repo_path)
      this.#setManager(null)
      return { ok: true, value: true }
    })
  }

  /** Undefined during a tangent, which only changes the conversation. */
  #active(): CheckpointManager | null {
    const { tangent_state, checkpoint_manager: manager } = this.#host.state()
    return tangent_state || !manager || !this.#isOwn(manager) ? null : manager
  }

  /** An imported state may name a repository whose configuration runs programs. */
  #isOwn({ shadow_repo_path }: CheckpointManager): boolean {
    return shadow_repo_path === this.#newShadow(this.#host.state().conversation_id).repository
  }

  #setManager(manager: CheckpointManager | null): void {
    this.#host.change({ ...this.#host.state(), checkpoint_manager: manager })
  }

  /** A conversation has one writer, so a lock of an earlier process is stale. */
  #git(manager: CheckpointManager): Git {
    const shadow = this.#shadowOf(manager)
    if (!this.#isUnlocked) removeStaleLocks(shadow)
    this.#isUnlocked = true
    return createShadowGit(shadow)
  }

  #shadowOf({ shadow_repo_path, work_tree_path }: CheckpointManager): ShadowRepository {
    return { repository: shadow_repo_path, workTree: work_tree_path, dataDirectory: this.#options.directory }
  }

  #newShadow(id: string): ShadowRepository {
    const { directory, cwd } = this.#options
    const repository = join(directory, 'checkpoints', journalName(id).replace(/\.jsonl$/, '.git'))
    return { repository, workTree: cwd, dataDirectory: directory }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work)
    this.#last = mine
    return mine
  }
}

const NO_GIT = phrase(
  'Checkpoints need git, which is not installed.',
  'git がインストールされていないため、チェックポイントは使えません。',
)
const NO_WORK_TREE = phrase(
  'Checkpoints are off, because this is not a git work tree. Type /checkpoint init to start them.',
  'git の作業ツリーではないため、チェックポイントは無効です。/checkpoint init で始められます。',
)

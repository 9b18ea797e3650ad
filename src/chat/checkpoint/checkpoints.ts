/** The checkpoints of a conversation: its files and its history, kept after tools and turns, given back together. */
import { mkdirSync } from 'node:fs'
import { dirname, join, parse } from 'node:path'
import {
  createCheckpoint,
  type Outcome as Done,
  diffCheckpoints,
  type FileChange,
  type Git,
  initCheckpoints,
  restoreCheckpoint,
} from '../../conversation/checkpoint.ts'
import { checkpointAfterTool, checkpointAfterTurn, noteUserMessage } from '../../conversation/files/checkpoint-turn.ts'
import { journalName } from '../../conversation/journal/file-name.ts'
import type { CheckpointManager, History } from '../../conversation/record.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { isGitInstalled, isInWorkTree, removeRepository } from '../../lib/git.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { byGit, notFound, type Outcome, refused } from './outcome.ts'
import { breakLocks, type Shadow, shadowGit } from './shadow.ts'

/** The conversation, as whoever keeps its journal lends it. */
export interface Held {
  state(): ConversationState
  /** Tells the journal what leads from the present state to this one. */
  change(next: ConversationState): void
  /** Tells the journal that files and history are as they were at this checkpoint. */
  restored(tag: string, hard: boolean): void
}

export interface CheckpointOptions {
  /** fumibako's data directory. */
  readonly directory: string
  readonly cwd: string
  readonly home: string
  /** Now, RFC 3339 with the local offset. */
  readonly now: () => string
}

export type Started =
  | { readonly kind: 'on'; readonly how: 'new' | 'resumed' }
  /** One line for a person. */
  | { readonly kind: 'off'; readonly reason: Phrase }

export interface Diff {
  readonly changes: readonly FileChange[]
  /** As `git diff --stat` draws it. */
  readonly stat: string
}

export interface Restored {
  /** How many entries the history has again. */
  readonly length: number
  /** Brings back what was there before, files and history. */
  readonly undo: string
}

/** The checkpoint that is made before going back to another one. */
export const UNDO = 'undo'

const NONE = phrase(
  'There are no checkpoints. /checkpoint init starts them.',
  'チェックポイントはありません。/checkpoint init で始められます。',
)
const IN_TANGENT = phrase(
  'There are no checkpoints in a tangent. Leave it first.',
  '脇道ではチェックポイントを使えません。先に戻ってください。',
)

/** One after the other, however many tools end at once. Nothing throws for what git does. */
export class Checkpoints {
  readonly #held: Held
  readonly #options: CheckpointOptions
  #last: Promise<unknown> = Promise.resolve()
  #isUnlocked = false

  constructor(held: Held, options: CheckpointOptions) {
    this.#held = held
    this.#options = options
  }

  get isOn(): boolean {
    return this.#held.state().checkpoint_manager !== null
  }

  /**
   * @param asked by a person: then also outside a git work tree
   * @param beginning what the first checkpoint goes back to; without it the history as it is
   */
  start(asked: boolean, beginning?: History): Promise<Started> {
    return this.#inTurn(async () => {
      if (!(await isGitInstalled())) return this.#off(NO_GIT)
      const manager = this.#held.state().checkpoint_manager
      if (manager && (await this.#resumes(manager))) return { kind: 'on', how: 'resumed' }
      const { cwd, home } = this.#options
      if (!asked && !(await isInWorkTree(cwd))) return this.#off(NO_WORK_TREE)
      if (cwd === home || cwd === parse(cwd).root)
        return this.#off(
          phrase(`${cwd} is too much to keep checkpoints of.`, `${cwd} は広すぎるため、チェックポイントを作りません。`),
        )
      return this.#begin(beginning ?? this.#held.state().history)
    })
  }

  async #begin(history: History): Promise<Started> {
    const shadow = this.#newShadow(this.#held.state().conversation_id)
    await removeRepository(shadow.repository)
    mkdirSync(dirname(shadow.repository), { recursive: true, mode: 0o700 })
    const made = await initCheckpoints(shadowGit(shadow), {
      shadowRepoPath: shadow.repository,
      workTreePath: shadow.workTree,
      history,
      timestamp: this.#options.now(),
    })
    if (!made.ok)
      return this.#off(
        phrase(`There are no checkpoints: ${made.reason}.`, `チェックポイントを作れません（${made.reason}）。`),
      )
    this.#put(made.value)
    return { kind: 'on', how: 'new' }
  }

  /** The repository may be gone, or be that of another machine. */
  async #resumes(manager: CheckpointManager): Promise<boolean> {
    if (!this.#isOwn(manager)) return false
    const shadow = this.#shadowOf(manager)
    const tag = `refs/tags/${manager.checkpoints.at(-1)?.tag ?? '0'}`
    const known = await shadowGit(shadow)([`--git-dir=${shadow.repository}`, 'rev-parse', '--verify', '-q', tag])
    return known.code === 0
  }

  #off(reason: Phrase): Started {
    if (this.isOn) this.#put(null)
    return { kind: 'off', reason }
  }

  noteUserMessage(prompt: string): void {
    const manager = this.#active()
    if (manager) this.#put(noteUserMessage(manager, prompt))
  }

  /** Only where the tool changed files. Gives the tag of a checkpoint that was made. */
  afterTool(toolName: string, description: string): Promise<Outcome<string | undefined>> {
    return this.#kept((manager, situation) =>
      checkpointAfterTool(this.#git(manager), manager, { ...situation, toolName, description }),
    )
  }

  /** Only where its tools changed files. */
  afterTurn(): Promise<Outcome<string | undefined>> {
    return this.#kept((manager, situation) => checkpointAfterTurn(this.#git(manager), manager, situation))
  }

  #kept(
    work: (
      manager: CheckpointManager,
      situation: { readonly history: ConversationState['history']; readonly timestamp: string },
    ) => Promise<Done<CheckpointManager>>,
  ): Promise<Outcome<string | undefined>> {
    return this.#inTurn(async () => {
      const manager = this.#active()
      if (!manager) return { ok: true, value: undefined }
      const { history } = this.#held.state()
      const made = await work(manager, { history, timestamp: this.#options.now() })
      if (!made.ok) return byGit(made.reason)
      if (made.value !== manager) this.#put(made.value)
      // A tool's own checkpoint goes before that of its turn, which is made anew with each of them.
      const added = made.value.checkpoints.filter((one) => !manager.checkpoints.includes(one))
      return { ok: true, value: added[0]?.tag }
    })
  }

  /** @param to without it the newest checkpoint, which is not what the files are now */
  diff(from: string, to = 'HEAD'): Promise<Outcome<Diff>> {
    return this.#inTurn(async () => {
      const manager = this.#held.state().checkpoint_manager
      if (!manager || !this.#isOwn(manager)) return refused(NONE)
      const unknown = [from, to].find((tag) => tag !== 'HEAD' && !manager.checkpoints.some((one) => one.tag === tag))
      if (unknown !== undefined) return notFound(unknown)
      const git = this.#git(manager)
      const changes = await diffCheckpoints(git, manager, from, to)
      if (!changes.ok) return byGit(changes.reason)
      const { stdout } = await git([`--git-dir=${manager.shadow_repo_path}`, 'diff', '--stat', from, to, '--'])
      return { ok: true, value: { changes: changes.value, stat: stdout } }
    })
  }

  /** What is there now is kept as `undo` first. @param hard files that came later go */
  restore(tag: string, hard: boolean): Promise<Outcome<Restored>> {
    return this.#inTurn(async () => {
      const state = this.#held.state()
      const manager = state.checkpoint_manager
      if (!manager || !this.#isOwn(manager)) return refused(NONE)
      if (state.tangent_state) return refused(IN_TANGENT)
      const target = manager.checkpoints.find((one) => one.tag === tag)
      if (!target) return notFound(tag)
      const git = this.#git(manager)
      // Going back to `undo` must not first make it what is there now.
      const kept = tag === UNDO ? ({ ok: true, value: manager } as const) : await this.#keepUndo(manager, tag)
      if (!kept.ok) return byGit(kept.reason)
      if (kept.value !== manager) this.#put(kept.value)
      const done = await restoreCheckpoint(git, this.#held.state(), tag, hard)
      if (!done.ok) return byGit(done.reason)
      this.#held.restored(tag, hard)
      return { ok: true, value: { length: done.value.history.length, undo: UNDO } }
    })
  }

  #keepUndo(manager: CheckpointManager, tag: string): Promise<Done<CheckpointManager>> {
    return createCheckpoint(this.#git(manager), manager, {
      tag: UNDO,
      description: `Before going back to ${tag}`,
      isTurn: true,
      toolName: null,
      history: this.#held.state().history,
      timestamp: this.#options.now(),
    })
  }

  /** Deletes the repository; the conversation stays as it is. */
  clean(): Promise<Outcome<true>> {
    return this.#inTurn(async () => {
      const manager = this.#held.state().checkpoint_manager
      if (!manager) return refused(NONE)
      if (this.#isOwn(manager)) await removeRepository(manager.shadow_repo_path)
      this.#put(null)
      return { ok: true, value: true }
    })
  }

  /** Nothing while a tangent is open: it changes the conversation, not what is kept of it. */
  #active(): CheckpointManager | null {
    const { tangent_state, checkpoint_manager: manager } = this.#held.state()
    return tangent_state || !manager || !this.#isOwn(manager) ? null : manager
  }

  /** A state that came from elsewhere may name any repository, also one whose configuration runs programs. */
  #isOwn({ shadow_repo_path }: CheckpointManager): boolean {
    return shadow_repo_path === this.#newShadow(this.#held.state().conversation_id).repository
  }

  #put(manager: CheckpointManager | null): void {
    this.#held.change({ ...this.#held.state(), checkpoint_manager: manager })
  }

  /** Whoever left a lock before is gone: a conversation has one writer. */
  #git(manager: CheckpointManager): Git {
    const shadow = this.#shadowOf(manager)
    if (!this.#isUnlocked) breakLocks(shadow)
    this.#isUnlocked = true
    return shadowGit(shadow)
  }

  #shadowOf({ shadow_repo_path, work_tree_path }: CheckpointManager): Shadow {
    return { repository: shadow_repo_path, workTree: work_tree_path, dataDirectory: this.#options.directory }
  }

  #newShadow(id: string): Shadow {
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
  'git is not installed: there are no checkpoints.',
  'git がインストールされていないため、チェックポイントは使えません。',
)
const NO_WORK_TREE = phrase(
  'Not inside a git work tree: /checkpoint init keeps checkpoints nevertheless.',
  'git の作業ツリーの中ではありません。/checkpoint init でチェックポイントを作れます。',
)

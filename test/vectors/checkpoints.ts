/** Vectors of checkpoints: one scenario, run in order with the installed git. */

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as core from '../../src/conversation/checkpoint.ts'
import { Entries } from '../../src/conversation/entries.ts'
import { NO_ENVIRONMENT, newPrompt, newResponse } from '../../src/conversation/new-message.ts'
import type { CheckpointManager, History } from '../../src/conversation/record.ts'
import { type ConversationState, newState } from '../../src/conversation/state.ts'
import { removeRepository, runGit } from '../../src/lib/git/run-git.ts'
import { type JsonValue, jsonEntries } from '../../src/lib/json/lossless.ts'
import { at, expectSame, has, items, number, text, type Vector, type Verdict } from './vector.ts'

const NOW = '2025-10-25T14:53:00Z'

export const isCheckpointVector = ({ fn }: Vector): boolean =>
  /^(?:CheckpointManager::manual_init|create_checkpoint|diff|restore|cleanup)$/.test(fn)

export class CheckpointScenario {
  readonly #root = mkdtempSync(join(tmpdir(), 'fumi-checkpoints-'))
  readonly #work = join(this.#root, 'work')
  readonly #shadow = join(this.#root, 'shadow')
  #manager: CheckpointManager | undefined

  async check({ fn, input, output }: Vector): Promise<Verdict> {
    switch (fn) {
      case 'CheckpointManager::manual_init':
        return this.#init(input, output)
      case 'create_checkpoint':
        return this.#create(input, output)
      case 'diff':
        return this.#diff(input, output)
      case 'restore':
        return has(input, 'empty_tree') ? this.#restoreEmpty(output) : this.#restore(input, output)
      case 'cleanup':
        await removeRepository(this.#shadow)
        return expectSame({ exists: existsSync(this.#shadow) }, output)
      default:
        return `no such step: ${fn}`
    }
  }

  close(): void {
    rmSync(this.#root, { recursive: true, force: true })
  }

  async #init(input: JsonValue, output: JsonValue): Promise<Verdict> {
    mkdirSync(this.#work)
    for (const [name, content] of jsonEntries(at(input, 'files') as { readonly [key: string]: JsonValue }))
      this.#put(name, content)
    const options = { shadowRepoPath: this.#shadow, workTreePath: this.#work, history: historyOf(0), timestamp: NOW }
    const made = await core.initCheckpoints(runGit, options)
    if (!made.ok) return made.reason
    this.#manager = made.value
    const given = {
      manager: shown(made.value),
      tags: await this.#git('tag'),
      log: await this.#git('log', '--format=%s|%an|%ae'),
      bare: await this.#git('config', 'core.bare'),
      preloadindex: await this.#git('config', 'core.preloadindex'),
    }
    return expectSame(given, output)
  }

  async #create(input: JsonValue, output: JsonValue): Promise<Verdict> {
    for (const op of items(at(input, 'file_ops'))) this.#put(text(items(op)[0] ?? null), items(op)[1] ?? null)
    const changed = await core.hasChanges(runGit, this.#state)
    const tool = at(input, 'tool_name')
    const made = await core.createCheckpoint(runGit, this.#state, {
      tag: text(at(input, 'tag')),
      description: text(at(input, 'description')),
      isTurn: at(input, 'is_turn') === true,
      toolName: tool === null ? null : text(tool),
      history: historyOf(number(at(input, 'history_len'))),
      timestamp: NOW,
    })
    if (!made.ok) return made.reason
    this.#manager = made.value
    const tags = (await this.#git('tag')).trim().split('\n')
    return expectSame({ has_changes_before: changed, manager: shown(made.value), tags }, output)
  }

  async #diff(input: JsonValue, output: JsonValue): Promise<Verdict> {
    const [from = null, to = null] = items(input)
    const stats = await core.diffStats(runGit, this.#state, text(from), text(to))
    const changes = await core.diffCheckpoints(runGit, this.#state, text(from), text(to))
    if (!stats.ok || !changes.ok) return 'could not compare'
    return expectSame(
      { stats: stats.value, name_status_part_uncoloured: changes.value.map(core.formatFileChange) },
      output,
    )
  }

  async #restore(input: JsonValue, output: JsonValue): Promise<Verdict> {
    for (const file of items(at(input, 'files_before'))) {
      const [name = null, content = null] = items(file)
      if (!existsSync(join(this.#work, text(name)))) this.#put(text(name), content)
    }
    const before = expectSame(this.#files(), at(input, 'files_before'))
    if (before) return `before: ${before}`
    const waiting: ConversationState = {
      ...newState('c'),
      next_message: newPrompt('n', null, NO_ENVIRONMENT),
      checkpoint_manager: this.#state,
    }
    const restored = await core.restoreCheckpoint(runGit, waiting, text(at(input, 'tag')), at(input, 'hard') === true)
    const state = restored.ok ? restored.value : waiting
    const given = {
      result: restored.ok ? 'ok' : { err: restored.reason },
      files_after: this.#files(),
      history_len: state.history.length,
      valid_history_range: state.valid_history_range,
      next_message_is_null: state.next_message === null,
      current_turn: this.#state.current_turn,
      checkpoints_kept: state.checkpoint_manager?.checkpoints.length,
      has_changes_after: await core.hasChanges(runGit, this.#state),
      head_subject: (await this.#git('log', '-1', '--format=%s')).trim(),
    }
    return expectSame(given, output)
  }

  async #restoreEmpty(output: JsonValue): Promise<Verdict> {
    const work = join(this.#root, 'empty')
    mkdirSync(work)
    const options = {
      shadowRepoPath: join(this.#root, 'empty-shadow'),
      workTreePath: work,
      history: historyOf(0),
      timestamp: NOW,
    }
    const made = await core.initCheckpoints(runGit, options)
    if (!made.ok) return made.reason
    writeFileSync(join(work, 'n.txt'), 'n\n')
    const restored = await core.restoreCheckpoint(
      runGit,
      { ...newState('c'), checkpoint_manager: made.value },
      '0',
      false,
    )
    return expectSame({ result: restored.ok, 'n.txt exists': existsSync(join(work, 'n.txt')) }, output)
  }

  get #state(): CheckpointManager {
    if (!this.#manager) throw new Error('the scenario begins with manual_init')
    return this.#manager
  }

  async #git(...args: readonly string[]): Promise<string> {
    return (await runGit([`--git-dir=${this.#shadow}`, ...args])).stdout
  }

  #put(name: string, content: JsonValue): void {
    if (content === null) rmSync(join(this.#work, name))
    else writeFileSync(join(this.#work, name), text(content))
  }

  #files(): readonly (readonly [string, string])[] {
    return readdirSync(this.#work)
      .sort()
      .map((name) => [name, readFileSync(join(this.#work, name), 'utf8')] as const)
  }
}

function historyOf(length: number): History {
  const entry = {
    user: newPrompt('q', null, NO_ENVIRONMENT),
    assistant: newResponse(null, 'a'),
    request_metadata: null,
  }
  return Entries.over(Array.from({ length }, () => entry))
}

/** As in the vectors: recorded paths, masked times, lengths of histories. */
function shown(manager: CheckpointManager): unknown {
  return {
    ...manager,
    shadow_repo_path: '/work-dir/cp/shadow',
    work_tree_path: '/work-dir/cp/work',
    checkpoints: manager.checkpoints.map((one) => ({
      ...one,
      timestamp: '<now>',
      history_snapshot: one.history_snapshot.length,
    })),
  }
}

/** Checkpoints: the work tree and the history after tools and turns, kept in a shadow repository. Git is an argument. */

import { JsonMap } from '../lib/json/lossless.ts'
import { byteLength } from '../model/token-estimate.ts'
import { truncateSafe } from './message-text.ts'
import type { Checkpoint, CheckpointManager, FileStats, History } from './record.ts'
import type { ConversationState } from './state.ts'

export interface GitResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs git with these arguments and resolves when it has ended. A failure of git is a result, not an exception. */
export type Git = (args: readonly string[]) => Promise<GitResult>

export type CheckpointResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string }

export interface NewCheckpoint {
  readonly tag: string
  readonly description: string
  readonly isTurn: boolean
  readonly toolName: string | null
  readonly history: History
  readonly timestamp: string
}

export interface InitOptions {
  readonly shadowRepoPath: string
  readonly workTreePath: string
  readonly history: History
  readonly timestamp: string
}

export async function initCheckpoints(git: Git, options: InitOptions): Promise<CheckpointResult<CheckpointManager>> {
  const { shadowRepoPath, workTreePath, history, timestamp } = options
  const settings = [
    ['init', '--bare', shadowRepoPath],
    ...GIT_SETTINGS.map(([key, value]) => [`--git-dir=${shadowRepoPath}`, 'config', key, value]),
  ]
  for (const args of settings) {
    const result = await git(args)
    if (result.code !== 0) return gitFailure('the shadow repository could not be made', result)
  }
  const manager: CheckpointManager = {
    shadow_repo_path: shadowRepoPath,
    work_tree_path: workTreePath,
    checkpoints: [],
    tag_index: new JsonMap(),
    current_turn: 0,
    tools_in_turn: 0,
    pending_user_message: null,
    message_locked: false,
    file_stats_cache: new JsonMap(),
  }
  const first = { tag: '0', description: 'Initial state', isTurn: true, toolName: null, history, timestamp }
  const saved = await commitCheckpoint(git, manager, first)
  return saved.ok ? { ok: true, value: withCheckpoint(manager, first) } : saved
}

/** The last two are ours. Without them, users who sign commits would be asked for their key at every checkpoint. */
const GIT_SETTINGS = [
  ['user.name', 'Q'],
  ['user.email', 'qcli@local'],
  ['core.preloadindex', 'true'],
  ['commit.gpgsign', 'false'],
  ['tag.gpgsign', 'false'],
] as const

/**
 * If the turn's tag already exists, it moves to the end of the list. A tool's tag keeps its position, and only its
 * commit changes.
 */
export async function createCheckpoint(
  git: Git,
  manager: CheckpointManager,
  created: NewCheckpoint,
): Promise<CheckpointResult<CheckpointManager>> {
  const saved = await commitCheckpoint(git, manager, created)
  if (!saved.ok) return saved
  const updated = withCheckpoint(manager, created)
  const stats = await diffStats(git, updated, previousTag(created.tag), created.tag)
  if (!stats.ok) return { ok: true, value: updated }
  const cache = new JsonMap(updated.file_stats_cache).set(created.tag, stats.value)
  return { ok: true, value: { ...updated, file_stats_cache: cache } }
}

async function commitCheckpoint(
  git: Git,
  manager: CheckpointManager,
  created: NewCheckpoint,
): Promise<CheckpointResult<true>> {
  const steps = [
    [...treeArguments(manager), 'add', '-A'],
    [...treeArguments(manager), 'commit', '--allow-empty', '--no-verify', '-m', commitMessage(created)],
    [repoArgument(manager), 'tag', '-f', '--', created.tag],
  ]
  for (const args of steps) {
    const result = await git(args)
    if (result.code !== 0) return gitFailure(`checkpoint ${created.tag} could not be made`, result)
  }
  return { ok: true, value: true }
}

/** Arguments cannot contain a zero byte. */
const commitMessage = ({ description }: NewCheckpoint): string => description.replaceAll('\0', '')

/** A conversation file may contain any tag, so one that looks like an option is made a full reference. */
const revision = (tag: string): string => (tag.startsWith('-') ? `refs/tags/${tag}` : tag)

function withCheckpoint(manager: CheckpointManager, created: NewCheckpoint): CheckpointManager {
  const known = manager.checkpoints.some(({ tag }) => tag === created.tag)
  if (known && !created.isTurn) return manager
  const checkpoint: Checkpoint = {
    tag: created.tag,
    timestamp: created.timestamp,
    description: created.description,
    history_snapshot: created.history,
    is_turn: created.isTurn,
    tool_name: created.toolName,
  }
  const checkpoints = [...manager.checkpoints.filter(({ tag }) => tag !== created.tag), checkpoint]
  return { ...manager, checkpoints, tag_index: new JsonMap(checkpoints.map(({ tag }, index) => [tag, index] as const)) }
}

/** True also if git fails: an unnecessary checkpoint is better than a missing one. */
export async function hasChanges(git: Git, manager: CheckpointManager): Promise<boolean> {
  const { code, stdout } = await git([...treeArguments(manager), 'status', '--porcelain'])
  return code !== 0 || stdout !== ''
}

export interface FileChange {
  readonly path: string
  readonly change: 'added' | 'modified' | 'renamed' | 'deleted'
}

const CHANGE_NAMES = { A: 'added', M: 'modified', R: 'renamed', C: 'renamed', D: 'deleted' } as const

/** Compares two tags, or a tag and `HEAD`, which is the newest checkpoint, not the work tree. */
export async function diffCheckpoints(
  git: Git,
  manager: CheckpointManager,
  from: string,
  to: string,
): Promise<CheckpointResult<readonly FileChange[]>> {
  const result = await git([repoArgument(manager), 'diff', '--name-status', '-z', revision(from), revision(to), '--'])
  if (result.code !== 0) return gitFailure(`${from} and ${to} could not be compared`, result)
  const fields = result.stdout.split('\0')
  const changes: FileChange[] = []
  for (let i = 0; i < fields.length - 1; ) {
    const statusLetter = (fields[i++] ?? '')[0] ?? ''
    const isPair = statusLetter === 'R' || statusLetter === 'C'
    const path = fields[isPair ? i + 1 : i] ?? ''
    i += isPair ? 2 : 1
    if (statusLetter in CHANGE_NAMES)
      changes.push({ path, change: CHANGE_NAMES[statusLetter as keyof typeof CHANGE_NAMES] })
  }
  return { ok: true, value: changes }
}

/** Renamed files count as modified. */
export async function diffStats(
  git: Git,
  manager: CheckpointManager,
  from: string,
  to: string,
): Promise<CheckpointResult<FileStats>> {
  const changes = await diffCheckpoints(git, manager, from, to)
  if (!changes.ok) return changes
  const count = (...kinds: FileChange['change'][]) =>
    changes.value.filter(({ change }) => kinds.includes(change)).length
  return {
    ok: true,
    value: { added: count('added'), modified: count('modified', 'renamed'), deleted: count('deleted') },
  }
}

export function formatFileChange({ path, change }: FileChange): string {
  const sign = change === 'added' ? '+' : change === 'deleted' ? '-' : '~'
  return `  ${sign} ${path} (${change})`
}

/**
 * Restores files and history. Later files stay. With `hard`, tracked later files are deleted, and the next checkpoint
 * is added after this one. Transcript, summary and list of checkpoints stay.
 */
export async function restoreCheckpoint(
  git: Git,
  state: ConversationState,
  tag: string,
  hard: boolean,
): Promise<CheckpointResult<ConversationState>> {
  const manager = state.checkpoint_manager
  const checkpoint = manager?.checkpoints.find((one) => one.tag === tag)
  if (!manager || !checkpoint) return { ok: false, reason: `Checkpoint '${tag}' not found` }
  if (hard || !(await isEmptyTree(git, manager, tag))) {
    const args = hard ? ['reset', '--hard', revision(tag), '--'] : ['checkout', revision(tag), '--', '.']
    const result = await git([...treeArguments(manager), ...args])
    if (result.code !== 0) return gitFailure(`checkpoint ${tag} could not be restored`, result)
  }
  return { ok: true, value: withRestoredHistory(state, checkpoint) }
}

/** Restores the history. */
export function withRestoredHistory(
  state: ConversationState,
  { history_snapshot: history }: Checkpoint,
): ConversationState {
  return { ...state, history, next_message: null, valid_history_range: [0, history.length] }
}

/** Git refuses to check out a tree without files. */
async function isEmptyTree(git: Git, manager: CheckpointManager, tag: string): Promise<boolean> {
  const { code, stdout } = await git([repoArgument(manager), 'ls-tree', '--name-only', revision(tag)])
  return code === 0 && stdout === ''
}

/** `2.3` → `2.2`; `2.1` → `2`; `2` → `1`; anything else → `0`. */
export function previousTag(tag: string): string {
  const dot = tag.indexOf('.')
  const number = parseUnsigned(dot < 0 ? tag : tag.slice(dot + 1))
  if (number === undefined) return '0'
  if (dot < 0) return String(number > 0n ? number - 1n : 0n)
  return number > 1n ? `${tag.slice(0, dot)}.${number - 1n}` : tag.slice(0, dot)
}

function parseUnsigned(text: string): bigint | undefined {
  if (!/^\+?\d+$/.test(text)) return undefined
  const number = BigInt(text.replace('+', ''))
  return number < 2n ** 64n ? number : undefined
}

function repoArgument(manager: CheckpointManager): string {
  return `--git-dir=${manager.shadow_repo_path}`
}

function treeArguments(manager: CheckpointManager): readonly string[] {
  return [repoArgument(manager), `--work-tree=${manager.work_tree_path}`]
}

function gitFailure(what: string, { stderr }: GitResult): { readonly ok: false; readonly reason: string } {
  const lastLine = stderr.trim().split('\n').at(-1)
  return { ok: false, reason: lastLine ? `${what}: ${lastLine}` : what }
}

export interface TurnState {
  readonly history: History
  readonly timestamp: string
}

export interface CheckpointedTool extends TurnState {
  readonly toolName: string
  readonly description: string
}

/** In bytes. Shown in the list of checkpoints. */
const MAX_DESCRIPTION_BYTES = 60

/** The first prompt of a turn becomes its description. */
export function noteUserMessage(manager: CheckpointManager, prompt: string): CheckpointManager {
  return manager.message_locked ? manager : { ...manager, pending_user_message: prompt, message_locked: true }
}

/** Makes no checkpoint if the tool changed no file. */
export async function checkpointAfterTool(
  git: Git,
  manager: CheckpointManager,
  run: CheckpointedTool,
): Promise<CheckpointResult<CheckpointManager>> {
  if (!(await hasChanges(git, manager))) return { ok: true, value: manager }
  const { history, timestamp, toolName, description } = run
  const turn = Number(manager.current_turn) + 1
  const tag = `${turn}.${Number(manager.tools_in_turn) + 1}`
  const created = await createCheckpoint(git, manager, {
    tag,
    description,
    isTurn: false,
    toolName,
    history,
    timestamp,
  })
  if (!created.ok) return created
  const counted = { ...created.value, tools_in_turn: Number(manager.tools_in_turn) + 1 }
  const progress = {
    tag: String(turn),
    description: 'Turn in progress',
    isTurn: true,
    toolName: null,
    history,
    timestamp,
  }
  return createCheckpoint(git, counted, progress)
}

/** Does nothing for a turn without checkpoints. */
export async function checkpointAfterTurn(
  git: Git,
  manager: CheckpointManager,
  situation: TurnState,
): Promise<CheckpointResult<CheckpointManager>> {
  const idle = { ...manager, pending_user_message: null, message_locked: false }
  if (Number(manager.tools_in_turn) === 0) return { ok: true, value: idle }
  const turn = Number(manager.current_turn) + 1
  const firstPrompt = manager.pending_user_message
  const description = firstPrompt === null ? 'Turn completed' : truncateDescription(firstPrompt, MAX_DESCRIPTION_BYTES)
  return createCheckpoint(
    git,
    { ...idle, current_turn: turn, tools_in_turn: 0 },
    { tag: String(turn), description, isTurn: true, toolName: null, ...situation },
  )
}

/** Cuts at the last space before the limit, if there is one. */
export function truncateDescription(text: string, maxBytes: number): string {
  if (byteLength(text) <= maxBytes) return text
  const cut = truncateSafe(text, maxBytes)
  const space = cut.lastIndexOf(' ')
  return `${space < 0 ? cut : cut.slice(0, space)}...`
}

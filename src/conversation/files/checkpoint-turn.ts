/** When a conversation makes checkpoints: after tools that changed files, and at the end of turns that had such tools. */

import { type CheckpointResult, createCheckpoint, type Git, hasChanges } from '../checkpoint.ts'
import type { CheckpointManager, History } from '../record.ts'
import { byteLength, truncateSafe } from '../truncate.ts'

export interface TurnState {
  readonly history: History
  readonly timestamp: string
}

export interface CheckpointedTool extends TurnState {
  readonly toolName: string
  readonly description: string
}

/** In bytes, as shown in the list of checkpoints. */
const MAX_DESCRIPTION_BYTES = 60

/** Only the first prompt of a turn describes it. */
export function noteUserMessage(manager: CheckpointManager, prompt: string): CheckpointManager {
  return manager.message_locked ? manager : { ...manager, pending_user_message: prompt, message_locked: true }
}

/** A tool that changed no file leaves no checkpoint. */
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

/** A turn without checkpoints of its own does not count. */
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

/** Cut at the last space before the limit, if there is one. */
export function truncateDescription(text: string, maxBytes: number): string {
  if (byteLength(text) <= maxBytes) return text
  const cut = truncateSafe(text, maxBytes)
  const space = cut.lastIndexOf(' ')
  return `${space < 0 ? cut : cut.slice(0, space)}...`
}

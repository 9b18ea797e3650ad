/** When a conversation makes checkpoints: after tools that changed files, and at the end of turns that had such tools. */

import { createCheckpoint, type Git, hasChanges, type Outcome } from '../checkpoint.ts'
import type { CheckpointManager, History } from '../record.ts'
import { byteLength, truncateSafe } from '../truncate.ts'

export interface Situation {
  readonly history: History
  readonly timestamp: string
}

export interface ToolRun extends Situation {
  readonly toolName: string
  readonly description: string
}

/** In bytes, as shown in the list of checkpoints. */
const DESCRIPTION_LENGTH = 60

/** Only the first prompt of a turn describes it. */
export function noteUserMessage(manager: CheckpointManager, prompt: string): CheckpointManager {
  return manager.message_locked ? manager : { ...manager, pending_user_message: prompt, message_locked: true }
}

/** A tool that changed no file leaves no checkpoint. */
export async function checkpointAfterTool(
  git: Git,
  manager: CheckpointManager,
  run: ToolRun,
): Promise<Outcome<CheckpointManager>> {
  if (!(await hasChanges(git, manager))) return { ok: true, value: manager }
  const { history, timestamp, toolName, description } = run
  const turn = Number(manager.current_turn) + 1
  const tag = `${turn}.${Number(manager.tools_in_turn) + 1}`
  const made = await createCheckpoint(git, manager, { tag, description, isTurn: false, toolName, history, timestamp })
  if (!made.ok) return made
  const counted = { ...made.value, tools_in_turn: Number(manager.tools_in_turn) + 1 }
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
  situation: Situation,
): Promise<Outcome<CheckpointManager>> {
  const idle = { ...manager, pending_user_message: null, message_locked: false }
  if (Number(manager.tools_in_turn) === 0) return { ok: true, value: idle }
  const turn = Number(manager.current_turn) + 1
  const said = manager.pending_user_message
  const description = said === null ? 'Turn completed' : truncateDescription(said, DESCRIPTION_LENGTH)
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

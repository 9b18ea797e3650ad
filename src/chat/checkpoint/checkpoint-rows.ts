/** Checkpoints as a list for people. Pure. */
import type { Checkpoint, CheckpointManager } from '../../conversation/record.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { type CheckpointOutcome, checkpointNotFound } from './checkpoint-outcome.ts'

export interface CheckpointRow {
  readonly tag: string
  /** RFC 3339, local. */
  readonly timestamp: string
  readonly description: string
  readonly isTurn: boolean
  readonly toolName: string | null
  /** Against the checkpoint before it, where that is known. */
  readonly files: { readonly added: number; readonly modified: number; readonly deleted: number } | null
  /** How many entries the history had. */
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

/** A turn, and after it the checkpoints of its tools. */
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

/** What changed since the checkpoint before: `+1 ~2 -0`. */
export const checkpointFilesText = ({ files }: CheckpointRow): string =>
  files ? `+${files.added} ~${files.modified} -${files.deleted}` : ''

/** `2026-02-03 09:15:00`, local. */
export const checkpointTimeText = ({ timestamp }: CheckpointRow): string => timestamp.slice(0, 19).replace('T', ' ')

/** Checkpoints in a journal: only what changed, and of each history the numbers of its entries. */

import { isSameJson } from '../../lib/json/compare.ts'
import { JsonMap } from '../../lib/json/lossless.ts'
import type { Checkpoint, CheckpointManager, History } from '../record.ts'
import type { CheckpointsChangedEvent, EntryRuns } from './event.ts'
import { type NumberedEntries, type ResolvedHistory, resolveHistory } from './numbered-entries.ts'

type CheckpointChange = Omit<CheckpointsChangedEvent, 'event' | 'at'>

export function applyManagerChange(
  known: CheckpointManager | null,
  allEntries: NumberedEntries,
  { manager, dropped, added, stats }: CheckpointChange,
): { readonly manager: CheckpointManager; readonly named: readonly ResolvedHistory[] } {
  const droppedIndexes = new Set(dropped)
  const resolved = added.map(({ entries }) => resolveHistory(allEntries, entries))
  const created = added.map(({ checkpoint }, at): Checkpoint => {
    const { tag, timestamp, description, ...rest } = checkpoint
    return { tag, timestamp, description, history_snapshot: (resolved[at] as ResolvedHistory).history, ...rest }
  })
  const remaining = (known?.checkpoints ?? []).filter((_, at) => !droppedIndexes.has(at))
  const checkpoints = [...remaining, ...created]
  const { shadow_repo_path, work_tree_path, ...rest } = manager
  return {
    manager: {
      shadow_repo_path,
      work_tree_path,
      checkpoints,
      tag_index: tagIndexOf(checkpoints),
      ...rest,
      file_stats_cache: new JsonMap([...(known?.file_stats_cache ?? []), ...stats]),
    },
    named: resolved,
  }
}

const tagIndexOf = (checkpoints: readonly Checkpoint[]): ReadonlyMap<string, number> =>
  new JsonMap(checkpoints.map(({ tag }, at) => [tag, at] as const))

/** @param runsOf names the entries of a history */
export function diffManagers(
  before: CheckpointManager | null,
  after: CheckpointManager,
  runsOf: (history: History) => EntryRuns,
): CheckpointChange {
  const { checkpoints, tag_index: _, file_stats_cache, ...manager } = after
  const remaining = new Set(checkpoints)
  const known = before?.checkpoints ?? []
  const dropped = known.flatMap((one, at) => (remaining.has(one) ? [] : [at]))
  const added = checkpoints.slice(known.length - dropped.length).map((checkpoint) => {
    const { history_snapshot, ...fields } = checkpoint
    return { checkpoint: fields, entries: runsOf(history_snapshot) }
  })
  const stats = new JsonMap([...file_stats_cache].filter(([tag, one]) => before?.file_stats_cache.get(tag) !== one))
  return { manager, dropped, added, stats }
}

/** Leaving a tangent makes the manager anew also where nothing in it changes. */
export function isManagerChanged(before: CheckpointManager | null, change: CheckpointChange): boolean {
  const { manager, dropped, added, stats } = change
  if (!before || dropped.length > 0 || added.length > 0 || stats.size > 0) return true
  const { checkpoints: _, tag_index: __, file_stats_cache: ___, ...fields } = before
  return !isSameJson(fields, manager)
}

/** Checkpoints in a journal: only what changed, and of each history the numbers of its entries. */

import { JsonMap } from '../../lib/json/lossless.ts'
import { sameJson } from '../../lib/same.ts'
import type { Checkpoint, CheckpointManager, History } from '../record.ts'
import type { CheckpointsChanged, Runs } from './event.ts'
import { historyNamed, type Named, type Told } from './numbered.ts'

type Change = Omit<CheckpointsChanged, 'event' | 'at'>

export function changedManager(
  known: CheckpointManager | null,
  told: Told,
  { manager, dropped, added, stats }: Change,
): { readonly manager: CheckpointManager; readonly named: readonly Named[] } {
  const gone = new Set(dropped)
  const named = added.map(({ entries }) => historyNamed(told, entries))
  const made = added.map(({ checkpoint }, at): Checkpoint => {
    const { tag, timestamp, description, ...rest } = checkpoint
    return { tag, timestamp, description, history_snapshot: (named[at] as Named).history, ...rest }
  })
  const kept = (known?.checkpoints ?? []).filter((_, at) => !gone.has(at))
  const checkpoints = [...kept, ...made]
  const { shadow_repo_path, work_tree_path, ...rest } = manager
  return {
    manager: {
      shadow_repo_path,
      work_tree_path,
      checkpoints,
      tag_index: indexOf(checkpoints),
      ...rest,
      file_stats_cache: new JsonMap([...(known?.file_stats_cache ?? []), ...stats]),
    },
    named,
  }
}

const indexOf = (checkpoints: readonly Checkpoint[]): ReadonlyMap<string, number> =>
  new JsonMap(checkpoints.map(({ tag }, at) => [tag, at] as const))

/** @param runsOf names the entries of a history */
export function managerChange(
  before: CheckpointManager | null,
  after: CheckpointManager,
  runsOf: (history: History) => Runs,
): Change {
  const { checkpoints, tag_index: _, file_stats_cache, ...manager } = after
  const kept = new Set(checkpoints)
  const known = before?.checkpoints ?? []
  const dropped = known.flatMap((one, at) => (kept.has(one) ? [] : [at]))
  const added = checkpoints.slice(known.length - dropped.length).map((checkpoint) => {
    const { history_snapshot, ...fields } = checkpoint
    return { checkpoint: fields, entries: runsOf(history_snapshot) }
  })
  const stats = new JsonMap([...file_stats_cache].filter(([tag, one]) => before?.file_stats_cache.get(tag) !== one))
  return { manager, dropped, added, stats }
}

/** Leaving a tangent makes the manager anew also where nothing in it changes. */
export function changesManager(before: CheckpointManager | null, change: Change): boolean {
  const { manager, dropped, added, stats } = change
  if (!before || dropped.length > 0 || added.length > 0 || stats.size > 0) return true
  const { checkpoints: _, tag_index: __, file_stats_cache: ___, ...fields } = before
  return !sameJson(fields, manager)
}

/** Who changed which file: what `/changes` shows. */
import { linesByAgent, linesByUser } from '../../../conversation/files/line-tracker.ts'
import type { ConversationState } from '../../../conversation/state.ts'
import type { Place } from '../tool.ts'
import { neededPath } from './paths.ts'
import type { SeenFiles } from './seen.ts'
import { readText } from './text-file.ts'

export interface FileChanges {
  readonly path: string
  /** Of the last write: added and removed. */
  readonly agentLines: { readonly added: number; readonly removed: number; readonly total: number }
  /** Between the last two writes; negative when lines were removed. */
  readonly userLines: number
  /** Since the model last read or wrote it. */
  readonly now: 'unchanged' | 'changed' | 'gone' | 'unreadable'
}

export async function fileChanges(
  state: ConversationState,
  seen: SeenFiles,
  place: Place,
): Promise<readonly FileChanges[]> {
  return Promise.all(
    [...state.file_line_tracker].map(async ([path, tracker]) => ({
      path,
      agentLines: {
        added: Number(tracker.lines_added_by_agent),
        removed: Number(tracker.lines_removed_by_agent),
        total: linesByAgent(tracker),
      },
      userLines: linesByUser(tracker),
      now: await nowOf(neededPath(path, place).real, seen),
    })),
  )
}

async function nowOf(path: string, seen: SeenFiles): Promise<FileChanges['now']> {
  const found = await readText(path)
  if (found.kind === 'missing') return 'gone'
  if (found.kind === 'unreadable') return 'unreadable'
  return seen.isStale(path, found.text) ? 'changed' : 'unchanged'
}

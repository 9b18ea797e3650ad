/** Who changed which file: what `/changes` shows. */
import { linesByAgent, linesByUser } from '../../../conversation/files/line-tracker.ts'
import type { ConversationState } from '../../../conversation/state.ts'
import type { Workspace } from '../tool.ts'
import type { SeenFiles } from './seen-files.ts'
import { readTextFile } from './text-file.ts'
import { resolveToolPath } from './tool-paths.ts'

export interface FileChanges {
  readonly path: string
  /** Of the last write: added and removed. */
  readonly agentLines: { readonly added: number; readonly removed: number; readonly total: number }
  /** Between the last two writes; negative when lines were removed. */
  readonly userLines: number
  /** Since the model last read or wrote it. */
  readonly now: 'unchanged' | 'changed' | 'gone' | 'unreadable'
}

export async function readFileChanges(
  state: ConversationState,
  seen: SeenFiles,
  workspace: Workspace,
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
      now: await readFileStatus(resolveToolPath(path, workspace).real, seen),
    })),
  )
}

async function readFileStatus(path: string, seen: SeenFiles): Promise<FileChanges['now']> {
  const found = await readTextFile(path)
  if (found.kind === 'missing') return 'gone'
  if (found.kind === 'unreadable') return 'unreadable'
  return seen.isStale(path, found.text) ? 'changed' : 'unchanged'
}

/** Paths of a conversation's directory that begin with what was typed, for completion. */
import { join } from 'node:path'
import type { Workspace } from '../../chat/tools/tool.ts'
import { listEntries, SKIPPED_FOLDERS } from '../../lib/files/look.ts'
import { isWithinDirectory } from './line.ts'

const MAX_PATHS = 30

/** @param typed relative to the directory. Nothing outside of it is told. */
export function completePath(typed: string, workspace: Workspace): readonly string[] {
  const slash = typed.lastIndexOf('/') + 1
  const folder = typed.slice(0, slash)
  const begin = typed.slice(slash).toLowerCase()
  if (folder.startsWith('/') || !isWithinDirectory(folder === '' ? '.' : folder, workspace)) return []
  return listEntries(join(workspace.cwd, folder))
    .filter(({ name }) => name.toLowerCase().startsWith(begin) && (begin.startsWith('.') || !name.startsWith('.')))
    .filter((entry) => !SKIPPED_FOLDERS.has(entry.name) && (entry.isFile() || entry.isDirectory()))
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort()
    .slice(0, MAX_PATHS)
}

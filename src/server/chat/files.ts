/** Paths of a conversation's directory that begin with what was typed, for completion. */
import { join } from 'node:path'
import type { Place } from '../../chat/tools/tool.ts'
import { entriesOf, SKIPPED_FOLDERS } from '../../lib/files/look.ts'
import { isWithin } from './line.ts'

const MOST = 30

/** @param typed relative to the directory. Nothing outside of it is told. */
export function filesLike(typed: string, place: Place): readonly string[] {
  const slash = typed.lastIndexOf('/') + 1
  const folder = typed.slice(0, slash)
  const begin = typed.slice(slash).toLowerCase()
  if (folder.startsWith('/') || !isWithin(folder === '' ? '.' : folder, place)) return []
  return entriesOf(join(place.cwd, folder))
    .filter(({ name }) => name.toLowerCase().startsWith(begin) && (begin.startsWith('.') || !name.startsWith('.')))
    .filter((entry) => !SKIPPED_FOLDERS.has(entry.name) && (entry.isFile() || entry.isDirectory()))
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort()
    .slice(0, MOST)
}

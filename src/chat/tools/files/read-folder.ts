/** What lies in a folder, one line for each entry. */
import type { Dirent } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { isSystemError, systemErrorReason } from '../../../lib/files/system-error.ts'
import type { ResolvedPath, ToolRunContext } from '../tool.ts'
import type { ReadPart } from './fs-read.ts'

const MAX_ENTRIES = 2000

/** Folders before what is in them; links are named, not followed. */
export async function readFolder(path: ResolvedPath, depth: number, context: ToolRunContext): Promise<ReadPart> {
  const { signal, isDenied = () => false } = context
  const lines: string[] = []
  const queue: { readonly folder: string; readonly depth: number }[] = [{ folder: path.real, depth }]
  for (let next = queue.shift(); next && lines.length < MAX_ENTRIES && !signal.aborted; next = queue.shift()) {
    const entries = await readSortedEntries(next.folder)
    if (typeof entries === 'string') {
      if (next.folder === path.real) return { error: `${path.named}: ${entries}` }
      lines.push(`? ${next.folder}: ${entries}`)
      continue
    }
    for (const entry of entries.slice(0, MAX_ENTRIES - lines.length)) {
      const full = join(next.folder, entry.name)
      lines.push(await formatEntry(full))
      if (entry.isDirectory() && next.depth > 0 && !isDenied(full)) queue.push({ folder: full, depth: next.depth - 1 })
    }
  }
  if (lines.length === 0) return { text: `${path.named} is empty.` }
  const cut = lines.length >= MAX_ENTRIES ? `\n(only the first ${MAX_ENTRIES} entries)` : ''
  return { text: lines.join('\n') + cut }
}

async function readSortedEntries(folder: string): Promise<readonly Dirent[] | string> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if (!isSystemError(error)) throw error
    if (error.code === 'ENOENT') return 'no such folder'
    return error.code === 'ENOTDIR' ? 'a file, not a folder' : systemErrorReason(error)
  }
}

/** Kind, size, time of the last change, path. */
async function formatEntry(path: string): Promise<string> {
  try {
    const found = await lstat(path)
    const kind = found.isDirectory() ? 'd' : found.isSymbolicLink() ? 'l' : found.isFile() ? '-' : '?'
    const time = found.mtime.toISOString().slice(0, 19)
    const target = found.isSymbolicLink() ? ` -> ${await readlink(path)}` : ''
    return `${kind} ${String(found.size).padStart(9)} ${time} ${path}${target}`
  } catch (error) {
    if (!isSystemError(error)) throw error
    return `? ${path}: ${systemErrorReason(error)}`
  }
}

/** Directories that are too wide for a chat: whoever reads freely below them reads much more than one project. */
import { realpathSync } from 'node:fs'
import { dirname, resolve, sep } from 'node:path'
import type { ChatDirectoryWarning } from '../../model/api/chat.ts'

interface KnownDirectories {
  readonly home: string
  /** fumibako's data directory. */
  readonly data: string
}

/** Undefined for a directory that looks like a project. @param path absolute, with links followed */
export function directoryWarning(path: string, { home, data }: KnownDirectories): ChatDirectoryWarning | undefined {
  const own = realOf(home)
  if (dirname(path) === path) return 'root'
  if (path === own) return 'home'
  if (isBelow(path, own)) return 'above_home'
  if (isBelow(path, realOf(data)) || isBelow(realOf(data), path)) return 'data'
  if (isBelow(own, path) && path.slice(own.length + 1).startsWith('.')) return 'settings'
  return dirname(dirname(path)) === dirname(path) ? 'system' : undefined
}

const isBelow = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

/** Paths as a model names them, and what they are once links are followed. */
import { realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { isSystemError } from '../../../lib/files/system-error.ts'
import type { NeededPath, Place } from '../tool.ts'

export function neededPath(path: string, { cwd, home }: Place): NeededPath {
  const named = /^~(?:[\\/]|$)/.test(path) ? join(home, path.slice(1)) : resolve(cwd, path)
  return { named, real: realOf(named) }
}

/** What does not exist yet lies where its nearest folder that does exist really is. */
function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (!isSystemError(error)) throw error
    const parent = dirname(path)
    return parent === path ? path : join(realOf(parent), basename(path))
  }
}

/** For people: below the working directory without it. */
export function shortPath(path: string, { cwd, home }: Place): string {
  const below = relative(cwd, path)
  if (below === '') return '.'
  if (!below.startsWith('..') && resolve(cwd, below) === path) return below
  return path.startsWith(home + sep) ? join('~', relative(home, path)) : path
}

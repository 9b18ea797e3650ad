/** Resolves paths given by the model, including links. */
import { readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { isSystemError } from '../../../lib/files/system-error.ts'
import type { ResolvedPath, Workspace } from '../tool.ts'

export function resolveToolPath(path: string, { cwd, home }: Workspace): ResolvedPath {
  const named = /^~(?:[\\/]|$)/.test(path) ? join(home, path.slice(1)) : resolve(cwd, path)
  return { named, real: resolveRealPath(named) }
}

const MAX_LINKS = 40

/**
 * The folders that the system visits to open a path, followed by the file. It follows each link before a `..` after it,
 * so `link/../x` is next to the link's target. Undefined for a cycle of links.
 */
export function stepsTo(path: string, cwd: string): readonly string[] | undefined {
  let at = path.startsWith('/') ? '/' : cwd
  const passed = [at]
  const left = path.split('/').reverse()
  for (let links = 0; left.length > 0; ) {
    const step = left.pop() ?? ''
    if (step === '' || step === '.') continue
    const next = step === '..' ? dirname(at) : join(at, step)
    const target = step === '..' ? undefined : readLinkTarget(next)
    if (target === undefined) at = next
    else if (++links > MAX_LINKS) return undefined
    else {
      passed.push(next)
      if (target.startsWith('/')) at = '/'
      left.push(...target.split('/').reverse())
    }
    passed.push(at)
  }
  return passed
}

/**
 * Resolves a path that may not exist: its nearest existing folder is resolved, and a dangling link is replaced by its
 * target.
 */
export function resolveRealPath(path: string, links = 0): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (!isSystemError(error)) throw error
    const parent = dirname(path)
    if (parent === path) return path
    const folder = resolveRealPath(parent, links)
    const target = readLinkTarget(join(folder, basename(path)))
    if (target === undefined || links >= MAX_LINKS) return join(folder, basename(path))
    return resolveRealPath(resolve(folder, target), links + 1)
  }
}

/** Whether a path is the folder or inside it. Both must have their links resolved. */
export const isInsideFolder = (real: string, folder: string): boolean =>
  real === folder || real.startsWith(folder.endsWith(sep) ? folder : folder + sep)

function readLinkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    if (!isSystemError(error)) throw error
    return undefined
  }
}

/** For display: relative inside the working directory. */
export function displayPath(path: string, { cwd, home }: Workspace): string {
  const below = relative(cwd, path)
  if (below === '') return '.'
  if (!below.startsWith('..') && resolve(cwd, below) === path) return below
  return path.startsWith(home + sep) ? join('~', relative(home, path)) : path
}

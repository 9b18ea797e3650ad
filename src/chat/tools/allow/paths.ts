/** Where tools may read and write without being asked. Links are followed first, so that none leads out of a free place. */
import { join, resolve, sep } from 'node:path'
import { isGlob, matcher } from '../../../lib/files/glob.ts'
import type { Decision, Rules } from '../permission.ts'
import type { Need, NeededPath } from '../tool.ts'

export function pathsDecision(need: Need, listed: boolean, rules: Rules): Decision {
  const paths = need.paths ?? []
  const reads = need.level === 'read-only'
  const { allowedPaths, deniedPaths } = reads ? rules.settings.fs_read : rules.settings.fs_write
  const denied = deniedPaths.map((pattern) => placeOf(pattern, rules))
  const bad = paths.find((path) => denied.some((place) => place(path.named) || place(path.real)))
  if (bad) return { kind: 'deny', reason: `${bad.named} is among the denied paths` }
  if (listed || (reads && rules.settings.fs_read.allowReadOnly)) return { kind: 'allow' }
  const free = [...allowedPaths, ...(reads ? [rules.cwd] : [])].map((pattern) => placeOf(pattern, rules))
  const isFree = ({ real }: NeededPath): boolean => free.some((place) => place(real))
  return paths.length > 0 && paths.every(isFree) ? { kind: 'allow' } : { kind: 'ask' }
}

/** Whether nobody may read there, whoever allows it: for tools that look into more files than they were given. */
export function deniedToRead(rules: Pick<Rules, 'settings' | 'cwd' | 'home'>): (path: string) => boolean {
  const denied = rules.settings.fs_read.deniedPaths.map((pattern) => placeOf(pattern, rules))
  return (path) => denied.some((place) => place(path))
}

/** A path stands for itself and all that is below it; so does what a pattern matches. */
function placeOf(pattern: string, { cwd, home }: Pick<Rules, 'cwd' | 'home'>): (path: string) => boolean {
  const absolute = /^~(?:[\\/]|$)/.test(pattern) ? join(home, pattern.slice(1)) : resolve(cwd, pattern)
  if (!isGlob(pattern)) return (path) => path === absolute || path.startsWith(absolute + sep) || absolute === sep
  const one = matcher(slashed(absolute))
  const below = matcher(`${slashed(absolute)}/**`)
  return (path) => one.test(slashed(path)) || below.test(slashed(path))
}

const slashed = (path: string): string => path.split(sep).join('/')

/** Where tools may read and write without being asked. Links are followed first, so that none leads out of a free place. */
import { resolve, sep } from 'node:path'
import { matcher, placed } from '../../../lib/files/glob.ts'
import { realOf } from '../files/paths.ts'
import type { Decision, Rules } from '../permission.ts'
import type { Need, NeededPath } from '../tool.ts'

export function pathsDecision(need: Need, listed: boolean, rules: Rules): Decision {
  const paths = need.paths ?? []
  const reads = need.level === 'read-only'
  const { allowedPaths, deniedPaths } = reads ? rules.settings.fs_read : rules.settings.fs_write
  const denied = deniedPaths.map((pattern) => deniedPlace(pattern, rules))
  const bad = paths.find((path) => denied.some((place) => place(path.named) || place(path.real)))
  if (bad) return { kind: 'deny', reason: `${bad.named} is among the denied paths` }
  if (listed || (reads && rules.settings.fs_read.allowReadOnly)) return { kind: 'allow' }
  const free = allowedPaths.map((pattern) => placeOf(pattern, rules))
  const isHere = (path: string): boolean => reads && restBelow(resolve(rules.cwd), path) !== undefined
  const isFree = ({ real }: NeededPath): boolean => isHere(real) || free.some((place) => place(real))
  return paths.length > 0 && paths.every(isFree) ? { kind: 'allow' } : { kind: 'ask' }
}

/** Whether nobody may read there, whoever allows it: for tools that look into more files than they were given. */
export function deniedToRead(rules: Pick<Rules, 'settings' | 'cwd' | 'home'>): (path: string) => boolean {
  const denied = rules.settings.fs_read.deniedPaths.map((pattern) => deniedPlace(pattern, rules))
  return (path) => denied.some((place) => place(path))
}

/** Whether a folder may hold something that nobody may read: for programs that read all that is below it. */
export function deniedWithin(rules: Pick<Rules, 'settings' | 'cwd' | 'home'>): (folder: string) => boolean {
  const bases = rules.settings.fs_read.deniedPaths
    .map((pattern) => placed(pattern, rules.cwd, rules.home))
    .flatMap(({ base, below }) => basesOf(base).map((one) => ({ base: one, below })))
  // Below the place where a pattern begins, each folder may hold a match.
  return (folder) => bases.some(({ base, below }) => isBelow(folder, base) || (below !== '' && isBelow(base, folder)))
}

/** Whether a path is the folder itself or in it. */
export const isBelow = (folder: string, path: string): boolean => restBelow(folder, path) !== undefined

/** A path stands for itself and all that is below it; so does what a pattern matches. */
function placeOf(pattern: string, { cwd, home }: Pick<Rules, 'cwd' | 'home'>): (path: string) => boolean {
  const { base, below } = placed(pattern, cwd, home)
  return within([base], below)
}

/** Denied also where links lead to. An allowed place never follows them: a link in the project would widen it. */
function deniedPlace(pattern: string, { cwd, home }: Pick<Rules, 'cwd' | 'home'>): (path: string) => boolean {
  const { base, below } = placed(pattern, cwd, home)
  return within(basesOf(base), below)
}

function within(bases: readonly string[], below: string): (path: string) => boolean {
  if (below === '') return (path) => bases.some((folder) => restBelow(folder, path) !== undefined)
  const one = matcher(below)
  const deeper = matcher(`${below}/**`)
  return (path) =>
    bases.some((folder) => {
      const rest = restBelow(folder, path) ?? ''
      return rest !== '' && (one.test(rest) || deeper.test(rest))
    })
}

/** As a rule names it, and with links followed: the home itself may be a link. */
const basesOf = (base: string): readonly string[] => [...new Set([base, realOf(base)])]

/** The way from a folder to what is in it, with `/`; nothing when it is elsewhere. */
function restBelow(folder: string, path: string): string | undefined {
  if (path === folder) return ''
  const inside = folder.endsWith(sep) ? folder : folder + sep
  return path.startsWith(inside) ? path.slice(inside.length).split(sep).join('/') : undefined
}

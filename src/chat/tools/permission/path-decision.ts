/** Where tools may read and write without being asked. Links are followed first, so that none leads out of a free place. */
import { resolve, sep } from 'node:path'
import { anchorPattern, compileGlob } from '../../../lib/files/glob.ts'
import { resolveRealPath } from '../files/tool-paths.ts'
import type { CallNeed, ResolvedPath } from '../tool.ts'
import type { PermissionDecision, PermissionRules } from './permission.ts'

export function decidePaths(need: CallNeed, listed: boolean, rules: PermissionRules): PermissionDecision {
  const paths = need.paths ?? []
  const reads = need.level === 'read-only'
  const { allowedPaths, deniedPaths } = reads ? rules.settings.fs_read : rules.settings.fs_write
  const denied = deniedPaths.map((pattern) => deniedPlace(pattern, rules))
  const deniedPath = paths.find((path) => denied.some((matches) => matches(path.named) || matches(path.real)))
  if (deniedPath) return { kind: 'deny', reason: `${deniedPath.named} is among the denied paths` }
  if (listed || (reads && rules.settings.fs_read.allowReadOnly)) return { kind: 'allow' }
  const allowed = allowedPaths.map((pattern) => pathMatcher(pattern, rules))
  const isInDirectory = (path: string): boolean => reads && restBelow(resolve(rules.cwd), path) !== undefined
  const isAllowed = ({ real }: ResolvedPath): boolean => isInDirectory(real) || allowed.some((matches) => matches(real))
  return paths.length > 0 && paths.every(isAllowed) ? { kind: 'allow' } : { kind: 'ask' }
}

/** Whether nobody may read there, whoever allows it: for tools that look into more files than they were given. */
export function isDeniedToRead(rules: Pick<PermissionRules, 'settings' | 'cwd' | 'home'>): (path: string) => boolean {
  const denied = rules.settings.fs_read.deniedPaths.map((pattern) => deniedPlace(pattern, rules))
  return (path) => denied.some((matches) => matches(path))
}

/** Whether a folder may hold something that nobody may read: for programs that read all that is below it. */
export function containsDenied(rules: Pick<PermissionRules, 'settings' | 'cwd' | 'home'>): (folder: string) => boolean {
  const bases = rules.settings.fs_read.deniedPaths
    .map((pattern) => anchorPattern(pattern, rules.cwd, rules.home))
    .flatMap(({ base, below }) => basesOf(base).map((one) => ({ base: one, below })))
  // Below the place where a pattern begins, each folder may hold a match.
  return (folder) =>
    bases.some(({ base, below }) => isAtOrBelow(folder, base) || (below !== '' && isAtOrBelow(base, folder)))
}

/** Whether a path is the folder itself or in it. */
export const isAtOrBelow = (folder: string, path: string): boolean => restBelow(folder, path) !== undefined

/** A path stands for itself and all that is below it; so does what a pattern matches. */
function pathMatcher(pattern: string, { cwd, home }: Pick<PermissionRules, 'cwd' | 'home'>): (path: string) => boolean {
  const { base, below } = anchorPattern(pattern, cwd, home)
  return within([base], below)
}

/** Denied also where links lead to. An allowed place never follows them: a link in the project would widen it. */
function deniedPlace(pattern: string, { cwd, home }: Pick<PermissionRules, 'cwd' | 'home'>): (path: string) => boolean {
  const { base, below } = anchorPattern(pattern, cwd, home)
  return within(basesOf(base), below)
}

function within(bases: readonly string[], below: string): (path: string) => boolean {
  if (below === '') return (path) => bases.some((folder) => restBelow(folder, path) !== undefined)
  const one = compileGlob(below)
  const deeper = compileGlob(`${below}/**`)
  return (path) =>
    bases.some((folder) => {
      const rest = restBelow(folder, path) ?? ''
      return rest !== '' && (one.test(rest) || deeper.test(rest))
    })
}

/** As a rule names it, and with links followed: the home itself may be a link. */
const basesOf = (base: string): readonly string[] => [...new Set([base, resolveRealPath(base)])]

/** The way from a folder to what is in it, with `/`; nothing when it is elsewhere. */
function restBelow(folder: string, path: string): string | undefined {
  if (path === folder) return ''
  const inside = folder.endsWith(sep) ? folder : folder + sep
  return path.startsWith(inside) ? path.slice(inside.length).split(sep).join('/') : undefined
}

/** Which context files may be sent: those in the project once links are followed, and outside of it those that the user named. */
import { basename, dirname, isAbsolute, join } from 'node:path'
import { placed } from '../../lib/files/glob.ts'
import { contextPaths } from '../agent-file/agent-file.ts'
import type { FoundAgent } from '../agent-file/find.ts'
import { isInside, realOf } from '../tools/files/paths.ts'
import type { Place } from '../tools/tool.ts'
import type { Trust } from '../trust/store.ts'

/** @param real of the file, with links followed. @param rule that names the file @param path as the rule names it */
export type MaySend = (real: string, rule: string, path: string) => boolean

/** Only what is in the project. */
export function insideOnly({ cwd }: Pick<Place, 'cwd'>): MaySend {
  const project = realOf(cwd)
  return (real) => isInside(real, project)
}

/** For one look at the files: decisions of the user are read once. */
export function boundaryOf(
  place: Place,
  { agent, place: origin }: Pick<FoundAgent, 'agent' | 'place'>,
  trust: Trust | undefined,
): MaySend {
  const isHere = insideOnly(place)
  const listed = origin === 'fumibako' || origin === 'amazon-q' ? contextPaths(agent) : []
  let typed: ReadonlyMap<string, string> | undefined
  return (real, rule, path) => {
    if (isHere(real, rule, path)) return true
    typed ??= trust?.contextPaths() ?? new Map()
    const found = typed.get(absoluteRule(rule, place))
    if (found !== undefined && isInside(real, found)) return true
    return listed.includes(rule) && isMeant(rule, path, real, place)
  }
}

/** Whether a rule of the user's own agent means this file itself, and not what a link in a foreign folder makes of it. */
function isMeant(rule: string, path: string, real: string, { cwd, home }: Place): boolean {
  const { base } = placed(rule, cwd, home)
  if (isInside(base, cwd)) return false
  if (path !== base) return isInside(real, realOf(base))
  return isAbsolute(rule) || rule.startsWith('~') || real === unlinked(path)
}

/** The path with the links of its folder followed, but not its own. */
const unlinked = (path: string): string => join(realOf(dirname(path)), basename(path))

/** A path or pattern that does not depend on the directory of the chat. */
export function absoluteRule(rule: string, { cwd, home }: Place): string {
  const { base, below } = placed(rule, cwd, home)
  return below === '' ? base : join(base, below)
}

/** What typing a rule means: it stays in the project, or it names something outside, or a link leads out where none is expected. */
export type TypedRule =
  | { readonly kind: 'inside' }
  | { readonly kind: 'outside'; readonly rule: string; readonly real: string }
  | { readonly kind: 'link'; readonly real: string }

export function typedRule(rule: string, place: Place): TypedRule {
  const { base, below } = placed(rule, place.cwd, place.home)
  const real = realOf(base)
  if (isInside(real, realOf(place.cwd))) return { kind: 'inside' }
  const isLink = isInside(base, place.cwd) || (below === '' && real !== unlinked(base))
  return isLink ? { kind: 'link', real } : { kind: 'outside', rule: absoluteRule(rule, place), real }
}

/** Whether a path that is written as one of the project is a link to somewhere else. */
export const leadsOut = (path: string, { cwd }: Pick<Place, 'cwd'>): boolean =>
  isInside(path, cwd) && !isInside(realOf(path), realOf(cwd))

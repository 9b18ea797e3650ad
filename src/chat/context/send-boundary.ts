/** Which context files may be sent: those in the project once links are followed, and outside of it those that the user named. */
import { basename, dirname, isAbsolute, join } from 'node:path'
import { anchorPattern } from '../../lib/files/glob.ts'
import { contextPathsOf } from '../agent-file/agent-file.ts'
import type { FoundAgent } from '../agent-file/find-agents.ts'
import { isInsideFolder, resolveRealPath } from '../tools/files/tool-paths.ts'
import type { Workspace } from '../tools/tool.ts'
import type { TrustStore } from '../trust/trust-store.ts'

/** @param real of the file, with links followed. @param rule that names the file @param path as the rule names it */
export type MaySend = (real: string, rule: string, path: string) => boolean

/** Only what is in the project. */
export function allowInsideProject({ cwd }: Pick<Workspace, 'cwd'>): MaySend {
  const project = resolveRealPath(cwd)
  return (real) => isInsideFolder(real, project)
}

/** For one look at the files: decisions of the user are read once. */
export function sendBoundary(
  workspace: Workspace,
  { agent, place: origin }: Pick<FoundAgent, 'agent' | 'place'>,
  trust: TrustStore | undefined,
): MaySend {
  const isInProject = allowInsideProject(workspace)
  const listed = origin === 'fumibako' || origin === 'amazon-q' ? contextPathsOf(agent) : []
  let typed: ReadonlyMap<string, string> | undefined
  return (real, rule, path) => {
    if (isInProject(real, rule, path)) return true
    typed ??= trust?.contextPaths() ?? new Map()
    const found = typed.get(toAbsoluteRule(rule, workspace))
    if (found !== undefined && isInsideFolder(real, found)) return true
    return listed.includes(rule) && isNamedDirectly(rule, path, real, workspace)
  }
}

/** Whether a rule of the user's own agent means this file itself, and not what a link in a foreign folder makes of it. */
function isNamedDirectly(rule: string, path: string, real: string, { cwd, home }: Workspace): boolean {
  const { base } = anchorPattern(rule, cwd, home)
  if (isInsideFolder(base, cwd)) return false
  if (path !== base) return isInsideFolder(real, resolveRealPath(base))
  return isAbsolute(rule) || rule.startsWith('~') || real === withFolderResolved(path)
}

/** The path with the links of its folder followed, but not its own. */
const withFolderResolved = (path: string): string => join(resolveRealPath(dirname(path)), basename(path))

/** A path or pattern that does not depend on the directory of the chat. */
export function toAbsoluteRule(rule: string, { cwd, home }: Workspace): string {
  const { base, below } = anchorPattern(rule, cwd, home)
  return below === '' ? base : join(base, below)
}

/** What typing a rule means: it stays in the project, or it names something outside, or a link leads out where none is expected. */
export type TypedRule =
  | { readonly kind: 'inside' }
  | { readonly kind: 'outside'; readonly rule: string; readonly real: string }
  | { readonly kind: 'link'; readonly real: string }

export function classifyTypedRule(rule: string, workspace: Workspace): TypedRule {
  const { base, below } = anchorPattern(rule, workspace.cwd, workspace.home)
  const real = resolveRealPath(base)
  if (isInsideFolder(real, resolveRealPath(workspace.cwd))) return { kind: 'inside' }
  const isLink = isInsideFolder(base, workspace.cwd) || (below === '' && real !== withFolderResolved(base))
  return isLink ? { kind: 'link', real } : { kind: 'outside', rule: toAbsoluteRule(rule, workspace), real }
}

/** Whether a path that is written as one of the project is a link to somewhere else. */
export const isLinkOutside = (path: string, { cwd }: Pick<Workspace, 'cwd'>): boolean =>
  isInsideFolder(path, cwd) && !isInsideFolder(resolveRealPath(path), resolveRealPath(cwd))

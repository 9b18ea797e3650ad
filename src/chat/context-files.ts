/** Selects the context files of every request: files that may be sent, as many as fit. */
import { basename, dirname, isAbsolute, join } from 'node:path'
import type { ContextFile } from '../conversation/request.ts'
import { anchorPattern, findGlobFiles } from '../lib/files/glob.ts'
import { readRegularFile } from '../lib/files/regular-file.ts'
import { isNonLinkFile } from '../lib/files/safe-fs.ts'
import { byteLength, tokensOfBytes } from '../model/token-estimate.ts'
import { contextPathsOf } from './agent-file/agent-file.ts'
import type { FoundAgent } from './agent-file/find-agents.ts'
import { isInsideFolder, resolveRealPath } from './tools/files/tool-paths.ts'
import type { Workspace } from './tools/tool.ts'
import type { TrustStore } from './trust/trust-store.ts'

/**
 * @param real path with links resolved @param rule the rule that matches the file @param path the path by which it
 * matches
 */
type MaySend = (real: string, rule: string, path: string) => boolean

function allowInsideProject({ cwd }: Pick<Workspace, 'cwd'>): MaySend {
  const project = resolveRealPath(cwd)
  return (real) => isInsideFolder(real, project)
}

/** Reads the user's decisions once. */
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

/** Whether the rule of a user's own agent names this file, not a link's target elsewhere. */
function isNamedDirectly(rule: string, path: string, real: string, { cwd, home }: Workspace): boolean {
  const { base } = anchorPattern(rule, cwd, home)
  if (isInsideFolder(base, cwd)) return false
  if (path !== base) return isInsideFolder(real, resolveRealPath(base))
  return isAbsolute(rule) || rule.startsWith('~') || real === withFolderResolved(path)
}

const withFolderResolved = (path: string): string => join(resolveRealPath(dirname(path)), basename(path))

/** A path or pattern that does not depend on the directory of the chat. */
function toAbsoluteRule(rule: string, { cwd, home }: Workspace): string {
  const { base, below } = anchorPattern(rule, cwd, home)
  return below === '' ? base : join(base, below)
}

/** `inside`: in the project. `outside`: elsewhere. `link`: a path that leads out of the project unexpectedly. */
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

/** Whether a path inside the project is a link that leads outside. */
export const isLinkOutside = (path: string, { cwd }: Pick<Workspace, 'cwd'>): boolean =>
  isInsideFolder(path, cwd) && !isInsideFolder(resolveRealPath(path), resolveRealPath(cwd))

interface RuleFiles {
  readonly rule: string
  readonly files: readonly string[]
}

export interface CollectedFiles {
  readonly rules: readonly RuleFiles[]
  /** Files that are sent, largest first. */
  readonly included: readonly ContextFile[]
  readonly dropped: readonly DroppedFile[]
  /** Not text, or unreadable. */
  readonly unreadable: readonly string[]
  /** Outside the project and not named by the user: not read. */
  readonly outside: readonly OutsideFile[]
  readonly cut: readonly string[]
}

interface DroppedFile {
  readonly path: string
  readonly tokens: number
}

export interface OutsideFile {
  /** Path by which the rule matches. */
  readonly path: string
  /** Path with links resolved. */
  readonly real: string
}

export const MAX_FILES_PER_RULE = 1000

/**
 * Tries files from the largest to the smallest; a smaller file may fit after a larger one did not. Files that do not
 * fit are not read. @param budget in tokens
 */
export function collectFiles(
  rules: readonly string[],
  workspace: Workspace,
  budget: number,
  maySend: MaySend = allowInsideProject(workspace),
): CollectedFiles {
  const { cwd, home } = workspace
  const named = rules.map((rule) => ({ rule, files: findGlobFiles(rule, cwd, home, MAX_FILES_PER_RULE + 1) }))
  const limited = named.map(({ rule, files }) => ({ rule, files: files.slice(0, MAX_FILES_PER_RULE) }))
  const found = new Map<string, { readonly tokens: number; readonly rules: string[] }>()
  for (const { rule, files } of limited)
    for (const { path, size } of files) {
      const known = found.get(path)
      if (known) known.rules.push(rule)
      else found.set(path, { tokens: tokensOfBytes(size), rules: [rule] })
    }
  const included: ContextFile[] = []
  const dropped: DroppedFile[] = []
  const unreadable: string[] = []
  const outside: OutsideFile[] = []
  const folders = new Map<string, string>()
  let remaining = budget
  const largest = [...found].sort(([a, x], [b, y]) => y.tokens - x.tokens || (a < b ? -1 : 1))
  for (const [path, { tokens, rules: naming }] of largest) {
    const real = realFile(path, folders)
    if (!naming.some((rule) => maySend(real, rule, path))) {
      outside.push({ path, real })
      continue
    }
    // Reads exactly the file that was checked, even if a link changes in the meantime.
    const content = tokens > remaining ? undefined : readContextFile(real)
    if (tokens > remaining) dropped.push({ path, tokens })
    else if (content === undefined) unreadable.push(path)
    else {
      included.push({ path, content })
      remaining -= tokens
    }
  }
  return {
    rules: limited.map(({ rule, files }) => ({ rule, files: files.map(({ path }) => path) })),
    included,
    dropped,
    unreadable: unreadable.sort(),
    outside,
    cut: named.flatMap(({ rule, files }) => (files.length > MAX_FILES_PER_RULE ? [rule] : [])),
  }
}

/** Resolves links. @param folders cache of resolved folders */
function realFile(path: string, folders: Map<string, string>): string {
  if (!isNonLinkFile(path)) return resolveRealPath(path)
  const named = dirname(path)
  const folder = folders.get(named) ?? resolveRealPath(named)
  folders.set(named, folder)
  return join(folder, basename(path))
}

export const contextFileTokens = ({ content }: ContextFile): number => tokensOfBytes(byteLength(content))

function readContextFile(path: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readRegularFile(path))
  } catch {
    return undefined
  }
}

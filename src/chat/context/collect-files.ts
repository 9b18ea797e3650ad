/** The files that go with every request: paths and patterns, looked up, read, and as many as fit. */
import { basename, dirname, join } from 'node:path'
import type { ContextFile } from '../../conversation/request/context.ts'
import { byteLength } from '../../conversation/truncate.ts'
import { findGlobFiles } from '../../lib/files/glob.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isNonLinkFile } from '../../lib/files/safe-fs.ts'
import { tokensOfBytes } from '../../model/tokens/token-estimate.ts'
import { resolveRealPath } from '../tools/files/tool-paths.ts'
import type { Workspace } from '../tools/tool.ts'
import { allowInsideProject, type MaySend } from './send-boundary.ts'

export interface RuleFiles {
  /** A path or a pattern, as it was given. */
  readonly rule: string
  /** In the order of their paths. */
  readonly files: readonly string[]
}

export interface CollectedFiles {
  readonly rules: readonly RuleFiles[]
  /** Those that are sent, largest first. */
  readonly included: readonly ContextFile[]
  /** Those for which there is no room. */
  readonly dropped: readonly DroppedFile[]
  /** Those that are no text, or cannot be read: they are left out, the others stay. */
  readonly unreadable: readonly string[]
  /** Those outside of the project that the user did not name: they are not read. */
  readonly outside: readonly OutsideFile[]
  /** Rules that name more files than are looked at. */
  readonly cut: readonly string[]
}

export interface DroppedFile {
  readonly path: string
  /** Estimated. */
  readonly tokens: number
}

export interface OutsideFile {
  /** As the rule names it. */
  readonly path: string
  /** With links followed. */
  readonly real: string
}

/** Files of one rule that are looked at. */
export const MAX_FILES_PER_RULE = 1000

/**
 * Largest first, each as long as there is room for it: a smaller one may still fit after a larger one did not. One that does
 * not fit is not read. @param budget in tokens
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
    // What was judged is what is read, even where a link changes meanwhile.
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

/** With links followed. @param folders where their folders really are, looked up once for each */
function realFile(path: string, folders: Map<string, string>): string {
  if (!isNonLinkFile(path)) return resolveRealPath(path)
  const named = dirname(path)
  const folder = folders.get(named) ?? resolveRealPath(named)
  folders.set(named, folder)
  return join(folder, basename(path))
}

/** Estimated. */
export const contextFileTokens = ({ content }: ContextFile): number => tokensOfBytes(byteLength(content))

export function readContextFile(path: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readRegularFile(path))
  } catch {
    return undefined
  }
}

/** The files that go with every request: paths and patterns, looked up, read, and as many as fit. */
import { readFileSync } from 'node:fs'
import { countTokens } from '../../conversation/request/budget.ts'
import type { ContextFile } from '../../conversation/request/context.ts'
import { byteLength } from '../../conversation/truncate.ts'
import { filesOf } from '../../lib/files/glob.ts'
import type { Place } from '../tools/tool.ts'

export interface RuleFiles {
  /** A path or a pattern, as it was given. */
  readonly rule: string
  /** In the order of their paths. */
  readonly files: readonly string[]
}

export interface Gathered {
  readonly rules: readonly RuleFiles[]
  /** Those that are sent, largest first. */
  readonly kept: readonly ContextFile[]
  /** Those for which there is no room. */
  readonly dropped: readonly DroppedFile[]
  /** Those that are no text, or cannot be read: they are left out, the others stay. */
  readonly unreadable: readonly string[]
  /** Rules that name more files than are looked at. */
  readonly cut: readonly string[]
}

export interface DroppedFile {
  readonly path: string
  /** Estimated. */
  readonly tokens: number
}

/** Files of one rule that are looked at. */
export const MOST_FILES = 1000

/**
 * Largest first, each as long as there is room for it: a smaller one may still fit after a larger one did not. One that does
 * not fit is not read. @param budget in tokens
 */
export function gatherFiles(rules: readonly string[], { cwd, home }: Place, budget: number): Gathered {
  const named = rules.map((rule) => ({ rule, files: filesOf(rule, cwd, home, MOST_FILES + 1) }))
  const looked = named.map(({ rule, files }) => ({ rule, files: files.slice(0, MOST_FILES) }))
  const sizes = new Map(looked.flatMap(({ files }) => files.map(({ path, size }) => [path, countTokens(size)])))
  const kept: ContextFile[] = []
  const dropped: DroppedFile[] = []
  const unreadable: string[] = []
  let room = budget
  for (const [path, tokens] of [...sizes].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))) {
    const content = tokens > room ? undefined : textAt(path)
    if (tokens > room) dropped.push({ path, tokens })
    else if (content === undefined) unreadable.push(path)
    else {
      kept.push({ path, content })
      room -= tokens
    }
  }
  return {
    rules: looked.map(({ rule, files }) => ({ rule, files: files.map(({ path }) => path) })),
    kept,
    dropped,
    unreadable: unreadable.sort(),
    cut: named.flatMap(({ rule, files }) => (files.length > MOST_FILES ? [rule] : [])),
  }
}

/** Estimated. */
export const tokensOf = ({ content }: ContextFile): number => countTokens(byteLength(content))

export function textAt(path: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path))
  } catch {
    return undefined
  }
}

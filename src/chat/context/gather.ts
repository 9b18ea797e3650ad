/** The files that go with every request: paths and patterns, looked up, read, and as many as fit. */
import { readFileSync } from 'node:fs'
import { countTokens, dropMatchedContextFiles } from '../../conversation/request/budget.ts'
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
  readonly dropped: readonly ContextFile[]
  /** Those that are no text, or cannot be read: they are left out, the others stay. */
  readonly unreadable: readonly string[]
}

/** @param budget in tokens */
export function gatherFiles(rules: readonly string[], { cwd, home }: Place, budget: number): Gathered {
  const found = rules.map((rule) => ({ rule, files: filesOf(rule, cwd, home).map(({ path }) => path) }))
  const paths = [...new Set(found.flatMap(({ files }) => files))].sort((a, b) => (a < b ? -1 : 1))
  const unreadable: string[] = []
  const files = paths.flatMap((path) => {
    const content = textAt(path)
    if (content === undefined) unreadable.push(path)
    return content === undefined ? [] : [{ path, content }]
  })
  const { kept, dropped } = dropMatchedContextFiles(files, budget)
  return { rules: found, kept, dropped, unreadable }
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

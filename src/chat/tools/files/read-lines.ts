/** Lines of a text file: a range of them, or those that contain something. */
import type { ResolvedPath } from '../tool.ts'
import type { ReadPart } from './fs-read.ts'
import type { SeenFiles } from './seen-files.ts'
import { readTextFile, type TextFileResult } from './text-file.ts'

export interface ReadRange {
  /** From 1; negative ones count from the end. */
  readonly start: number
  readonly end: number
}

export async function readLineRange(path: ResolvedPath, range: ReadRange, seen: SeenFiles): Promise<ReadPart> {
  const found = await readTextFile(path.real)
  if (found.kind !== 'text') return { error: readFaultText(path, found) }
  const lines = splitTextLines(found.text)
  const from = lineIndex(range.start, lines.length)
  const to = lineIndex(range.end, lines.length)
  if (lines.length > 0 && from >= lines.length)
    return { error: `${path.named} has ${lines.length} lines: there is no line ${range.start}.` }
  if (to < from && lines.length > 0) return { error: `end_line ${range.end} lies before start_line ${range.start}.` }
  seen.note(path.real, found.text)
  return { text: lines.slice(from, to + 1).join('\n') }
}

/** Nought is taken for the first line. */
const lineIndex = (line: number, count: number): number =>
  line < 0 ? Math.max(0, count + line) : Math.max(0, line - 1)

export async function searchLines(path: ResolvedPath, pattern: string, contextLines: number): Promise<ReadPart> {
  const found = await readTextFile(path.real)
  if (found.kind !== 'text') return { error: readFaultText(path, found) }
  const lines = splitTextLines(found.text)
  const wanted = pattern.toLowerCase()
  const hits = lines.flatMap((line, at) => (line.toLowerCase().includes(wanted) ? [at] : []))
  if (hits.length === 0) return { text: `No line of ${path.named} contains ${JSON.stringify(pattern)}.` }
  const isHit = new Set(hits)
  const included = new Set(
    hits.flatMap((at) => Array.from({ length: 2 * contextLines + 1 }, (_, step) => at - contextLines + step)),
  )
  const parts: string[] = []
  let last = -1
  for (const at of [...included].filter((at) => at >= 0 && at < lines.length).sort((a, b) => a - b)) {
    if (last >= 0 && at > last + 1) parts.push('--')
    parts.push(`${at + 1}${isHit.has(at) ? ':' : '-'} ${lines[at]}`)
    last = at
  }
  return { text: `${hits.length} ${hits.length === 1 ? 'line' : 'lines'}\n${parts.join('\n')}` }
}

function splitTextLines(text: string): readonly string[] {
  if (text === '') return []
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
}

const readFaultText = ({ named }: ResolvedPath, found: Exclude<TextFileResult, { kind: 'text' }>): string =>
  `${named}: ${found.kind === 'missing' ? 'no such file' : found.reason}`

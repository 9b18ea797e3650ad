/** The first pass over a log: its header, its counts and its tokens. Most lines are told by their first bytes. */
import { type OpenFile, openFile } from '../../lib/bytes.ts'
import type { Issue } from '../../model/issue.ts'
import type { Cursor, Scan, Source } from '../agent.ts'
import { type SavedScan, Scanner } from './count/scanner.ts'
import { continues, isWhole, read } from './read.ts'

export async function* scan(source: Source, from?: Cursor): AsyncGenerator<readonly Scan[]> {
  const file = tryOpen(source.path)
  if (!file || (!from && (await isWhole(file)))) {
    file?.close()
    yield await scanByReading(source)
    return
  }
  try {
    const saved = from?.['version'] === 1 ? (from as SavedScan) : undefined
    const fits = saved !== undefined && (await continues(source, saved, file))
    if (from && !fits) yield [{ kind: 'issue', issue: replaced(source) }]
    const scanner = new Scanner(source, file.modifiedMs, fits ? saved : undefined)
    for await (const chunk of file.chunks(fits ? saved.offset : 0)) {
      const found = scanner.scan(chunk)
      const cursor = scanner.save()
      if (cursor) found.push({ kind: 'cursor', cursor: { ...cursor, inode: file.inode } })
      if (found.length > 0) yield found
    }
    yield scanner.end()
  } finally {
    file.close()
  }
}

const replaced = (source: Source): Issue => ({
  code: 'changed_while_read',
  reason: 'the file was replaced since it was last scanned; scanning it from the start',
  path: source.shown ?? source.path,
})

function tryOpen(path: string): OpenFile | undefined {
  try {
    return openFile(path)
  } catch {
    return undefined
  }
}

/** For whole-file logs, which are small and old, and for files that cannot be opened. */
async function scanByReading(source: Source): Promise<readonly Scan[]> {
  const found: Scan[] = []
  const tools: Record<string, number> = {}
  let messages = 0
  const records = new Set<number>()
  for await (const batch of read(source)) {
    for (const one of batch) {
      if (one.kind === 'session' || one.kind === 'issue') found.push(one)
      if (one.kind !== 'message') continue
      const { role, source_type, metadata, tool_call, raw } = one.message
      records.add(raw.line_index)
      if ((role === 'user' || role === 'assistant') && metadata?.['injected'] !== true) messages++
      if (source_type === 'tool_call')
        tools[tool_call?.name ?? 'unknown'] = (tools[tool_call?.name ?? 'unknown'] ?? 0) + 1
    }
  }
  if (records.size > 0) found.push({ kind: 'counts', counts: { lines: records.size, messages, tools } })
  return found
}

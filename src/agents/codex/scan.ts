/** The first pass over a log: its header, its counts and its tokens. Most lines are told by their first bytes. */
import { type OpenFile, openFile } from '../../lib/bytes.ts'
import { isSystemError, reasonOf } from '../../lib/files/system-error.ts'
import type { Issue } from '../../model/issue.ts'
import type { Cursor, Scan, Source } from '../agent.ts'
import { type SavedScan, Scanner } from './count/scanner.ts'
import { continues, isWhole, read } from './read.ts'

export async function* scan(source: Source, from?: Cursor): AsyncGenerator<readonly Scan[]> {
  let file: OpenFile | undefined
  try {
    file = openFile(source.path)
    if (!from && (await isWhole(file))) yield await scanByReading(source)
    else yield* scanLines(source, file, from)
  } catch (error) {
    // It may be moved at any time, and disks fail: what was scanned so far has been given.
    if (!isSystemError(error)) throw error
    yield [{ kind: 'issue', issue: { code: 'unreadable', reason: reasonOf(error), path: source.shown ?? source.path } }]
  } finally {
    file?.close()
  }
}

async function* scanLines(source: Source, file: OpenFile, from: Cursor | undefined): AsyncGenerator<readonly Scan[]> {
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
}

const replaced = (source: Source): Issue => ({
  code: 'changed_while_read',
  reason: 'the file was replaced since it was last scanned; scanning it from the start',
  path: source.shown ?? source.path,
})

/** For whole-file logs, which are small and old. */
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

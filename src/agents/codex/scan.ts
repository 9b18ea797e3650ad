/** The first pass over a log: its header, its counts and its tokens. Most lines are told by their first bytes. */
import type { OpenFile } from '../../lib/files/file-bytes.ts'
import { readLogFile } from '../../lib/files/log-file.ts'
import type { Cursor, ScanItem, Source } from '../agent.ts'
import { type CodexScanCursor, LogScanner } from './log-scanner.ts'
import { isDocument, readDocument } from './read.ts'

export function scan(source: Source, from?: Cursor): AsyncGenerator<readonly ScanItem[]> {
  return readLogFile<CodexScanCursor, ScanItem>(source, from, (file, saved) => scanOpenFile(source, file, saved))
}

async function* scanOpenFile(
  source: Source,
  file: OpenFile,
  from: CodexScanCursor | undefined,
): AsyncGenerator<readonly ScanItem[]> {
  if (!from && (await isDocument(file))) return yield await scanDocument(source, file)
  const scanner = new LogScanner(source, file.modifiedMs, from)
  for await (const chunk of file.chunks(from?.offset ?? 0)) {
    const found = scanner.scan(chunk)
    const cursor = scanner.save()
    if (cursor) found.push({ kind: 'cursor', cursor: { ...cursor, inode: file.inode } })
    yield found
  }
  yield scanner.end()
}

/** By reading it: such logs are small and old. */
async function scanDocument(source: Source, file: OpenFile): Promise<readonly ScanItem[]> {
  const found: ScanItem[] = []
  const tools: Record<string, number> = {}
  let messages = 0
  const records = new Set<number>()
  for await (const batch of readDocument(source, file, {})) {
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

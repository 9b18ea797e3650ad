/** The first pass over a log: its header, its counts and its tokens. Most lines are told by their first bytes. */
import type { OpenFile } from '../../lib/bytes.ts'
import { readLog } from '../../lib/files/log-file.ts'
import type { Cursor, Scan, Source } from '../agent.ts'
import { type SavedScan, Scanner } from './count/scanner.ts'
import { isWhole, readWhole } from './read.ts'

export function scan(source: Source, from?: Cursor): AsyncGenerator<readonly Scan[]> {
  return readLog<SavedScan, Scan>(source, from, (file, saved) => scanOpen(source, file, saved))
}

async function* scanOpen(source: Source, file: OpenFile, from: SavedScan | undefined): AsyncGenerator<readonly Scan[]> {
  if (!from && (await isWhole(file))) return yield await scanWhole(source, file)
  const scanner = new Scanner(source, file.modifiedMs, from)
  for await (const chunk of file.chunks(from?.offset ?? 0)) {
    const found = scanner.scan(chunk)
    const cursor = scanner.save()
    if (cursor) found.push({ kind: 'cursor', cursor: { ...cursor, inode: file.inode } })
    yield found
  }
  yield scanner.end()
}

/** By reading it: such logs are small and old. */
async function scanWhole(source: Source, file: OpenFile): Promise<readonly Scan[]> {
  const found: Scan[] = []
  const tools: Record<string, number> = {}
  let messages = 0
  const records = new Set<number>()
  for await (const batch of readWhole(source, file, {})) {
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

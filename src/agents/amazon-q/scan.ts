/** The first pass: a conversation's header, counts and pattern. Rows are small: they are told as for the second pass. */

import { summarizeHistory } from '../../conversation/history/summary.ts'
import type { EntryList } from '../../conversation/to-messages/parse-entry.ts'
import { stringOf } from '../../lib/unknown-values.ts'
import type { HistorySummary } from '../../model/history-summary.ts'
import type { Instant } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Session } from '../../model/session.ts'
import { estimateMessage } from '../../model/tokens/token-estimate.ts'
import type { ReadItem, ScanItem, Source } from '../agent.ts'
import { isHistoryFile } from './prompt-history.ts'
import { isConversation, read, readConversation } from './read.ts'
import { readRow } from './row/read-row.ts'
import { isSourceRow } from './row/source-row.ts'
import { openDocument } from './row/state-document.ts'

export async function* scan(source: Source): AsyncGenerator<readonly ScanItem[]> {
  const row = readRow(source)
  const document = isSourceRow(row) && !isHistoryFile(row.bytes, source.path) ? openDocument(row.bytes) : undefined
  if (!isSourceRow(row) || !document || !isConversation(document)) {
    yield await countBatches(read(source))
    return
  }
  const summary = summarizeHistory({ history: iterateEntries(document.history) })
  yield await countBatches(readConversation(source, row, document, {}), summary)
}

async function countBatches(
  batches: AsyncIterable<readonly ReadItem[]>,
  summary?: HistorySummary,
): Promise<readonly ScanItem[]> {
  const found: ScanItem[] = []
  const tools: Record<string, number> = {}
  const entries = new Set<number>()
  let session: Session | undefined
  let messages = 0
  for await (const batch of batches) {
    for (const one of batch) {
      if (one.kind === 'issue') found.push(one)
      if (one.kind === 'session') session = one.session
      if (one.kind !== 'message') continue
      const { raw, source_type, tool_call } = one.message
      if (raw.line_index > 0) entries.add(raw.line_index)
      if (isUserOrAssistant(one.message)) messages++
      // What was typed may never have been sent: only a conversation is estimated.
      if (summary) found.push(...estimateItems(one.message))
      if (source_type !== 'tool_call') continue
      const name = tool_call?.name ?? 'unknown'
      tools[name] = (tools[name] ?? 0) + 1
    }
  }
  if (!session) return found
  const counts = { lines: entries.size, messages: session.kind === 'prompts' ? 0 : messages, tools }
  return [
    { kind: 'session', session },
    ...found,
    { kind: 'counts', counts },
    ...(summary ? [{ kind: 'history' as const, summary }] : []),
  ]
}

function estimateItems(message: NormalizedMessage): readonly ScanItem[] {
  const estimate = estimateMessage(message)
  if (estimate.user_bytes + estimate.assistant_bytes === 0) return []
  const model = stringOf(message.metadata?.['model'])
  return [{ kind: 'estimate', at: message.timestamp as Instant, model, estimate }]
}

const isUserOrAssistant = ({ role }: NormalizedMessage): boolean => role === 'user' || role === 'assistant'

function* iterateEntries(list: EntryList): Generator<unknown> {
  for (let at = 0; at < list.length; at++) yield list.at(at)
}

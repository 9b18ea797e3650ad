/** The first pass: headers, counts and tokens. Every record is parsed: nothing less tells what was said in it. */
import type { ByteLine } from '../../lib/lines/split-lines.ts'
import type { Instant } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { addEstimates, estimateMessage, NO_ESTIMATE } from '../../model/tokens/token-estimate.ts'
import type { Usage } from '../../model/usage.ts'
import type { FileLayout } from '../../openai/files/file-layout.ts'
import type { Cursor, ScanItem, Source } from '../agent.ts'
import type { ConversationParser } from './conversation-parser.ts'
import { parseUnit, unitIssues } from './parse-unit.ts'
import { readUnits } from './read.ts'

export function scan(source: Source, from?: Cursor): AsyncGenerator<readonly ScanItem[]> {
  return readUnits<ScanItem>(source, from, {}, ({ layout, lines }, parser) => {
    const found: ScanItem[] = []
    for (const unit of lines) countUnit(unit, layout, parser, found)
    return [found]
  })
}

function countUnit(unit: ByteLine, layout: FileLayout, parser: ConversationParser, found: ScanItem[]): void {
  const parsed = unit.bytes && parseUnit(unit, unit.bytes, layout, parser)
  if (parsed?.isBlank) return
  for (const issue of unitIssues(unit, parsed, parser.path)) found.push({ kind: 'issue', issue })
  if (!parsed || parsed.sessions.length === 0)
    found.push({ kind: 'counts', counts: { lines: 1, messages: 0, tools: {} } })
  parsed?.sessions.forEach(({ session, messages }, at) => {
    found.push({ kind: 'session', session })
    countMessages(messages, at === 0 ? 1 : 0, found)
  })
}

/** @param lines the record itself counts once, with its first session */
function countMessages(messages: readonly NormalizedMessage[], lines: number, found: ScanItem[]): void {
  const tools: Record<string, number> = {}
  let messageCount = 0
  let isCounted = false
  for (const { role, source_type, metadata, tool_call, timestamp } of messages) {
    if (metadata?.['replayed'] === true) continue
    if ((role === 'user' || role === 'assistant') && metadata?.['injected'] !== true) messageCount++
    if (source_type === 'tool_call')
      tools[tool_call?.name ?? 'unknown'] = (tools[tool_call?.name ?? 'unknown'] ?? 0) + 1
    const usage = metadata?.['usage'] as Usage | undefined
    if (!usage) continue
    const model = (metadata?.['model'] as string | null) ?? undefined
    found.push({ kind: 'usage', at: timestamp as Instant, model, usage })
    isCounted = true
  }
  if (!isCounted) addEstimate(messages, found)
  found.push({ kind: 'counts', counts: { lines, messages: messageCount, tools } })
}

/** Most files count no tokens. Their messages are of one time, or nearly. */
function addEstimate(messages: readonly NormalizedMessage[], found: ScanItem[]): void {
  const sum = messages.map(estimateMessage).reduce(addEstimates, NO_ESTIMATE)
  const at = messages.at(-1)?.timestamp as Instant | undefined
  if (at === undefined || sum.user_bytes + sum.assistant_bytes === 0) return
  found.push({ kind: 'estimate', at, model: undefined, estimate: sum })
}

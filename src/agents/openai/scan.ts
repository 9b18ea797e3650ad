/** The first pass: headers, counts and tokens. Every record is parsed: nothing less tells what was said in it. */
import type { Line } from '../../lib/jsonl.ts'
import type { Instant } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { addEstimates, estimateOf, NO_ESTIMATE } from '../../model/tokens/estimate.ts'
import type { Usage } from '../../model/usage.ts'
import type { Layout } from '../../openai/files/layout.ts'
import type { Cursor, Scan, Source } from '../agent.ts'
import { issuesOf, tellUnit } from './follower.ts'
import { readUnits } from './read.ts'
import type { Teller } from './tell.ts'

export function scan(source: Source, from?: Cursor): AsyncGenerator<readonly Scan[]> {
  return readUnits<Scan>(source, from, {}, ({ layout, lines }, teller) => {
    const found: Scan[] = []
    for (const unit of lines) count(unit, layout, teller, found)
    return [found]
  })
}

function count(unit: Line, layout: Layout, teller: Teller, found: Scan[]): void {
  const told = unit.bytes && tellUnit(unit, unit.bytes, layout, teller)
  if (told?.isBlank) return
  for (const issue of issuesOf(unit, told, teller.path)) found.push({ kind: 'issue', issue })
  if (!told || told.sessions.length === 0) found.push({ kind: 'counts', counts: { lines: 1, messages: 0, tools: {} } })
  told?.sessions.forEach(({ session, messages }, at) => {
    found.push({ kind: 'session', session })
    addUp(messages, at === 0 ? 1 : 0, found)
  })
}

/** @param lines the record itself counts once, with its first session */
function addUp(messages: readonly NormalizedMessage[], lines: number, found: Scan[]): void {
  const tools: Record<string, number> = {}
  let said = 0
  let isCounted = false
  for (const { role, source_type, metadata, tool_call, timestamp } of messages) {
    if (metadata?.['replayed'] === true) continue
    if ((role === 'user' || role === 'assistant') && metadata?.['injected'] !== true) said++
    if (source_type === 'tool_call')
      tools[tool_call?.name ?? 'unknown'] = (tools[tool_call?.name ?? 'unknown'] ?? 0) + 1
    const usage = metadata?.['usage'] as Usage | undefined
    if (!usage) continue
    const model = (metadata?.['model'] as string | null) ?? undefined
    found.push({ kind: 'usage', at: timestamp as Instant, model, usage })
    isCounted = true
  }
  if (!isCounted) estimate(messages, found)
  found.push({ kind: 'counts', counts: { lines, messages: said, tools } })
}

/** Most files count no tokens. Their messages are of one time, or nearly. */
function estimate(messages: readonly NormalizedMessage[], found: Scan[]): void {
  const sum = messages.map(estimateOf).reduce(addEstimates, NO_ESTIMATE)
  const at = messages.at(-1)?.timestamp as Instant | undefined
  if (at === undefined || sum.user_bytes + sum.assistant_bytes === 0) return
  found.push({ kind: 'estimate', at, model: undefined, estimate: sum })
}

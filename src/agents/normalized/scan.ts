/** The first pass: headers, counts and tokens. Every line is parsed: there is no quicker way to know a message. */
import type { Instant } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Usage } from '../../model/usage.ts'
import type { Cursor, ScanItem, Source } from '../agent.ts'
import { read } from './read.ts'

export async function* scan(source: Source, from?: Cursor): AsyncGenerator<readonly ScanItem[]> {
  for await (const batch of read(source, from ? { from } : {})) {
    const found: ScanItem[] = []
    for (const one of batch) {
      if (one.kind === 'message') countMessage(one.message, found)
      else if (one.kind === 'issue' && one.issue.line !== undefined && !ISSUES_WITH_MESSAGE.has(one.issue.code))
        found.push(
          { kind: 'issue', issue: one.issue },
          { kind: 'counts', counts: { lines: 1, messages: 0, tools: {} } },
        )
      else found.push(one)
    }
    if (found.length > 0) yield found
  }
}

/** The line counts with the message that it holds. */
const ISSUES_WITH_MESSAGE: ReadonlySet<IssueCode> = new Set<IssueCode>([
  'bad_utf8',
  'bad_number',
  'bad_value',
  'bad_time',
])

function countMessage(
  { role, source_type, tool_call, metadata, timestamp }: NormalizedMessage,
  found: ScanItem[],
): void {
  const isCopy = metadata?.['replayed'] === true
  const isCounted = (role === 'user' || role === 'assistant') && metadata?.['injected'] !== true && !isCopy
  const tools = source_type === 'tool_call' && !isCopy ? { [tool_call?.name ?? 'unknown']: 1 } : {}
  const usage = metadata?.['usage'] as Usage | undefined
  const model = typeof metadata?.['model'] === 'string' ? metadata['model'] : undefined
  if (usage) found.push({ kind: 'usage', at: timestamp as Instant, model, usage })
  found.push({ kind: 'counts', counts: { lines: 1, messages: isCounted ? 1 : 0, tools } })
}

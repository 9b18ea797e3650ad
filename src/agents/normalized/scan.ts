/** The first pass: headers, counts and tokens. Every line is parsed: there is no quicker way to know a message. */
import type { Instant } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Usage } from '../../model/usage.ts'
import type { Cursor, Scan, Source } from '../agent.ts'
import { read } from './read.ts'

export async function* scan(source: Source, from?: Cursor): AsyncGenerator<readonly Scan[]> {
  for await (const batch of read(source, from ? { from } : {})) {
    const found: Scan[] = []
    for (const one of batch) {
      if (one.kind === 'message') count(one.message, found)
      else if (one.kind === 'issue' && one.issue.line !== undefined && !BESIDE_A_MESSAGE.has(one.issue.code))
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
const BESIDE_A_MESSAGE: ReadonlySet<IssueCode> = new Set<IssueCode>(['bad_utf8', 'bad_number', 'bad_value', 'bad_time'])

function count({ role, source_type, tool_call, metadata, timestamp }: NormalizedMessage, found: Scan[]): void {
  const isCopy = metadata?.['replayed'] === true
  const isSaid = (role === 'user' || role === 'assistant') && metadata?.['injected'] !== true && !isCopy
  const tools = source_type === 'tool_call' && !isCopy ? { [tool_call?.name ?? 'unknown']: 1 } : {}
  const usage = metadata?.['usage'] as Usage | undefined
  const model = typeof metadata?.['model'] === 'string' ? metadata['model'] : undefined
  if (usage) found.push({ kind: 'usage', at: timestamp as Instant, model, usage })
  found.push({ kind: 'counts', counts: { lines: 1, messages: isSaid ? 1 : 0, tools } })
}

/** Messages for tests. */
import type { Instant, SessionId } from '../../src/model/ids.ts'
import type { NormalizedMessage, ToolCall } from '../../src/model/normalized.ts'
import type { Session } from '../../src/model/session.ts'

let line = 0

/** Returns a new message with a unique id. */
export function message(given: Partial<NormalizedMessage> = {}): NormalizedMessage {
  line++
  return {
    id: `2026-01-02T03:04:05.000Z#${line}`,
    timestamp: '2026-01-02T03:04:05.000Z',
    role: 'user',
    source_type: 'message',
    segments: [],
    raw: {
      event_type: null,
      payload_type: null,
      file_path: '/logs/a.jsonl',
      line_index: line,
      session_id: 'codex:one',
    },
    ...given,
  }
}

export const prompt = (text: string, given: Partial<NormalizedMessage> = {}): NormalizedMessage =>
  message({ segments: [{ channel: 'input', type: 'text', format: 'input_text', text }], ...given })

export const answer = (text: string, given: Partial<NormalizedMessage> = {}): NormalizedMessage =>
  message({ role: 'assistant', segments: [{ channel: 'output', type: 'text', format: 'output_text', text }], ...given })

export function call(id: string, name: string, args: object, given: Partial<ToolCall> = {}): NormalizedMessage {
  const tool_call: ToolCall = {
    call_id: id,
    name,
    status: 'pending',
    arguments: JSON.stringify(args),
    arguments_json: args,
    ...given,
  }
  return message({ role: 'tool', source_type: 'tool_call', tool_call })
}

export const result = (id: string, output: string, given: Partial<ToolCall> = {}): NormalizedMessage =>
  message({
    role: 'tool',
    source_type: 'tool_result',
    tool_call: { call_id: id, name: null, status: 'success', output, ...given },
  })

export const textOf = ({ segments }: NormalizedMessage): string => segments.map(({ text }) => text ?? '').join('')

export const session = (given: Partial<Session> = {}): Session => ({
  id: 'codex:one' as SessionId,
  agent: 'codex',
  native_id: 'one',
  first_record: 'abc',
  path: '/logs/a.jsonl',
  kind: 'conversation',
  started_at: '2026-01-02T03:04:05.000Z' as Instant,
  models: [],
  ancestors: [],
  ...given,
})

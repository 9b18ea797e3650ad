/** What `codex exec --json` prints: a stream of thread, turn and item events. */

import { type Fields, fieldsOf, isObject, nonEmptyStringOf, stringOf, toJsonText } from '../../../lib/unknown-values.ts'
import { NumberCheck } from '../../../model/checked-numbers.ts'
import type { ToolCall, ToolStatus } from '../../../model/normalized.ts'
import { NO_SEGMENTS } from '../../kit/place-message.ts'
import { metaDraft, type RecordDraft, withFaults } from './draft.ts'
import { unknownMetadata } from './items.ts'
import { parseTokenUsage } from './tokens.ts'
import { changedFiles } from './tools.ts'

const THREAD_EVENT = /^(?:thread|turn|item)\.[a-z_]+$/

export const isExecEvent = (record: Fields): boolean => THREAD_EVENT.test(stringOf(record['type']) ?? '')

export function execDraft(record: Fields): RecordDraft {
  const type = stringOf(record['type']) ?? ''
  if (type === 'thread.started') {
    return {
      role: 'meta',
      source_type: 'session',
      payload_type: null,
      segments: NO_SEGMENTS,
      metadata: { id: record['thread_id'] ?? null },
    }
  }
  const item = fieldsOf(record['item'])
  if (item && type.startsWith('item.')) return itemDraft(item, type)
  const usage = fieldsOf(record['usage'])
  const error = fieldsOf(record['error'])
  const metadata = {
    event_kind: type,
    ...unknownMetadata(record),
    ...(usage ? { token_count: { usage } } : {}),
    ...(error ? { error } : {}),
  }
  const check = new NumberCheck()
  const total = parseTokenUsage(usage, check)
  const draft = metaDraft(
    null,
    metadata,
    NO_SEGMENTS,
    total && { kind: 'tokens', report: { total, last: undefined, model: undefined } },
  )
  return withFaults(draft, check)
}

function itemDraft(item: Fields, event: string): RecordDraft {
  const type = stringOf(item['type']) ?? stringOf(item['item_type']) ?? null
  const done = event === 'item.completed'
  const metadata = { event_kind: event, item_id: item['id'] ?? null }
  const text = stringOf(item['text']) ?? stringOf(item['message'])
  switch (type) {
    case 'agent_message':
    case 'assistant_message':
      if (!done || text === undefined) break
      return {
        role: 'assistant',
        source_type: 'message',
        payload_type: type,
        segments: [{ channel: 'output', type: 'text', format: type, text }],
        metadata,
      }
    case 'reasoning':
      return metaDraft(type, text === undefined ? metadata : { ...metadata, reasoning_summary: text })
    case 'command_execution':
    case 'file_change':
    case 'mcp_tool_call':
    case 'web_search':
    case 'collab_tool_call':
      return toolDraft(item, type, done, metadata)
    default:
      break
  }
  const steps = item['items'] === undefined ? {} : { items: item['items'] }
  return metaDraft(type, { ...unknownMetadata(item), ...steps, ...metadata })
}

/** `item.started` is the call; `item.completed` repeats it with its outcome. */
function toolDraft(
  item: Fields,
  type: string,
  done: boolean,
  metadata: { readonly [key: string]: unknown },
): RecordDraft {
  const id = nonEmptyStringOf(item['id']) ?? null
  const check = new NumberCheck()
  const exit = check.exitCode(item['exit_code'], 'exit_code')
  const output = stringOf(item['aggregated_output']) ?? toolOutputText(item)
  const givenArguments = item['arguments'] ?? undefined
  const input = stringOf(item['command']) ?? stringOf(item['query'])
  const call: ToolCall = {
    call_id: id,
    name: nonEmptyStringOf(item['tool']) ?? type,
    status: done ? finishedStatus(item, exit) : 'pending',
    ...(nonEmptyStringOf(item['server']) ? { namespace: String(item['server']) } : {}),
    ...(nonEmptyStringOf(item['status']) ? { source_status: String(item['status']) } : {}),
    ...(givenArguments === undefined ? {} : { arguments: stringOf(givenArguments) ?? toJsonText(givenArguments) }),
    ...(isObject(givenArguments) ? { arguments_json: givenArguments } : {}),
    ...(input === undefined ? {} : { input }),
    ...(done && output !== undefined ? { output } : {}),
    ...(exit === undefined ? {} : { exit_code: exit }),
  }
  const files = item['changes'] === undefined ? {} : { files: changedFiles(item['changes']) }
  return {
    role: 'tool',
    source_type: done ? 'tool_result' : 'tool_call',
    payload_type: type,
    segments: NO_SEGMENTS,
    tool_call: call,
    metadata: { ...metadata, ...files },
    fact: done ? { kind: 'result', call_id: id ?? undefined } : id === null ? undefined : { kind: 'call', call_id: id },
    faults: check.faults,
  }
}

/** What an MCP server answered, or why it did not. */
function toolOutputText(item: Fields): string | undefined {
  const failure = stringOf(fieldsOf(item['error'])?.['message'])
  return failure ?? (isObject(item['result']) ? toJsonText(item['result']) : undefined)
}

function finishedStatus(item: Fields, exit: number | undefined): ToolStatus {
  return item['status'] === 'failed' || (exit ?? 0) !== 0 || fieldsOf(item['error']) ? 'error' : 'success'
}

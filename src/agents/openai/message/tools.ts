/** Calls of tools and their results. */
import {
  type Fields,
  fieldsOf,
  isObject,
  jsonText,
  listOf,
  parseStructure,
  stringOf,
  wordOf,
} from '../../../lib/object.ts'
import { isToolStatus, type ToolCall, type ToolStatus } from '../../../model/normalized.ts'
import { type Content, contentOf } from './content.ts'
import { type Draft, type Mutable, NO_SEGMENTS } from './draft.ts'
import { extraOf } from './metadata.ts'

/** Every call of a message, in whatever form. */
export function callsOf(message: Fields, content: Content): readonly Draft[] {
  const calls = message['tool_calls']
  const legacy = message['function_call']
  if (calls === undefined && legacy === undefined && content.calls.length === 0) return NO_DRAFTS
  const drafts = content.calls.map((part) => callDraft(part, 'tool_use', wordOf(part['name']), part['input'] ?? {}))
  for (const call of listOf(calls)) if (isObject(call)) drafts.push(toolCall(call))
  if (isObject(legacy)) drafts.push(callDraft({}, 'function_call', wordOf(legacy['name']), legacy['arguments']))
  return drafts
}

const NO_DRAFTS: readonly Draft[] = []

function toolCall(call: Fields): Draft {
  const custom = fieldsOf(call['custom'])
  if (custom) {
    const draft = callDraft(call, 'custom', wordOf(custom['name']), undefined)
    const input = stringOf(custom['input']) ?? jsonText(custom['input'] ?? '')
    const json = parseStructure(input)
    if (draft.tool_call) Object.assign(draft.tool_call, { input, ...(json ? { input_json: json } : {}) })
    return draft
  }
  const called = fieldsOf(call['function']) ?? call
  return callDraft(call, 'function', wordOf(called['name']), called['arguments'])
}

function callDraft(call: Fields, type: string, name: string | undefined, args: unknown): Draft {
  const tool: Mutable<ToolCall> = { call_id: wordOf(call['id']) ?? null, name: name ?? null, status: 'pending' }
  if (args !== undefined) {
    tool.arguments = stringOf(args) ?? jsonText(args)
    const json = typeof args === 'string' ? parseStructure(args) : args
    if (typeof json === 'object' && json !== null) tool.arguments_json = json
  }
  return {
    role: 'tool',
    source_type: 'tool_call',
    payload_type: type,
    segments: NO_SEGMENTS,
    tool_call: tool,
    metadata: extraOf(call, CALL),
  }
}

const CALL: ReadonlySet<string> = new Set(['id', 'type', 'function', 'custom', 'name', 'input', 'arguments'])

/** Name and arguments are added where the call is known. */
export function resultDraft(message: Fields, content: Content, metadata: Record<string, unknown> | undefined): Draft {
  return {
    role: 'tool',
    source_type: 'tool_result',
    payload_type: stringOf(message['role']) ?? 'tool',
    ...outcome(wordOf(message['tool_call_id']), message, content),
    metadata,
  }
}

/** A result among the parts of a message. */
export function blockResult(part: Fields): Draft {
  const content = contentOf(part['content'], 'input', 'tool', undefined)
  const answered = outcome(wordOf(part['tool_use_id']) ?? wordOf(part['id']), part, content)
  return { role: 'tool', source_type: 'tool_result', payload_type: 'tool_result', ...answered }
}

function outcome(call_id: string | undefined, source: Fields, content: Content): Pick<Draft, 'tool_call' | 'segments'> {
  const texts: string[] = []
  for (const { text } of content.segments) if (text !== undefined) texts.push(text)
  const output = texts.join('\n')
  const tool: Mutable<ToolCall> = {
    call_id: call_id ?? null,
    name: wordOf(source['name']) ?? null,
    status: statusOf(source),
    output,
  }
  const json = parseStructure(output)
  if (json) tool.output_json = json
  const segments =
    texts.length === content.segments.length ? NO_SEGMENTS : content.segments.filter(({ type }) => type === 'image')
  return { tool_call: tool, segments }
}

/** The chat API has no word for it; others do. */
function statusOf(source: Fields): ToolStatus {
  const told = fieldsOf(source['x_conv'])?.['status'] ?? source['status']
  if (isToolStatus(told) && told !== 'pending') return told
  return source['is_error'] === true ? 'error' : 'success'
}

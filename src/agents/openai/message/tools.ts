/** Calls of tools and their results. */
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  parseStructure,
  stringOf,
  toJsonText,
} from '../../../lib/unknown-values.ts'
import { isToolStatus, type ToolCall, type ToolStatus } from '../../../model/normalized.ts'
import { type ChatContent, parseChatContent } from './content.ts'
import { type ChatDraft, EMPTY_SEGMENTS, type Mutable } from './draft.ts'
import { unknownFields } from './metadata.ts'

/** Every call of a message, in whatever form. */
export function toolCallDrafts(message: Fields, content: ChatContent): readonly ChatDraft[] {
  const calls = message['tool_calls']
  const legacy = message['function_call']
  if (calls === undefined && legacy === undefined && content.calls.length === 0) return NO_DRAFTS
  const drafts = content.calls.map((part) =>
    callDraft(part, 'tool_use', nonEmptyStringOf(part['name']), part['input'] ?? {}),
  )
  for (const call of listOf(calls)) if (isObject(call)) drafts.push(toolCallDraft(call))
  if (isObject(legacy))
    drafts.push(callDraft({}, 'function_call', nonEmptyStringOf(legacy['name']), legacy['arguments']))
  return drafts
}

const NO_DRAFTS: readonly ChatDraft[] = []

function toolCallDraft(call: Fields): ChatDraft {
  const custom = fieldsOf(call['custom'])
  if (custom) {
    const draft = callDraft(call, 'custom', nonEmptyStringOf(custom['name']), undefined)
    const input = stringOf(custom['input']) ?? toJsonText(custom['input'] ?? '')
    const json = parseStructure(input)
    if (draft.tool_call) Object.assign(draft.tool_call, { input, ...(json ? { input_json: json } : {}) })
    return draft
  }
  const called = fieldsOf(call['function']) ?? call
  return callDraft(call, 'function', nonEmptyStringOf(called['name']), called['arguments'])
}

function callDraft(call: Fields, type: string, name: string | undefined, args: unknown): ChatDraft {
  const tool: Mutable<ToolCall> = {
    call_id: nonEmptyStringOf(call['id']) ?? null,
    name: name ?? null,
    status: 'pending',
  }
  if (args !== undefined) {
    tool.arguments = stringOf(args) ?? toJsonText(args)
    const json = typeof args === 'string' ? parseStructure(args) : args
    if (typeof json === 'object' && json !== null) tool.arguments_json = json
  }
  return {
    role: 'tool',
    source_type: 'tool_call',
    payload_type: type,
    segments: EMPTY_SEGMENTS,
    tool_call: tool,
    metadata: unknownFields(call, KNOWN_CALL_KEYS),
  }
}

const KNOWN_CALL_KEYS: ReadonlySet<string> = new Set(['id', 'type', 'function', 'custom', 'name', 'input', 'arguments'])

/** Name and arguments are added where the call is known. */
export function resultDraft(
  message: Fields,
  content: ChatContent,
  metadata: Record<string, unknown> | undefined,
): ChatDraft {
  return {
    role: 'tool',
    source_type: 'tool_result',
    payload_type: stringOf(message['role']) ?? 'tool',
    ...resultFields(nonEmptyStringOf(message['tool_call_id']), message, content),
    metadata,
  }
}

/** A result among the parts of a message. */
export function partResultDraft(part: Fields): ChatDraft {
  const content = parseChatContent(part['content'], 'input', 'tool', undefined)
  const answered = resultFields(nonEmptyStringOf(part['tool_use_id']) ?? nonEmptyStringOf(part['id']), part, content)
  return { role: 'tool', source_type: 'tool_result', payload_type: 'tool_result', ...answered }
}

function resultFields(
  call_id: string | undefined,
  source: Fields,
  content: ChatContent,
): Pick<ChatDraft, 'tool_call' | 'segments'> {
  const texts: string[] = []
  for (const { text } of content.segments) if (text !== undefined) texts.push(text)
  const output = texts.join('\n')
  const tool: Mutable<ToolCall> = {
    call_id: call_id ?? null,
    name: nonEmptyStringOf(source['name']) ?? null,
    status: statusOf(source),
    output,
  }
  const json = parseStructure(output)
  if (json) tool.output_json = json
  const segments =
    texts.length === content.segments.length ? EMPTY_SEGMENTS : content.segments.filter(({ type }) => type === 'image')
  return { tool_call: tool, segments }
}

/** The chat API has no word for it; others do. */
function statusOf(source: Fields): ToolStatus {
  const status = fieldsOf(source['x_conv'])?.['status'] ?? source['status']
  if (isToolStatus(status) && status !== 'pending') return status
  return source['is_error'] === true ? 'error' : 'success'
}

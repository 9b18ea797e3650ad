/** Interprets one message: reasoning, text, calls and results, in this order. */

import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  parseStructure,
  stringOf,
  toJsonText,
} from '../../lib/unknown-values.ts'
import type { Metadata } from '../../model/metadata.ts'
import {
  type Channel,
  isToolStatus,
  type MessageSegment,
  type Mutable,
  type Role,
  type ToolCall,
  type ToolStatus,
} from '../../model/normalized.ts'
import { NO_SEGMENTS } from '../kit/place-message.ts'
import {
  type ChatContent,
  type ChatDraft,
  chatMetadata,
  chatTextSegment,
  hasNoExtraFields,
  hasOnlyRoleAndContent,
  type ImageQueue,
  parseChatContent,
  reasoningKey,
  unknownFields,
} from './content.ts'

/** Fast path for a known role with plain text, the most frequent form; undefined for any other. */
export function plainTextDraft(message: Fields): ChatDraft | undefined {
  const { role: word, content: text } = message
  if (typeof text !== 'string' || !hasOnlyRoleAndContent(message)) return undefined
  const role = word === 'user' || word === 'assistant' || word === 'system' ? word : undefined
  if (role === undefined) return undefined
  const segments = text === '' ? NO_SEGMENTS : [chatTextSegment('text', text, channelOf(role), role)]
  return { role, source_type: 'message', payload_type: 'message', segments }
}

/** Never empty: an empty message has no segments. */
export function chatDrafts(message: Fields, imageQueue: ImageQueue | undefined): readonly ChatDraft[] {
  const word = stringOf(message['role']) ?? ''
  const role = chatRole(word)
  const channel = channelOf(role)
  const content = parseChatContent(message['content'] ?? message['parts'] ?? message['text'], channel, word, imageQueue)
  const metadata = chatMetadata(message, content)
  if (role === 'tool')
    return content.results.length > 0 ? content.results.map(partResultDraft) : [resultDraft(message, content, metadata)]
  const drafts: ChatDraft[] = []
  if (!hasNoExtraFields(message) || content.thoughts.length > 0 || content.secret !== undefined)
    addReasoningDraft(message, content, drafts)
  const messageDraft: ChatDraft = {
    role,
    source_type: role === 'meta' ? 'meta' : 'message',
    payload_type: 'message',
    segments: segmentsOf(message, content, channel),
    metadata,
  }
  const calls = toolCallDrafts(message, content)
  const isEmpty = messageDraft.segments.length === 0 && content.attachments.length === 0
  const isOmitted = isEmpty && (calls.length > 0 || drafts.length > 0 || content.results.length > 0)
  if (!isOmitted) drafts.push(messageDraft)
  drafts.push(...calls)
  for (const result of content.results) drafts.push(partResultDraft(result))
  // Metadata of the message is attached to its first draft that is not reasoning.
  if (isOmitted && metadata)
    addMetadata(drafts.find(({ source_type }) => source_type !== 'meta') ?? drafts[0], metadata)
  return drafts
}

function addMetadata(draft: ChatDraft | undefined, metadata: Metadata): void {
  if (draft) (draft as Mutable<ChatDraft>).metadata = { ...draft.metadata, ...metadata }
}

function chatRole(word: string): Role {
  if (word === 'user' || word === 'assistant' || word === 'tool') return word
  if (word === 'system' || word === 'developer') return 'system'
  return ROLES.get(word.toLowerCase()) ?? 'meta'
}

const ROLES: ReadonlyMap<string, Role> = new Map([
  ['function', 'tool'],
  ['ipython', 'tool'],
  ['observation', 'tool'],
  ['human', 'user'],
  ['user', 'user'],
  ['gpt', 'assistant'],
  ['model', 'assistant'],
  ['assistant', 'assistant'],
  ['system', 'system'],
  ['tool', 'tool'],
])

function channelOf(role: Role): Channel {
  if (role === 'user' || role === 'tool') return 'input'
  return role === 'assistant' ? 'output' : 'system'
}

function segmentsOf(message: Fields, content: ChatContent, channel: Channel): readonly MessageSegment[] {
  const refusal = nonEmptyStringOf(message['refusal'])
  if (refusal === undefined) return content.segments
  return [...content.segments, { channel, type: 'text', format: 'refusal', text: refusal }]
}

function addReasoningDraft(message: Fields, content: ChatContent, drafts: ChatDraft[]): void {
  const reasoningKeyName = reasoningKey(message)
  let text = reasoningKeyName === undefined ? undefined : nonEmptyStringOf(message[reasoningKeyName])
  if (content.thoughts.length > 0) text = content.thoughts.join('\n\n')
  const details = message['reasoning_details'] ?? message['thinking_blocks']
  let secret = content.secret
  if (details !== undefined) {
    const blocks = listOf(details).filter(isObject)
    secret ??= blocks.map((block) => nonEmptyStringOf(block['data'])).find((data) => data !== undefined)
    const texts = blocks.flatMap(
      (one) =>
        nonEmptyStringOf(one['text']) ?? nonEmptyStringOf(one['summary']) ?? nonEmptyStringOf(one['thinking']) ?? [],
    )
    if (text === undefined && texts.length > 0) text = texts.join('')
  }
  if (text === undefined && secret === undefined) return
  const metadata = text === undefined ? undefined : { reasoning_text: text }
  drafts.push({
    role: 'meta',
    source_type: 'meta',
    payload_type: reasoningKeyName ?? 'reasoning',
    segments: NO_SEGMENTS,
    metadata,
    secret,
  })
}

/** Every call of a message, in any format. */
function toolCallDrafts(message: Fields, content: ChatContent): readonly ChatDraft[] {
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
    segments: NO_SEGMENTS,
    tool_call: tool,
    metadata: unknownFields(call, KNOWN_CALL_KEYS),
  }
}

const KNOWN_CALL_KEYS: ReadonlySet<string> = new Set(['id', 'type', 'function', 'custom', 'name', 'input', 'arguments'])

/** Name and arguments are added if the call is known. */
function resultDraft(message: Fields, content: ChatContent, metadata: Record<string, unknown> | undefined): ChatDraft {
  return {
    role: 'tool',
    source_type: 'tool_result',
    payload_type: stringOf(message['role']) ?? 'tool',
    ...resultFields(nonEmptyStringOf(message['tool_call_id']), message, content),
    metadata,
  }
}

/** A result among the parts of a message. */
function partResultDraft(part: Fields): ChatDraft {
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
    texts.length === content.segments.length ? NO_SEGMENTS : content.segments.filter(({ type }) => type === 'image')
  return { tool_call: tool, segments }
}

/** The chat API has no status, but other formats do. */
function statusOf(source: Fields): ToolStatus {
  const status = fieldsOf(source['x_conv'])?.['status'] ?? source['status']
  if (isToolStatus(status) && status !== 'pending') return status
  return source['is_error'] === true ? 'error' : 'success'
}

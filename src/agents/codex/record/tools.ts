/** Calls of tools and their results. */
import {
  type Fields,
  fieldsOf,
  listOf,
  nonEmptyStringOf,
  parseStructure,
  stringOf,
  toJsonText,
} from '../../../lib/unknown-values.ts'
import type { Metadata } from '../../../model/metadata.ts'
import type { MessageSegment, ToolCall, ToolStatus } from '../../../model/normalized.ts'
import { mediaOf } from './content.ts'
import { NO_SEGMENTS, type RecordDraft } from './draft.ts'
import { parseToolOutput } from './tool-output.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** `function_call`, and the bare `tool_call` that some exports write. */
export function functionCall(payload: Fields, type: string): RecordDraft {
  const nested = fieldsOf(payload['function'])
  const name = nonEmptyStringOf(payload['name']) ?? nonEmptyStringOf(nested?.['name'])
  const call = newCall(callIdOf(payload), name, payload['namespace'])
  setArguments(call, payload['arguments'] ?? payload['input'] ?? nested?.['arguments'])
  return callDraft(type, call, payload)
}

/** `custom_tool_call`: its input is text that no grammar is known of. */
export function customCall(payload: Fields, type: string): RecordDraft {
  const call = newCall(callIdOf(payload), nonEmptyStringOf(payload['name']), payload['namespace'])
  const input = payload['input']
  if (input === undefined) setArguments(call, payload['arguments'])
  else {
    call.input = asText(input)
    const json = parseStructure(call.input)
    if (json) call.input_json = json
  }
  return callDraft(type, call, payload)
}

export function localShellCall(payload: Fields, type: string): RecordDraft {
  const call = newCall(callIdOf(payload), 'local_shell', undefined)
  setArguments(call, payload['action'])
  return callDraft(type, call, payload)
}

export function toolSearchCall(payload: Fields, type: string): RecordDraft {
  const call = newCall(callIdOf(payload), 'tool_search', undefined)
  setArguments(call, payload['arguments'])
  return callDraft(type, call, payload)
}

/** Call and result in one record: the server ran it. */
export function webSearchCall(payload: Fields, type: string): RecordDraft {
  const call = newCall(
    nonEmptyStringOf(payload['call_id']) ?? nonEmptyStringOf(payload['id']) ?? null,
    'web_search',
    undefined,
  )
  setArguments(call, payload['action'])
  call.status = finishedStatus(payload['status'])
  return callDraft(type, call, payload)
}

export function imageGenerationCall(payload: Fields, type: string): RecordDraft {
  const call = newCall(
    nonEmptyStringOf(payload['call_id']) ?? nonEmptyStringOf(payload['id']) ?? null,
    'image_generation',
    undefined,
  )
  const prompt = nonEmptyStringOf(payload['revised_prompt'])
  if (prompt !== undefined) call.input = prompt
  call.status = finishedStatus(payload['status'])
  return { ...callDraft(type, call, payload), segments: generatedImage(payload['result']) }
}

function generatedImage(result: unknown): readonly MessageSegment[] {
  const base64 = nonEmptyStringOf(result)
  if (base64 === undefined) return NO_SEGMENTS
  const url = base64.startsWith('data:') ? base64 : `data:image/png;base64,${base64}`
  return [{ channel: 'output', type: 'image', format: 'image_generation_call', media: mediaOf(url) }]
}

/** Every kind of output. Name and arguments are added where the call is known. */
export function toolOutput(payload: Fields, type: string): RecordDraft {
  const found = payload['tools'] === undefined ? undefined : toJsonText(payload['tools'])
  const output = parseToolOutput(payload['output'] ?? payload['result'] ?? found, parseStructure)
  const call: Mutable<ToolCall> = {
    call_id: callIdOf(payload),
    name: nonEmptyStringOf(payload['name']) ?? null,
    status: output.status,
    output: output.text,
  }
  const namespace = nonEmptyStringOf(payload['namespace'])
  if (namespace !== undefined) call.namespace = namespace
  const sourceStatus = nonEmptyStringOf(payload['status'])
  if (sourceStatus !== undefined) call.source_status = sourceStatus
  if (output.json) call.output_json = output.json
  if (output.exit_code !== undefined) call.exit_code = output.exit_code
  if (output.duration_ms !== undefined) call.duration_ms = output.duration_ms
  return {
    role: 'tool',
    source_type: 'tool_result',
    payload_type: type,
    segments: output.images,
    tool_call: call,
    metadata: output.attachments && { attachments: output.attachments },
    secret: output.secret,
    fact: { kind: 'result', call_id: call.call_id ?? undefined },
    faults: output.faults,
  }
}

/** A call that stands among the parts of a message, in the form of another vendor. */
export function toolUsePart(part: Fields): RecordDraft {
  const call = newCall(nonEmptyStringOf(part['id']) ?? null, nonEmptyStringOf(part['name']), undefined)
  setArguments(call, part['input'])
  return callDraft('tool_use', call, part)
}

/** One element of a chat message's `tool_calls`. */
export function chatToolCall(value: unknown): RecordDraft {
  const fields = fieldsOf(value) ?? {}
  return functionCall(
    { ...fields, call_id: fields['id'], id: undefined },
    nonEmptyStringOf(fields['type']) ?? 'function',
  )
}

function newCall(call_id: string | null, name: string | undefined, namespace: unknown): Mutable<ToolCall> {
  const call: Mutable<ToolCall> = { call_id, name: name ?? null, status: 'pending' }
  const space = nonEmptyStringOf(namespace)
  if (space !== undefined) call.namespace = space
  return call
}

function setArguments(call: Mutable<ToolCall>, value: unknown): void {
  if (value === undefined || value === null) return
  call.arguments = asText(value)
  const json = typeof value === 'object' ? value : parseStructure(call.arguments)
  if (json) call.arguments_json = json
}

const asText = (value: unknown): string => stringOf(value) ?? toJsonText(value)

const callIdOf = (payload: Fields): string | null =>
  nonEmptyStringOf(payload['call_id']) ??
  nonEmptyStringOf(payload['tool_call_id']) ??
  nonEmptyStringOf(payload['callId']) ??
  null

function finishedStatus(status: unknown): ToolStatus {
  if (status === 'in_progress' || status === 'incomplete') return 'pending'
  return status === 'failed' ? 'error' : 'success'
}

function callDraft(type: string, call: Mutable<ToolCall>, payload: Fields): RecordDraft {
  const status = nonEmptyStringOf(payload['status'])
  if (status !== undefined) call.source_status = status
  const summary = nonEmptyStringOf(payload['summary'])
  return {
    role: 'tool',
    source_type: 'tool_call',
    payload_type: type,
    segments: NO_SEGMENTS,
    tool_call: call,
    metadata: summary === undefined ? undefined : ({ summary } satisfies Metadata),
    secret: stringOf(payload['encrypted_function_args']) ?? stringOf(listOf(payload['encrypted_function_args'])[0]),
    fact: call.call_id === null ? undefined : { kind: 'call', call_id: call.call_id },
  }
}

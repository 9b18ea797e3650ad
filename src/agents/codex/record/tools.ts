/** Tool calls and their results.  */

import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  numberOf,
  parseStructure,
  stringOf,
  toJsonText,
} from '../../../lib/unknown-values.ts'
import { NumberCheck } from '../../../model/checked-numbers.ts'
import type { Attachment, Metadata } from '../../../model/metadata.ts'
import type { MessageSegment, Mutable, ToolCall, ToolStatus } from '../../../model/normalized.ts'
import { NO_SEGMENTS } from '../../kit/place-message.ts'
import { attachmentOf, mediaOf } from './content.ts'
import type { RecordDraft } from './draft.ts'

/** `function_call`, and the bare `tool_call` that some exports write. */
export function functionCall(payload: Fields, type: string): RecordDraft {
  const nested = fieldsOf(payload['function'])
  const name = nonEmptyStringOf(payload['name']) ?? nonEmptyStringOf(nested?.['name'])
  const call = newCall(callIdOf(payload), name, payload['namespace'])
  setArguments(call, payload['arguments'] ?? payload['input'] ?? nested?.['arguments'])
  return callDraft(type, call, payload)
}

/** `custom_tool_call`: its input is free text. */
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

/** Call and result in one record, because the server ran it. */
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

/** A call among the parts of a message, as other vendors write it. */
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

export interface ToolOutput {
  readonly text: string
  readonly json: object | undefined
  readonly images: readonly MessageSegment[]
  readonly secret?: string | undefined
  /** Parts that are neither text nor image, described. */
  readonly attachments?: readonly Attachment[]
  readonly exit_code?: number | undefined
  readonly duration_ms?: number | undefined
  readonly status: ToolStatus
  /** Fields without a usable number. */
  readonly faults?: readonly string[] | undefined
}

/** A string, a list of parts, or the object form that other programs export. */
export function parseToolOutput(value: unknown, parse: (text: string) => object | undefined): ToolOutput {
  if (typeof value === 'string') return textOutput(value, parse(value), [])
  if (Array.isArray(value)) return partsOutput(value, parse)
  const content = fieldsOf(value)?.['content']
  if (content !== undefined && isObject(value)) {
    const inner = parseToolOutput(content, parse)
    return value['success'] === false ? { ...inner, status: 'error' } : inner
  }
  if (value === undefined || value === null) return textOutput('', undefined, [])
  const text = toJsonText(value)
  return textOutput(text, typeof value === 'object' ? value : undefined, [])
}

function partsOutput(parts: readonly unknown[], parse: (text: string) => object | undefined): ToolOutput {
  if (parts.length > 0 && !parts.some(isPart)) return textOutput(toJsonText(parts), parts, [])
  const texts: string[] = []
  const images: MessageSegment[] = []
  const attachments: Attachment[] = []
  let secret: string | undefined
  for (const part of parts) {
    const fields = fieldsOf(part)
    const text = stringOf(part) ?? stringOf(fields?.['text'])
    const url = stringOf(fields?.['image_url']) ?? stringOf(fieldsOf(fields?.['image_url'])?.['url'])
    if (text !== undefined) texts.push(text)
    else if (url !== undefined) {
      images.push({
        channel: 'input',
        type: 'image',
        format: stringOf(fields?.['type']) ?? 'input_image',
        media: mediaOf(url),
      })
    } else if (fields?.['encrypted_content'] !== undefined) secret ??= stringOf(fields['encrypted_content'])
    else if (fields) attachments.push(attachmentOf(stringOf(fields['type']) ?? 'unknown', fields))
  }
  const text = texts.join('\n')
  const output = { ...textOutput(text, parse(text), images), secret }
  return attachments.length > 0 ? { ...output, attachments } : output
}

const isPart = (part: unknown): boolean =>
  typeof part === 'string' || stringOf(fieldsOf(part)?.['type'] ?? fieldsOf(part)?.['text']) !== undefined

function textOutput(text: string, json: object | undefined, images: readonly MessageSegment[]): ToolOutput {
  const metadata = json && 'metadata' in json ? fieldsOf(json.metadata) : undefined
  if (metadata) {
    // Tools put their own metadata here, so other types are not faults.
    const check = new NumberCheck()
    const exit = check.exitCode(numberOf(metadata['exit_code']), 'exit_code')
    const duration_ms = check.duration(numberOf(metadata['duration_seconds']), 'duration_seconds', MS_PER_SECOND)
    return { text, json, images, exit_code: exit, duration_ms, status: statusFromExitCode(exit), ...faultsOf(check) }
  }
  const header = headerOf(text)
  const exit = header === '' ? null : EXIT.exec(header)
  const wall = header === '' ? null : WALL.exec(header)
  if (!exit && !wall && !ABORTED_HEAD.test(text))
    return { text, json, images, status: statusFromText(text.slice(0, 200), false) }
  const check = new NumberCheck()
  const code = exit ? check.exitCode(Number(exit[1] ?? exit[2]), 'Exit code') : undefined
  const status = code === undefined ? statusFromText(text.slice(0, 200), wall !== null) : statusFromExitCode(code)
  const seconds = wall ?? (status === 'aborted' ? ABORTED_AFTER.exec(text) : null)
  return {
    text,
    json,
    images,
    exit_code: code,
    duration_ms: seconds ? check.duration(Number(seconds[1]), 'Wall time', MS_PER_SECOND) : undefined,
    status,
    ...faultsOf(check),
  }
}

const faultsOf = ({ faults }: NumberCheck) => (faults ? { faults } : undefined)

const MS_PER_SECOND = 1000

/** The text above the line `Output:`: a few lines, more if it quotes the command. */
function headerOf(text: string): string {
  const head = text.slice(0, MAX_HEADER_LENGTH)
  const end = head.search(OUTPUT)
  if (end < 0) return HEADER_START.test(head) ? head.slice(0, 400) : ''
  const header = head.slice(0, end)
  return header.startsWith('Command: ') || header.split('\n').length <= 8 ? header : ''
}

const MAX_HEADER_LENGTH = 4096
const OUTPUT = /^Output:/m
const HEADER_START = /^(?:Exit code: |Chunk ID: |Wall time|Process (?:exited|running) with )/
const EXIT = /^(?:Exit code: (-?\d+)|Process exited with code (-?\d+))\s*$/m
const WALL = /^Wall time:? (\d+(?:\.\d+)?) seconds\s*$/m
/** Behind a header line, or by itself with the time it took. */
const ABORTED = /^(?:Wall time:? [\d.]+ seconds\n)?(?:aborted\b|.*\baborted by user\b)/i
/** Cheap: most outputs have no such words. */
const ABORTED_HEAD = /^aborted/
const ABORTED_AFTER = /^aborted by user after (\d+(?:\.\d+)?)s/
const CANCELLED =
  /^(?:(?:exec )?command rejected by user|patch rejected by user|rejected by user|user (?:cancelled|canceled|declined|denied))/i
const FAILED =
  /^(?:script failed\b|err:|error:|execution error:|exec_command failed\b|write_stdin failed\b|apply_patch verification failed\b|failed to parse (?:function )?arguments|failed in sandbox|unsupported (?:custom tool )?call\b|unknown (?:tool|process id)\b|tool call error\b|patch failed\b|timed out\b|command timed out\b)/i

function statusFromText(head: string, hasHeader: boolean): ToolStatus {
  if (ABORTED.test(head)) return 'aborted'
  if (!hasHeader && CANCELLED.test(head)) return 'cancelled'
  return FAILED.test(head) ? 'error' : 'success'
}

const statusFromExitCode = (code: number | undefined): ToolStatus =>
  code === undefined || code === 0 ? 'success' : 'error'

/** `{secs, nanos}`, or a number of milliseconds, or text such as `1.5s`. */
export function parseDuration(value: unknown, check: NumberCheck): number | undefined {
  const fields = fieldsOf(value)
  if (fields) {
    const seconds = check.duration(fields['secs'], 'duration.secs', MS_PER_SECOND)
    const rest = check.duration(fields['nanos'], 'duration.nanos', 1e-6)
    // Together, so that half a millisecond of each is rounded once.
    return seconds === undefined || rest === undefined
      ? seconds
      : check.duration(Number(fields['secs']) * MS_PER_SECOND + Number(fields['nanos']) / 1e6, 'duration')
  }
  const text = stringOf(value)
  if (text === undefined) return check.duration(value, 'duration')
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s)$/.exec(text)
  return check.duration(match ? Number(match[1]) : value, 'duration', match?.[2] === 's' ? MS_PER_SECOND : 1)
}

export const changedFiles = (changes: unknown): readonly { readonly path: string; readonly change: string }[] => {
  const fields = fieldsOf(changes)
  if (!fields) return listOf(changes).flatMap((one) => changedFile(fieldsOf(one)))
  return Object.entries(fields).map(([path, change]) => ({ path, change: changeKind(change) }))
}

function changedFile(fields: { readonly [key: string]: unknown } | undefined) {
  const path = stringOf(fields?.['path'])
  return path === undefined ? [] : [{ path, change: changeKind(fields?.['kind'] ?? fields) }]
}

/** Tagged by `type`, or, in older logs, by the only key. */
function changeKind(change: unknown): string {
  const fields = fieldsOf(change)
  return stringOf(change) ?? stringOf(fields?.['type']) ?? Object.keys(fields ?? {})[0] ?? 'update'
}

/** The messages of a history entry, before they get their number, time and source. */

import { isSameJson } from '../../lib/json/compare.ts'
import { type Fields, fieldsOf, isObject, listOf, parseStructure, stringOf } from '../../lib/unknown-values.ts'
import { validExitCodeOf } from '../../model/checked-numbers.ts'
import { type Metadata, MISSING_MARK, metadataFromSource } from '../../model/metadata.ts'
import type {
  Annotation,
  MessageSegment,
  Mutable,
  Role,
  SourceType,
  ToolCall,
  ToolStatus,
} from '../../model/normalized.ts'
import { programPromptName } from '../program-prompts.ts'
import { exactText, type ParsedEntry, type Variant } from './parse-entry.ts'

export interface EntryDraft {
  /** Which half of the entry it comes from; each has its own time. */
  readonly side: 'input' | 'answer'
  readonly role: Role
  readonly source_type: SourceType
  /** The agent's own name: `Prompt`, `ToolUse` … */
  readonly payload_type: string
  readonly segments: readonly MessageSegment[]
  readonly tool_call?: ToolCall
  readonly metadata?: Metadata
}

/** @param values values of the source; empty ones are omitted */
export function metadataField(values: Fields, own: Metadata = {}): { readonly metadata?: Metadata } {
  const present: Record<string, unknown> = {}
  for (const key in values) {
    const value = values[key]
    if (value !== undefined && value !== null && value !== '') present[key] = value
  }
  const metadata = { ...own, ...metadataFromSource(present) }
  for (const _ in metadata) return { metadata }
  return {}
}

/** Requested tools without a result, by call id. */
export type CallsById = ReadonlyMap<string, ToolCall>

type Input = Pick<ParsedEntry, 'user' | 'input' | 'exact'>

/** Results in order, then the prompt. */
export function inputDrafts({ user, input, exact }: Input, calls: CallsById): readonly EntryDraft[] {
  const { tag, body } = input
  const images = imageSegments(user['images'])
  const shared = {
    env: fieldsOf(user['env_context'])?.['env_state'],
    additional_context: user['additional_context'],
  }
  if (tag === 'Prompt') return [promptDraft(tag, stringOf(body['prompt']) ?? '', images, shared)]
  if (tag === 'ToolUseResults' || tag === 'CancelledToolUses')
    return resultDrafts(input, images, shared, calls, exact === true)
  return [unknownInputDraft(tag, images, { ...shared, ...body })]
}

/** An input of unknown kind contains no message, but is preserved with all its fields. */
function unknownInputDraft(tag: string, images: readonly MessageSegment[], shared: Fields): EntryDraft {
  return {
    side: 'input',
    role: 'meta',
    source_type: 'meta',
    payload_type: tag,
    segments: images,
    ...metadataField(shared, { event_kind: tag }),
  }
}

function resultDrafts(
  { tag, body }: Variant,
  images: readonly MessageSegment[],
  shared: Fields,
  calls: CallsById,
  exact: boolean,
): readonly EntryDraft[] {
  const cancelled = tag === 'CancelledToolUses'
  const prompt = stringOf(body['prompt'])
  const results = listOf(body['tool_use_results']).filter(isObject)
  if (results.length === 0 && prompt === undefined) return [unknownInputDraft(tag, images, shared)]
  const drafts = results.map((result, at): EntryDraft => {
    const isLast = at === results.length - 1 && prompt === undefined
    return {
      side: 'input',
      role: 'tool',
      source_type: 'tool_result',
      payload_type: tag,
      // The format does not say which result an image belongs to, so images go with the last.
      segments: isLast ? images : [],
      tool_call: toToolResult(result, cancelled, calls, exact),
      ...metadataField({ ...(at === 0 && prompt === undefined ? shared : {}), blocks: blockNames(result) }),
    }
  })
  return prompt === undefined ? drafts : [...drafts, promptDraft(tag, prompt, images, shared)]
}

function promptDraft(tag: string, text: string, images: readonly MessageSegment[], shared: Fields): EntryDraft {
  const what = programPromptName(text)
  const annotations: readonly Annotation[] =
    what === undefined ? [] : [{ kind: 'injected', start: 0, end: text.length, what }]
  const segment: MessageSegment = {
    channel: 'input',
    type: 'text',
    format: 'input_text',
    text,
    ...(what !== undefined && { annotations }),
  }
  return {
    side: 'input',
    role: 'user',
    source_type: 'message',
    payload_type: tag,
    segments: [segment, ...images],
    ...metadataField(shared, what === undefined ? {} : { injected: true }),
  }
}

/** The first prompt that a person typed. */
export const typedPromptIn = (drafts: readonly EntryDraft[]): string | undefined =>
  drafts.find(({ role, metadata }) => role === 'user' && metadata?.injected !== true)?.segments[0]?.text

function toToolResult(result: Fields, cancelled: boolean, calls: CallsById, exact: boolean): ToolCall {
  const id = stringOf(result['tool_use_id']) ?? null
  const status = stringOf(result['status'])
  const blocks = listOf(result['content'])
  const calledTool = id === null ? undefined : calls.get(id)
  const call: Mutable<ToolCall> = {
    call_id: id,
    name: calledTool?.name ?? null,
    status: cancelled ? 'cancelled' : statusOf(status),
  }
  if (status !== undefined) call.source_status = status
  if (calledTool?.arguments !== undefined) call.arguments = calledTool.arguments
  if (calledTool?.arguments_json) call.arguments_json = calledTool.arguments_json
  call.output = joinBlocks(blocks, exact)
  const value = blocks.length === 1 && isObject(blocks[0]) ? blockValue(blocks[0]) : undefined
  if (!value) return call
  call.output_json = value
  const exit = exitCodeOf(value)
  if (exit !== undefined) call.exit_code = exit
  return call
}

function joinBlocks(blocks: readonly unknown[], exact: boolean): string {
  const [first] = blocks
  if (blocks.length === 1 && isObject(first)) return blockText(first, exact)
  return blocks
    .filter(isObject)
    .map((block) => blockText(block, exact))
    .join('\n')
}

/** Ids of the calls that an input answers. */
export function answeredCallIds({ input }: Pick<ParsedEntry, 'input'>): readonly string[] {
  const results = input.body['tool_use_results']
  if (!Array.isArray(results)) return NO_IDS
  return results.flatMap((result) => (isObject(result) ? (stringOf(result['tool_use_id']) ?? []) : []))
}

const NO_IDS: readonly string[] = []

const statusOf = (status: string | undefined): ToolStatus => (status === 'Error' ? 'error' : 'success')

function blockText(block: Fields, exact: boolean): string {
  const text = block['Text']
  return typeof text === 'string' ? text : exactText('Json' in block ? block['Json'] : block, exact)
}

function blockValue(block: Fields): object | undefined {
  const { Text: text, Json: value } = block
  if (typeof text === 'string') return parseStructure(text)
  return typeof value === 'object' && value !== null ? value : undefined
}

/** Only if the plain text does not imply them. */
function blockNames(result: Fields): readonly string[] | undefined {
  const blocks = listOf(result['content'])
  if (blocks.length === 1 && isObject(blocks[0]) && typeof blocks[0]['Text'] === 'string') return undefined
  return blocks.flatMap((block) => (isObject(block) ? (Object.keys(block)[0] ?? []) : []))
}

/** Exit code reported by the shell tool. */
function exitCodeOf(value: object | undefined): number | undefined {
  const status = fieldsOf(value)?.['exit_status']
  const code = typeof status === 'string' && /^-?\d+$/.test(status) ? Number(status) : status
  return validExitCodeOf(code)
}

/** Images next to a message. */
function imageSegments(images: unknown): readonly MessageSegment[] {
  return listOf(images)
    .filter(isObject)
    .map(({ format, source }) => {
      const mime_type = `image/${(stringOf(format) ?? 'unknown').toLowerCase()}`
      const base64 = base64Of(fieldsOf(source)?.['Bytes'])
      const media = base64 === undefined ? { mime_type } : withData(mime_type, base64)
      return { channel: 'input', type: 'image', format: 'input_image', media }
    })
}

function withData(mime_type: string, base64: string) {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  const size_bytes = Math.max(0, Math.floor((base64.length * 3) / 4) - padding)
  return { data_uri: `data:${mime_type};base64,${base64}`, mime_type, size_bytes }
}

/** Usually already encoded; a list only in a lossless parse. */
function base64Of(bytes: unknown): string | undefined {
  if (typeof bytes === 'string') return bytes
  const isBytes = Array.isArray(bytes) && bytes.every((one) => Number.isInteger(one) && one >= 0 && one <= 255)
  return isBytes ? Buffer.from(bytes as number[]).toString('base64') : undefined
}

/** Text is one message, omitted if empty; each tool is another. */
export function answerDrafts({ answer, request, exact }: ParsedEntry): readonly EntryDraft[] {
  const { tag, body } = answer
  const shared = {
    message_id: body['message_id'],
    model: request?.['model_id'],
    request: request && requestFields(request),
  }
  if (tag !== 'Response' && tag !== 'ToolUse')
    return [
      {
        side: 'answer',
        role: 'meta',
        source_type: 'meta',
        payload_type: tag,
        segments: [],
        ...metadataField({ ...shared, ...body }, { event_kind: tag }),
      },
    ]
  const text = stringOf(body['content']) ?? ''
  const textDrafts: readonly EntryDraft[] =
    text === ''
      ? []
      : [
          {
            side: 'answer',
            role: 'assistant',
            source_type: 'message',
            payload_type: tag,
            segments: [{ channel: 'output', type: 'text', format: 'output_text', text }],
            ...metadataField({ ...shared, ...(tag === 'ToolUse' && { thinking: true }) }),
          },
        ]
  const uses = tag === 'ToolUse' ? listOf(body['tool_uses']).filter(isObject) : []
  return [
    ...textDrafts,
    ...uses.map((use, at) => useDraft(tag, use, at === 0 && textDrafts.length === 0 ? shared : {}, exact === true)),
  ]
}

/** Leaves out the pauses between chunks, which are numerous and unimportant, but keeps their number. */
export function requestFields(request: Fields): Fields {
  if (!('time_between_chunks' in request)) return request
  const { time_between_chunks, ...rest } = request
  return { ...rest, chunks: listOf(time_between_chunks).length }
}

function useDraft(tag: string, use: Fields, shared: Fields, exact: boolean): EntryDraft {
  const { args, orig_args } = use
  const call = toToolCall(use, exact)
  return {
    side: 'answer',
    role: 'tool',
    source_type: 'tool_call',
    payload_type: tag,
    segments: [],
    tool_call: call,
    ...metadataField({
      ...shared,
      ...(use['orig_name'] !== use['name'] && { orig_name: use['orig_name'], sent_name: use['name'] }),
      ...(orig_args !== undefined && !isSameJson(orig_args, args) && { orig_args }),
    }),
  }
}

/** The tools that an answer requests. */
export const requestedCalls = ({ answer, exact }: ParsedEntry): readonly ToolCall[] =>
  answer.tag === 'ToolUse'
    ? listOf(answer.body['tool_uses'])
        .filter(isObject)
        .map((use) => toToolCall(use, exact === true))
    : []

const toToolCall = (use: Fields, exact: boolean): ToolCall => ({
  call_id: stringOf(use['id']) ?? null,
  name: nameOf(use),
  status: 'pending',
  arguments: exactText(use['args'], exact),
  ...(isObject(use['args']) && { arguments_json: use['args'] }),
})

/** The name sent for a tool that the program no longer knows. */
const UNKNOWN_TOOL = 'dummy'

function nameOf(use: Fields): string | null {
  const sent = stringOf(use['name']) ?? null
  return sent === UNKNOWN_TOOL ? (stringOf(use['orig_name']) ?? sent) : sent
}

/** Marks inserted parts, and results that are in a cancellation only because the format requires it. */
export function applyConversionFields(draft: EntryDraft, written: Fields | undefined): EntryDraft {
  if (!written) return draft
  const { tool_call } = draft
  const synthetic = listOf(written['made'])
  const name = draft.source_type === 'tool_result' ? tool_call?.call_id : PART_NAMES.get(draft.role)
  const marked = synthetic.includes(name)
    ? { ...draft, metadata: { ...draft.metadata, synthetic: MISSING_MARK } as const }
    : draft
  if (written['not_cancelled'] !== true || tool_call?.status !== 'cancelled') return marked
  return { ...marked, tool_call: { ...tool_call, status: tool_call.source_status === 'Error' ? 'error' : 'success' } }
}

/** Index of the message that carries the entry's records: the first that was not inserted. */
export const recordDraftIndex = (drafts: readonly EntryDraft[]): number =>
  Math.max(
    0,
    drafts.findIndex(({ metadata }) => metadata?.synthetic !== MISSING_MARK),
  )

const PART_NAMES: ReadonlyMap<string, string> = new Map([
  ['user', 'prompt'],
  ['assistant', 'answer'],
])

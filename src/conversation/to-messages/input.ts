/** The half of an entry that goes to the model: a prompt, the results of tools, or both after a cancellation. */
import { type Fields, fieldsOf, isObject, listOf, parseStructure, stringOf } from '../../lib/unknown-values.ts'
import { validExitCodeOf } from '../../model/checked-numbers.ts'
import type { MessageSegment, ToolCall, ToolStatus } from '../../model/normalized.ts'
import { type EntryDraft, metadataField } from './entry-draft.ts'
import { exactText } from './exact-text.ts'
import type { ParsedEntry, Variant } from './parse-entry.ts'

/** The tools that were asked for and not yet answered, by the id of the call. */
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

/** Nobody says anything, but it stands there with all that is around it. */
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
      // Which result an image belongs to is not told: it stands with the last.
      segments: isLast ? images : [],
      tool_call: toToolResult(result, cancelled, calls, exact),
      ...metadataField({ ...(at === 0 && prompt === undefined ? shared : {}), blocks: blockNames(result) }),
    }
  })
  return prompt === undefined ? drafts : [...drafts, promptDraft(tag, prompt, images, shared)]
}

function promptDraft(tag: string, text: string, images: readonly MessageSegment[], shared: Fields): EntryDraft {
  return {
    side: 'input',
    role: 'user',
    source_type: 'message',
    payload_type: tag,
    segments: [{ channel: 'input', type: 'text', format: 'input_text', text }, ...images],
    ...metadataField(shared),
  }
}

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

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

function joinBlocks(blocks: readonly unknown[], exact: boolean): string {
  const [first] = blocks
  if (blocks.length === 1 && isObject(first)) return blockText(first, exact)
  return blocks
    .filter(isObject)
    .map((block) => blockText(block, exact))
    .join('\n')
}

/** The ids that an input answers. */
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

/** Only where the plain text does not tell it. */
function blockNames(result: Fields): readonly string[] | undefined {
  const blocks = listOf(result['content'])
  if (blocks.length === 1 && isObject(blocks[0]) && typeof blocks[0]['Text'] === 'string') return undefined
  return blocks.flatMap((block) => (isObject(block) ? (Object.keys(block)[0] ?? []) : []))
}

/** What the shell tool reports. */
function exitCodeOf(value: object | undefined): number | undefined {
  const status = fieldsOf(value)?.['exit_status']
  const code = typeof status === 'string' && /^-?\d+$/.test(status) ? Number(status) : status
  return validExitCodeOf(code)
}

/** Images beside a message. */
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

/** Usually packed already; a list only where the row was read to the letter. */
function base64Of(bytes: unknown): string | undefined {
  if (typeof bytes === 'string') return bytes
  const isBytes = Array.isArray(bytes) && bytes.every((one) => Number.isInteger(one) && one >= 0 && one <= 255)
  return isBytes ? Buffer.from(bytes as number[]).toString('base64') : undefined
}

/** The codecs of request metadata, models, file counts and tools. */

import { isJsonObject, JsonNumber, type JsonValue, jsonEntries } from '../../lib/json/lossless.ts'
import type {
  Duration,
  FileLineTracker,
  FileStats,
  MessageMetaTag,
  ModelInfo,
  RequestMetadata,
  Summary,
  Tool,
  ToolInputSchema,
  ToolSpec,
  ToolSpecification,
  Unsigned,
} from '../record.ts'
import { EMPTY_METADATA } from '../record.ts'
import { type Codec, dictionary, flag, integer, list, text, tuple, unsigned } from './codec.ts'
import { freeJson } from './free-json.ts'
import { addRepair, type ReadContext, UnreadableError } from './read-context.ts'
import { defaulted, optional, required, struct, whenSet } from './struct.ts'
import { names, variants } from './variants.ts'

const durationFields = struct<Duration>('Duration', {
  secs: required(unsigned),
  nanos: required(integer(0, 2 ** 32 - 1)),
})

/** Nanoseconds of a second and more are carried over. A state holds thousands, so the usual shape takes a short way. */
export const duration: Codec<Duration> = {
  read(value, context) {
    if (!context.strict && isCommonDuration(value)) return value
    if (context.strict) refuseUnknown(value, context)
    const read = durationFields.read(value, context)
    if (read.nanos < 1e9) return read
    const secs =
      BigInt(String(read.secs instanceof JsonNumber ? read.secs.text : read.secs)) +
      BigInt(Math.floor(read.nanos / 1e9))
    return { secs: unsigned.read(toUnsigned(secs), context), nanos: read.nanos % 1e9 }
  },
  lower(value, context) {
    if (context.keep === 'all' && isCommonDuration(value))
      for (const first in value) if (first === 'secs') return value as JsonValue & Duration
    return durationFields.lower(value, context)
  },
}

/** Alone among the types of the original, a duration takes no field that it does not know. */
function refuseUnknown(value: unknown, context: ReadContext): void {
  const keys = isJsonObject(value) ? jsonEntries(value).map(([key]) => key) : []
  const unknown = keys.find((key) => key !== 'secs' && key !== 'nanos')
  if (unknown !== undefined) throw new UnreadableError(context, `unknown field \`${unknown}\` in Duration`, unknown)
}

function isCommonDuration(value: unknown): value is Duration {
  if (typeof value !== 'object' || value === null || !('secs' in value) || !('nanos' in value)) return false
  const { secs, nanos } = value
  return (
    Number.isSafeInteger(secs) &&
    Number.isInteger(nanos) &&
    Number(secs) >= 0 &&
    Number(nanos) >= 0 &&
    Number(nanos) < 1e9
  )
}

function toUnsigned(value: bigint): Unsigned {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : new JsonNumber(String(value))
}

export const metaTag: Codec<MessageMetaTag> = names(
  'message meta tag',
  ['Compact', 'GenerateAgent', 'TangentMode'],
  null,
)
const tagList = list(metaTag)
const metaTags: Codec<readonly MessageMetaTag[]> = {
  read: tagList.read,
  lower(value, context) {
    return context.keep === 'all' ? value : value.filter((tag) => metaTag.lower(tag, context) !== null)
  },
}

export const chatConversationType = names('conversation type', ['NotToolUse', 'ToolUse'], null)

export const requestMetadata = struct<RequestMetadata>('RequestMetadata', {
  request_id: optional(text),
  message_id: required(text, () => ''),
  request_start_timestamp_ms: required(unsigned, () => 0),
  stream_end_timestamp_ms: required(unsigned, () => 0),
  time_to_first_chunk: optional(duration),
  time_between_chunks: required(list(duration), () => []),
  user_prompt_length: required(unsigned, () => 0),
  response_size: required(unsigned, () => 0),
  chat_conversation_type: optional(chatConversationType),
  tool_use_ids_and_names: required(list(tuple(text, text)), () => []),
  model_id: optional(text),
  message_meta_tags: required(metaTags, () => []),
})

const summaryPair = tuple(text, requestMetadata)

/** Up to v1.12 the summary was a bare text. */
export const summary: Codec<Summary> = {
  read(value, context) {
    if (context.strict || typeof value !== 'string') return summaryPair.read(value, context)
    addRepair(context, 'text_summary', 'the summary is a bare text, as up to v1.12')
    return [value, EMPTY_METADATA]
  },
  lower: summaryPair.lower,
}

export const modelInfo = struct<ModelInfo>('ModelInfo', {
  model_name: whenSet(text),
  description: whenSet(text),
  model_id: required(text),
  context_window_tokens: defaulted(unsigned, () => 200_000),
})

export const fileLineTracker = struct<FileLineTracker>('FileLineTracker', {
  prev_fswrite_lines: required(unsigned, () => 0),
  before_fswrite_lines: required(unsigned, () => 0),
  after_fswrite_lines: required(unsigned, () => 0),
  lines_added_by_agent: required(unsigned, () => 0),
  lines_removed_by_agent: required(unsigned, () => 0),
  is_first_write: required(flag, () => false),
})

export const fileStats = struct<FileStats>('FileStats', {
  added: required(unsigned),
  modified: required(unsigned),
  deleted: required(unsigned),
})

export const toolInputSchema = struct<ToolInputSchema>('ToolInputSchema', {
  json: { ...required(freeJson), missing: () => null },
})

export const toolSpecification = struct<ToolSpecification>('ToolSpecification', {
  name: required(text),
  description: required(text, () => ''),
  input_schema: required(toolInputSchema, () => ({ json: null })),
})

export const tool = variants<Tool>('Tool', { ToolSpecification: toolSpecification })

export const tools = dictionary(list(tool))

export const toolSpec = struct<ToolSpec>('ToolSpec', {
  name: required(text),
  description: required(text),
  input_schema: { ...required(freeJson), alias: 'inputSchema' },
})

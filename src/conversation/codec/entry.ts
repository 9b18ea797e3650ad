/** The codecs of history entries: messages, request metadata, models, file counts and tools. */

import { isJsonObject, JsonNumber, type JsonValue, jsonEntries } from '../../lib/json/lossless.ts'
import type {
  AssistantMessage,
  AssistantToolUse,
  AssistantToolUses,
  CancelledToolUses,
  EnvironmentVariable,
  EnvState,
  ImageBlock,
  ImageFormat,
  ImageSource,
  ToolResultStatus,
  ToolUseResult,
  ToolUseResultBlock,
  UserEnvContext,
  UserMessage,
  UserMessageContent,
} from '../message.ts'
import {
  type Duration,
  EMPTY_METADATA,
  type FileLineTracker,
  type FileStats,
  type HistoryEntry,
  type MessageMetaTag,
  type ModelInfo,
  type RequestMetadata,
  type Summary,
  type Tool,
  type ToolInputSchema,
  type ToolSpec,
  type ToolSpecification,
  type Unsigned,
} from '../record.ts'
import { formatStoredTime, parseZonedTime } from '../zoned-time.ts'
import {
  addRepair,
  type Codec,
  dictionary,
  entryList,
  flag,
  integer,
  list,
  type ReadContext,
  text,
  tuple,
  UnreadableError,
  unsigned,
} from './codec.ts'
import { freeJson, jsonOrNull } from './free-json.ts'
import { defaulted, names, optional, required, struct, variants, whenSet } from './struct.ts'

const durationFields = struct<Duration>('Duration', {
  secs: required(unsigned),
  nanos: required(integer(0, 2 ** 32 - 1)),
})

/**
 * Nanoseconds of a second or more are carried over. A state contains thousands of durations, so the usual shape has a
 * fast path.
 */
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

/** A duration is the only type of Amazon Q CLI that rejects unknown fields. */
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

/** Up to v1.12, the summary was a plain text. */
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

/** Times that need no further validation: each part is valid whatever the others are. */
const COMMON_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** A strict read respells the time as Amazon Q CLI would write it. */
export const timestamp: Codec<string> = {
  leaf: true,
  read(value, context) {
    const given = text.read(value, context)
    if (!context.strict && COMMON_TIME.test(given)) return given
    const zoned = parseZonedTime(given)
    if (!zoned) throw new UnreadableError(context, 'not a time with offset')
    return context.strict ? formatStoredTime(zoned) : given
  },
  lower: (value) => value,
}

export const environmentVariable = struct<EnvironmentVariable>('EnvironmentVariable', {
  key: required(text),
  value: required(text),
})

export const envState = struct<EnvState>('EnvState', {
  operating_system: optional(text),
  current_working_directory: optional(text),
  environment_variables: required(list(environmentVariable), () => []),
})

export const userEnvContext = struct<UserEnvContext>('UserEnvContext', { env_state: optional(envState) })

export const toolResultStatus: Codec<ToolResultStatus> = names('status', ['Error', 'Success'], 'Error')

export const toolUseResultBlock = variants<ToolUseResultBlock>('a result block', { Json: freeJson, Text: text })

export const toolUseResult = struct<ToolUseResult>('ToolUseResult', {
  tool_use_id: required(text),
  content: required(list(toolUseResultBlock)),
  status: required(toolResultStatus),
})

export const userMessageContent = variants<UserMessageContent>('the content', {
  Prompt: struct('Prompt', { prompt: required(text) }),
  CancelledToolUses: struct<CancelledToolUses>('CancelledToolUses', {
    prompt: optional(text),
    tool_use_results: required(list(toolUseResult)),
  }),
  ToolUseResults: struct('ToolUseResults', { tool_use_results: required(list(toolUseResult)) }),
})

export const imageFormat: Codec<ImageFormat> = names('image format', ['Gif', 'Jpeg', 'Png', 'Webp'], 'Png')

const imageBytes = variants<{ readonly Bytes: readonly number[] }>('the image source', { Bytes: list(integer(0, 255)) })
const unknownImage = names('image source', ['Unknown'], 'Unknown')

export const imageSource: Codec<ImageSource> = {
  read(value, context) {
    const isBytes = typeof value === 'object' && value !== null && 'Bytes' in value
    if (isBytes) return imageBytes.read(value, context)
    if (unknownImage.read(value, { ...context, strict: true }) === 'Unknown') return 'Unknown'
    throw new UnreadableError(context, 'not an image source')
  },
  lower: (value, context) => (value === 'Unknown' ? value : imageBytes.lower(value, context)),
}

export const imageBlock = struct<ImageBlock>('ImageBlock', {
  format: required(imageFormat),
  source: required(imageSource),
})

export const userMessage = struct<UserMessage>('UserMessage', {
  additional_context: required(text, () => ''),
  env_context: required(userEnvContext, () => ({ env_state: null })),
  content: required(userMessageContent),
  timestamp: optional(timestamp),
  images: optional(list(imageBlock)),
})

export const assistantToolUse = struct<AssistantToolUse>('AssistantToolUse', {
  id: required(text),
  name: required(text),
  orig_name: required(text, ({ name }) => (typeof name === 'string' ? name : '')),
  args: required(freeJson, ({ orig_args }) => jsonOrNull(orig_args)),
  orig_args: required(freeJson, ({ args }) => jsonOrNull(args)),
})

export const assistantMessage = variants<AssistantMessage>('the answer', {
  Response: struct('Response', { message_id: optional(text), content: required(text, () => '') }),
  ToolUse: struct<AssistantToolUses>('ToolUse', {
    message_id: optional(text),
    content: required(text, () => ''),
    tool_uses: required(list(assistantToolUse)),
  }),
})

export const historyEntry = struct<HistoryEntry>('HistoryEntry', {
  user: required(userMessage),
  assistant: required(assistantMessage),
  request_metadata: { ...optional(requestMetadata), optionalInArray: true },
})

export const history = entryList(historyEntry)

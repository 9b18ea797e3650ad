/** The codecs of messages and history entries. */

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
import type { HistoryEntry } from '../record.ts'
import { formatStoredTime, parseZonedTime } from '../zoned-time.ts'
import { type Codec, entryList, integer, list, text } from './codec.ts'
import { freeJson, jsonOrNull } from './free-json.ts'
import { requestMetadata } from './metadata.ts'
import { UnreadableError } from './read-context.ts'
import { optional, required, struct } from './struct.ts'
import { names, variants } from './variants.ts'

/** A time that needs no closer look: each part is possible whatever the others are. */
const COMMON_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** A strict reading respells the time as the original would write it. */
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

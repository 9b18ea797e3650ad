/** Vectors of reading and writing single types. */

import {
  type Codec,
  readAs,
  readValueAs,
  text as textCodec,
  tuple,
  unsigned,
  writeAs,
} from '../../src/conversation/codec/codec.ts'
import * as message from '../../src/conversation/codec/entry.ts'
import * as state from '../../src/conversation/codec/state.ts'
import { imageFormatOf } from '../../src/conversation/new-message.ts'
import { tangentTime } from '../../src/conversation/zoned-time.ts'
import { writeJson } from '../../src/lib/json/lossless.ts'
import { at, expectBytes, expectSame, has, text, type Vector, type Verdict } from './vector.ts'

type Check = (vector: Vector) => Verdict

/** A strict read followed by a write. */
interface Shape {
  readonly fromText: (source: string) => Outcome
  readonly fromValue: (value: unknown) => Outcome
}
type Outcome =
  | { readonly ok: true; readonly bytes: string }
  | { readonly ok: false; readonly reason: string; readonly field: string | undefined }

function shape<T>(codec: Codec<T>): Shape {
  const outcome = (read: ReturnType<typeof readAs<T>>): Outcome =>
    read.ok ? { ok: true, bytes: writeAs(codec, read.value) } : { ok: false, reason: read.reason, field: read.field }
  return {
    fromText: (source) => outcome(readAs(codec, source, { mode: 'strict' })),
    fromValue: (value) => outcome(readValueAs(codec, value, { mode: 'strict' })),
  }
}

/** By their names in the vectors. Types with more fields precede those that accept anything. */
const shapes = new Map<string, Shape>([
  ['CS', shape(state.conversationState)],
  ['ConversationState', shape(state.conversationState)],
  ['ConversationCheckpoint', shape(state.conversationCheckpoint)],
  ['CheckpointManager', shape(state.checkpointManager)],
  ['Checkpoint', shape(state.checkpoint)],
  ['HistoryEntry', shape(message.historyEntry)],
  ['UserMessageContent', shape(message.userMessageContent)],
  ['UserMessage', shape(message.userMessage)],
  ['AssistantMessage', shape(message.assistantMessage)],
  ['AssistantToolUse', shape(message.assistantToolUse)],
  ['ToolUseResultBlock', shape(message.toolUseResultBlock)],
  ['ToolUseResult', shape(message.toolUseResult)],
  ['ToolResultStatus', shape(message.toolResultStatus)],
  ['EnvState', shape(message.envState)],
  ['EnvironmentVariable', shape(message.environmentVariable)],
  ['ImageBlock', shape(message.imageBlock)],
  ['ImageFormat', shape(message.imageFormat)],
  ['ImageSource', shape(message.imageSource)],
  ['RequestMetadata', shape(message.requestMetadata)],
  ['Duration', shape(message.duration)],
  ['latest_summary', shape(message.summary)],
  ['valid_history_range', shape(tuple(unsigned, unsigned))],
  ['ModelInfo', shape(message.modelInfo)],
  ['FileLineTracker', shape(message.fileLineTracker)],
  ['FileStats', shape(message.fileStats)],
  ['ToolSpecification', shape(message.toolSpecification)],
  ['ToolSpec', shape(message.toolSpec)],
  ['ToolInputSchema', shape(message.toolInputSchema)],
  ['tool schema', shape(message.toolInputSchema)],
  ['ToolOrigin', shape(textCodec)],
  ['Tool', shape(message.tool)],
  ['tools', shape(message.tools)],
  ['ContextManager', shape(state.contextManager)],
  ['HookTrigger', shape(state.hookTrigger)],
  ['Hook', shape(state.hook)],
  ['block', shape(message.toolUseResultBlock)],
  ['UserEnvContext', shape(message.userEnvContext)],
  ['ChatConversationType', shape(message.chatConversationType)],
  ['MessageMetaTag', shape(message.metaTag)],
])

export const shapeChecks: readonly (readonly [fn: RegExp, check: Check])[] = [
  [/^from_str::<(\w+)>$/, readsAsTheOriginal],
  [/^serde_json::to_string$/, writesAsTheOriginal],
  [
    /^serialize timestamp$/,
    ({ input, output }) => outcomeIs(shape(message.timestamp).fromValue(input), JSON.stringify(output)),
  ],
  [/^serialize tangent_start_time$/, ({ input, output }) => expectSame(tangentTime(BigInt(text(input))), output)],
  [
    /^ImageFormat::from_str$/,
    ({ input, output }) => {
      const format = imageFormatOf(text(input))
      return has(output, 'ok') ? expectSame(format, at(output, 'ok')) : format === undefined ? undefined : 'was read'
    },
  ],
]

function readsAsTheOriginal({ fn, input, output }: Vector): Verdict {
  const named = shapes.get(fn.slice('from_str::<'.length, -1))
  if (!named) return `no codec for ${fn}`
  const read = named.fromText(typeof input === 'string' ? input : writeJson(input))
  if (!has(output, 'ok')) return refusedAlike(read, text(at(output, 'err')))
  if (!read.ok) return `refused: ${read.reason}`
  const wanted = at(output, 'ok')
  return wanted === true ? undefined : expectBytes(read.bytes, writeJson(wanted))
}

/** Fails with a position, and names the same field as the original. */
function refusedAlike(read: Outcome, original: string): Verdict {
  if (read.ok) return `read what the original refuses: ${original}`
  const named = /^(?:missing field|duplicate field|unknown variant|unknown field) `([^`]*)`/.exec(original)?.[1]
  if (named !== undefined && read.field !== named) return `named ${read.field} and not ${named}`
  return read.reason.includes('$') || read.reason.startsWith('not JSON') ? undefined : `no place in: ${read.reason}`
}

function writesAsTheOriginal({ name, input, output }: Vector): Verdict {
  const byName = [...shapes].filter(([key]) => name === key || name.startsWith(`${key} `)).map(([, one]) => one)
  const candidates = byName.length > 0 ? byName : [...shapes.values()]
  const written = candidates.map((one) => one.fromValue(input))
  const right = written.find((one) => one.ok && expectBytes(one.bytes, text(output)) === undefined)
  if (right) return undefined
  const first = written.find((one) => one.ok) ?? written[0]
  return first ? outcomeIs(first, text(output)) : 'no codec'
}

function outcomeIs(outcome: Outcome, wanted: string): Verdict {
  return outcome.ok ? expectBytes(outcome.bytes, wanted) : `refused: ${outcome.reason}`
}

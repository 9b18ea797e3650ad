/** Calls of tools as the uses that the program stores, and what answered them. */
import { sha256 } from '../../lib/hash.ts'
import { isSameJson } from '../../lib/json/compare.ts'
import { type JsonValue, parseJson } from '../../lib/json/lossless.ts'
import { toWellFormed } from '../../lib/text.ts'
import type { ToolCall } from '../../model/normalized.ts'
import { type ConversionChange, toConversionChange } from '../../model/replay/conversion-change.ts'
import type { ReplayCall, ReplayResult } from '../../model/replay/step.ts'
import { type NameRule, UniqueCallIds, UniqueToolNames } from '../../model/replay/unique-names.ts'
import { freeJson } from '../codec/free-json.ts'
import { readValueAs } from '../codec/read-state.ts'
import { MAX_TOOL_RESPONSE_SIZE, TOOL_USE_CANCELLED } from '../limits.ts'
import type { AssistantToolUse, ToolResultStatus, ToolUseResult, ToolUseResultBlock } from '../message.ts'
import { byteLength, truncateSafeInPlace } from '../truncate.ts'

export interface UseNaming {
  readonly ids: UniqueCallIds
  readonly names: UniqueToolNames
  /** Tells what had to be made up or changed. */
  repair(what: ConversionChange): void
  /** Tells what is no longer whole. */
  loss(what: ConversionChange): void
}

const TOOL_NAME_RULE: NameRule = { fits: /^[A-Za-z][A-Za-z0-9_]*$/, allowedCharacters: /[A-Za-z0-9_]/, maxLength: 64 }

export const createUseNaming = (reporters: Pick<UseNaming, 'repair' | 'loss'>): UseNaming => ({
  ids: new UniqueCallIds(Number.POSITIVE_INFINITY, sha256),
  names: new UniqueToolNames(TOOL_NAME_RULE, sha256),
  ...reporters,
})

/** A tool that was asked for, and the call that it was made of. */
export interface WrittenToolUse {
  readonly call: ReplayCall
  readonly use: AssistantToolUse
}

export function toToolUse(call: ReplayCall, naming: UseNaming): WrittenToolUse {
  const { tool } = call
  const id = toWellFormed(naming.ids.take(tool.call_id))
  const name = naming.names.take(tool.name)
  if (id !== tool.call_id)
    naming.repair(toConversionChange(tool.call_id === null ? 'call_id_missing' : 'call_id_changed'))
  if (name !== tool.name) naming.repair(toConversionChange('tool_renamed'))
  const args = toArguments(tool, naming)
  return { call, use: { id, name, orig_name: name, args, orig_args: args } }
}

/** The program's parser stops at 128 levels, of which the state around takes some. */
const MAX_DEPTH = 100

/** Anything else than JSON that the program reads is wrapped, so that it reaches the tool's reader as it was. */
function toArguments({ arguments: text, input }: ToolCall, naming: UseNaming): JsonValue {
  if (text === undefined || text.trim() === '') return input === undefined ? {} : { input: toWellFormed(input) }
  const parsed = parseJson(text, { maxDepth: MAX_DEPTH })
  const read = parsed.ok ? readValueAs(freeJson, parsed.value, { mode: 'strict' }) : undefined
  if (read?.ok) return read.value
  naming.repair(toConversionChange('arguments_wrapped'))
  return { _raw: toWellFormed(text) }
}

export interface UseOutcome {
  readonly result: ToolUseResult
  /** Nobody gave it: the program needs one. */
  readonly isSynthetic: boolean
}

export function toUseOutcome({ call, use: { id } }: WrittenToolUse, naming: UseNaming): UseOutcome {
  const { result } = call
  if (result) {
    const content = [toResultBlock(result, naming)]
    return { result: { tool_use_id: id, content, status: statusOf(result.tool) }, isSynthetic: false }
  }
  naming.repair(toConversionChange('call_cancelled'))
  return { result: { tool_use_id: id, content: [{ Text: TOOL_USE_CANCELLED }], status: 'Error' }, isSynthetic: true }
}

function statusOf({ status, source_status }: ToolCall): ToolResultStatus {
  if (source_status === 'Success' || source_status === 'Error') return source_status
  return status === 'success' || status === 'pending' ? 'Success' : 'Error'
}

function toResultBlock({ tool, message }: ReplayResult, naming: UseNaming): ToolUseResultBlock {
  const text = toWellFormed(tool.output ?? '')
  const fits = byteLength(text) <= MAX_TOOL_RESPONSE_SIZE
  // A source that tells its blocks had the value itself, not its text.
  if (fits && isSameJson(message.metadata?.['blocks'], ['Json'])) {
    const parsed = parseJson(text, { maxDepth: MAX_DEPTH })
    const read = parsed.ok ? readValueAs(freeJson, parsed.value, { mode: 'strict' }) : undefined
    if (read?.ok) return { Json: read.value }
  }
  if (fits) return { Text: text }
  naming.loss(toConversionChange('result_cut'))
  return { Text: truncateSafeInPlace(text, MAX_TOOL_RESPONSE_SIZE) }
}

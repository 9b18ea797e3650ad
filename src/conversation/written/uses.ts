/** Calls of tools as the uses that the program stores, and what answered them. */
import { sha256 } from '../../lib/hash.ts'
import { type JsonValue, parseJson } from '../../lib/json/lossless.ts'
import { sameJson } from '../../lib/same.ts'
import { wellFormed } from '../../lib/text.ts'
import type { ToolCall } from '../../model/normalized.ts'
import { type Change, change } from '../../model/replay/change.ts'
import { CallIds, type NameRule, ToolNames } from '../../model/replay/names.ts'
import type { Call, Result } from '../../model/replay/step.ts'
import { free } from '../codec/free.ts'
import { readValueAs } from '../codec/read.ts'
import { MAX_TOOL_RESPONSE_SIZE, TOOL_USE_CANCELLED } from '../limits.ts'
import type { AssistantToolUse, ToolResultStatus, ToolUseResult, ToolUseResultBlock } from '../message.ts'
import { byteLength, truncateSafeInPlace } from '../truncate.ts'

export interface Naming {
  readonly ids: CallIds
  readonly names: ToolNames
  /** Tells what had to be made up or changed. */
  repair(what: Change): void
  /** Tells what is no longer whole. */
  loss(what: Change): void
}

const NAMES: NameRule = { fits: /^[A-Za-z][A-Za-z0-9_]*$/, letters: /[A-Za-z0-9_]/, longest: 64 }

export const namingWith = (notes: Pick<Naming, 'repair' | 'loss'>): Naming => ({
  ids: new CallIds(Number.POSITIVE_INFINITY, sha256),
  names: new ToolNames(NAMES, sha256),
  ...notes,
})

/** A tool that was asked for, and the call that it was made of. */
export interface Use {
  readonly call: Call
  readonly use: AssistantToolUse
}

export function useOf(call: Call, naming: Naming): Use {
  const { tool } = call
  const id = wellFormed(naming.ids.take(tool.call_id))
  const name = naming.names.take(tool.name)
  if (id !== tool.call_id) naming.repair(change(tool.call_id === null ? 'call_id_missing' : 'call_id_changed'))
  if (name !== tool.name) naming.repair(change('tool_renamed'))
  const args = argsOf(tool, naming)
  return { call, use: { id, name, orig_name: name, args, orig_args: args } }
}

/** The program's parser stops at 128 levels, of which the state around takes some. */
const DEEPEST = 100

/** Anything else than JSON that the program reads is wrapped, so that it reaches the tool's reader as it was. */
function argsOf({ arguments: text, input }: ToolCall, naming: Naming): JsonValue {
  if (text === undefined || text.trim() === '') return input === undefined ? {} : { input: wellFormed(input) }
  const parsed = parseJson(text, { maxDepth: DEEPEST })
  const read = parsed.ok ? readValueAs(free, parsed.value, { mode: 'strict' }) : undefined
  if (read?.ok) return read.value
  naming.repair(change('arguments_wrapped'))
  return { _raw: wellFormed(text) }
}

export interface Outcome {
  readonly result: ToolUseResult
  /** Nobody gave it: the program needs one. */
  readonly isMade: boolean
}

export function outcomeOf({ call, use: { id } }: Use, naming: Naming): Outcome {
  const { result } = call
  if (result) {
    const content = [blockOf(result, naming)]
    return { result: { tool_use_id: id, content, status: statusOf(result.tool) }, isMade: false }
  }
  naming.repair(change('call_cancelled'))
  return { result: { tool_use_id: id, content: [{ Text: TOOL_USE_CANCELLED }], status: 'Error' }, isMade: true }
}

function statusOf({ status, source_status }: ToolCall): ToolResultStatus {
  if (source_status === 'Success' || source_status === 'Error') return source_status
  return status === 'success' || status === 'pending' ? 'Success' : 'Error'
}

function blockOf({ tool, message }: Result, naming: Naming): ToolUseResultBlock {
  const text = wellFormed(tool.output ?? '')
  const whole = byteLength(text) <= MAX_TOOL_RESPONSE_SIZE
  // A source that tells its blocks had the value itself, not its text.
  if (whole && sameJson(message.metadata?.['blocks'], ['Json'])) {
    const parsed = parseJson(text, { maxDepth: DEEPEST })
    const read = parsed.ok ? readValueAs(free, parsed.value, { mode: 'strict' }) : undefined
    if (read?.ok) return { Json: read.value }
  }
  if (whole) return { Text: text }
  naming.loss(change('result_cut'))
  return { Text: truncateSafeInPlace(text, MAX_TOOL_RESPONSE_SIZE) }
}

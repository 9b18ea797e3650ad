/** Events that tell what a part of the state is from now on. */

import { isJsonObject, JsonMap, type JsonValue, jsonEntries } from '../../lib/json/lossless.ts'
import { assertNever } from '../../model/error.ts'
import { type Codec, nullable, text } from '../codec/codec.ts'
import { readValueAs } from '../codec/read-state.ts'
import { checkpointManager, conversationCheckpoint, extension } from '../codec/state.ts'
import type { FileLineTracker } from '../record.ts'
import type { ConversationState } from '../state.ts'
import { appendTranscript } from '../transcript.ts'
import { applyManagerChange } from './checkpoint-changes.ts'
import type { FieldsChangedEvent, JournalEvent } from './event.ts'
import { type NumberedEntries, type ResolvedHistory, resolveHistory } from './numbered-entries.ts'

export interface StepResult {
  readonly state: ConversationState
  /** Why the event did not fit. */
  readonly fault?: string
}

export type ChangeEvent = Extract<
  JournalEvent,
  {
    event:
      | 'history'
      | 'branches'
      | 'window'
      | 'transcript'
      | 'transcript_changed'
      | 'checkpoint'
      | 'context'
      | 'context_length'
      | 'tools'
      | 'mcp'
      | 'model'
      | 'line_tracker'
      | 'set_aside'
      | 'fields'
  }
>

export function applyChange(state: ConversationState, allEntries: NumberedEntries, event: ChangeEvent): StepResult {
  switch (event.event) {
    case 'history': {
      const resolved = resolveHistory(allEntries, event.entries)
      return { state: { ...state, history: resolved.history }, ...missingFault([resolved]) }
    }
    case 'branches': {
      const resolved = event.branches.map(({ entries }) => resolveHistory(allEntries, entries))
      const branches = event.branches.map(({ name, after }, at) => ({
        name,
        after,
        entries: (resolved[at] as ResolvedHistory).history,
      }))
      return { state: { ...state, fumibako: { ...state.fumibako, branches } }, ...missingFault(resolved) }
    }
    case 'window':
      return { state: { ...state, valid_history_range: event.range } }
    case 'transcript':
      return { state: { ...state, transcript: event.lines.reduce(appendTranscript, state.transcript) } }
    case 'transcript_changed': {
      const remaining = state.transcript.slice(event.from, event.to)
      return { state: { ...state, transcript: event.lines.reduce((all, line) => all.append(line), remaining) } }
    }
    case 'checkpoint': {
      const { manager, named: resolved } = applyManagerChange(state.checkpoint_manager, allEntries, event)
      return { state: { ...state, checkpoint_manager: manager }, ...missingFault(resolved) }
    }
    case 'context':
      return { state: { ...state, context_manager: event.context_manager } }
    case 'context_length':
      return { state: { ...state, context_message_length: event.bytes } }
    case 'tools':
      return { state: { ...state, tools: event.tools } }
    case 'mcp':
      return { state: { ...state, mcp_enabled: event.enabled } }
    case 'model': {
      const { model_info: _, ...rest } = state
      return { state: event.model_info ? { ...state, model_info: event.model_info } : rest }
    }
    case 'line_tracker':
      return { state: { ...state, file_line_tracker: withTracker(state.file_line_tracker, event.path, event.tracker) } }
    case 'set_aside':
      return { state: { ...state, fumibako: { ...state.fumibako, set_aside: event.parts } } }
    case 'fields':
      return withFields(state, event)
    default:
      return assertNever(event)
  }
}

function missingFault(resolved: readonly ResolvedHistory[]): { readonly fault?: string } {
  const count = resolved.reduce((sum, one) => sum + one.missing, 0)
  return count === 0 ? {} : { fault: `${count} of the entries that it names are not there` }
}

/** A file that is known keeps its place. */
function withTracker(
  known: ConversationState['file_line_tracker'],
  path: string,
  tracker: FileLineTracker | null,
): ConversationState['file_line_tracker'] {
  const files = new JsonMap(known)
  if (tracker) files.set(path, tracker)
  else files.delete(path)
  return files
}

/** Those of the known fields that may have to be told as they are. */
export const FIELD_CODECS: ReadonlyMap<string, Codec<unknown>> = new Map<string, Codec<never>>([
  ['model', text],
  ['checkpoint_manager', nullable(checkpointManager)],
  ['tangent_state', conversationCheckpoint],
  ['fumibako', extension],
] as [string, Codec<never>][]) as ReadonlyMap<string, Codec<unknown>>

function withFields(state: ConversationState, { set, removed, order }: FieldsChangedEvent): StepResult {
  const fields = new Map<string, unknown>(Object.entries(state))
  for (const key of removed) fields.delete(key)
  const unread: string[] = []
  for (const [key, value] of isJsonObject(set) ? jsonEntries(set) : []) {
    const read = readField(key, value)
    if (read === undefined) unread.push(key)
    else fields.set(key, read)
  }
  const keys = order ? [...order.filter((key) => fields.has(key)), ...fields.keys()] : fields.keys()
  const changed = Object.fromEntries(Array.from(new Set(keys), (key) => [key, fields.get(key)]))
  return {
    state: { ...(changed as unknown as ConversationState) },
    ...(unread.length > 0 && { fault: `fields that cannot be read: ${unread.join(', ')}` }),
  }
}

function readField(key: string, value: JsonValue): unknown {
  const codec = FIELD_CODECS.get(key)
  if (!codec) return value
  const read = readValueAs(codec, value)
  return read.ok ? read.value : undefined
}

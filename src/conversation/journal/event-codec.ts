/** One event as one line of JSON, to the letter and back. */

import { isJsonObject, type JsonValue, jsonEntries, parseJson, writeJson } from '../../lib/json/lossless.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { Usage } from '../../model/usage.ts'
import { type Codec, dictionary, flag, integer, list, nullable, text, tuple, unsigned } from '../codec/codec.ts'
import { freeJson } from '../codec/free-json.ts'
import { assistantMessage, historyEntry, toolUseResult, userEnvContext, userMessage } from '../codec/message.ts'
import { fileLineTracker, fileStats, modelInfo, requestMetadata, summary, tools } from '../codec/metadata.ts'
import { readValueAs } from '../codec/read-state.ts'
import { contextManager, setAside, tangentStart } from '../codec/state.ts'
import { type Field, optional, required, struct, whenSet } from '../codec/struct.ts'
import { writeAs } from '../codec/write-state.ts'
import type { CheckpointFields, EntryRuns, EventName, JournalEvent, ManagerFields, OpenedEvent } from './event.ts'

const count = integer(0, Number.MAX_SAFE_INTEGER)
const number = integer(1, Number.MAX_SAFE_INTEGER)
const runs: Codec<EntryRuns> = list(tuple(number, number))

const usage = struct<Usage>('Usage', {
  input_tokens: required(count),
  cached_input_tokens: required(count),
  output_tokens: required(count),
  reasoning_output_tokens: required(count),
  total_tokens: required(count),
})

const managerFields = struct<ManagerFields>('CheckpointManager', {
  shadow_repo_path: required(text),
  work_tree_path: required(text),
  current_turn: required(unsigned),
  tools_in_turn: required(unsigned),
  pending_user_message: optional(text),
  message_locked: required(flag),
})

const checkpointFields = struct<CheckpointFields>('Checkpoint', {
  tag: required(text),
  timestamp: required(text),
  description: required(text),
  is_turn: required(flag),
  tool_name: optional(text),
})

type EventNamed<Name extends EventName> = Extract<JournalEvent, { readonly event: Name }>
type EventFields<Name extends EventName> = {
  readonly [K in Exclude<keyof EventNamed<Name>, 'event' | 'at'>]-?: Field<Exclude<EventNamed<Name>[K], undefined>>
}

const EVENT_FIELDS: { readonly [Name in EventName]: EventFields<Name> } = {
  opened: {
    journal: required(number),
    conversation_id: required(text),
    cwd: optional(text),
    program: optional(text),
    continues: whenSet(
      struct<NonNullable<OpenedEvent['continues']>>('continues', { agent: required(text), session: required(text) }),
    ),
  },
  next_message: { message: required(nullable(userMessage)) },
  delta: { text: required(text) },
  entry: {
    number: required(number),
    assistant: required(assistantMessage),
    request_metadata: optional(requestMetadata),
  },
  interrupted: {
    number: required(number),
    assistant: required(assistantMessage),
    request_metadata: optional(requestMetadata),
    reason: required(text),
  },
  copied: {
    number: required(number),
    entry: required(historyEntry),
    into: required(text),
    instead_of: whenSet(number),
  },
  tool_started: { tool_use_id: required(text), name: required(text) },
  tool_finished: { result: required(toolUseResult), duration_ms: whenSet(count) },
  tangent_entered: { name: optional(text), started: required(tangentStart), nested: required(flag) },
  tangent_left: { tail: required(flag) },
  tangent_summed_up: {
    number: required(number),
    summary: required(text),
    timestamp: optional(text),
    env_context: required(userEnvContext),
  },
  rewound: { to: required(integer(-1, Number.MAX_SAFE_INTEGER)), name: optional(text), keep: required(flag) },
  branch_taken: { branch: required(count) },
  history: { entries: required(runs) },
  branches: {
    branches: required(
      list(struct('Branch', { name: optional(text), after: required(count), entries: required(runs) })),
    ),
  },
  summary: { summary: required(nullable(summary)), keep: required(count) },
  window: { range: required(tuple(unsigned, unsigned)) },
  transcript: { lines: required(list(text)) },
  transcript_changed: { from: required(count), to: required(count), lines: required(list(text)) },
  checkpoint: {
    manager: required(managerFields),
    dropped: required(list(count)),
    added: required(list(struct('added', { checkpoint: required(checkpointFields), entries: required(runs) }))),
    stats: required(dictionary(fileStats)),
  },
  restored: { tag: required(text), hard: required(flag) },
  context: { context_manager: required(nullable(contextManager)) },
  context_length: { bytes: required(nullable(unsigned)) },
  tools: { tools: required(tools) },
  mcp: { enabled: required(flag) },
  model: { model_info: required(nullable(modelInfo)) },
  agent: { name: required(text), place: required(text), path: optional(text), sha256: optional(text) },
  line_tracker: { path: required(text), tracker: required(nullable(fileLineTracker)) },
  usage: { model: optional(text), usage: required(usage), estimated: required(flag), purpose: required(text) },
  cleared: {},
  failed: { what: required(text), reason: required(text) },
  set_aside: { parts: required(list(setAside)) },
  fields: { set: required(freeJson), removed: required(list(text)), order: whenSet(list(text)) },
}

/** The header's version comes first, so that a journal is known by its first bytes. */
function eventCodec(name: EventName): Codec<JournalEvent> {
  const { journal, ...fields } = EVENT_FIELDS[name] as { readonly [key: string]: Field<unknown> }
  const all: { readonly [key: string]: Field<unknown> } = {
    ...(journal && { journal }),
    event: required(text),
    at: required(text),
    ...fields,
  }
  return struct<{ readonly [key: string]: unknown }>(name, all) as unknown as Codec<JournalEvent>
}

const EVENT_CODECS = new Map(
  (Object.keys(EVENT_FIELDS) as EventName[]).map((name) => [name as string, eventCodec(name)]),
)

/** Without the newline. */
export function writeEvent(event: JournalEvent): string {
  if (event.event === 'unknown') return writeJson(event.record)
  return writeAs(EVENT_CODECS.get(event.event) as Codec<JournalEvent>, event)
}

export type ReadEventResult =
  | { readonly ok: true; readonly event: JournalEvent }
  /** A sentence for a person. Never conversation text. */
  | { readonly ok: false; readonly code: IssueCode; readonly reason: string }

/** One line, without its newline. */
export function readEvent(line: string): ReadEventResult {
  const parsed = parseJson(line)
  if (parsed.ok) return readEventValue(parsed.value)
  const code = /levels deep/.test(parsed.reason) ? 'too_deep' : 'bad_json'
  return { ok: false, code, reason: parsed.reason }
}

export function readEventValue(value: JsonValue): ReadEventResult {
  if (!isJsonObject(value)) return { ok: false, code: 'not_an_object', reason: 'JSON, but no event of a journal' }
  const fields = new Map(jsonEntries(value))
  const name = fields.get('event')
  if (typeof name !== 'string') return { ok: false, code: 'unknown_shape', reason: 'no event of a journal' }
  const codec = EVENT_CODECS.get(name)
  if (!codec) {
    const at = fields.get('at')
    return { ok: true, event: { event: 'unknown', at: typeof at === 'string' ? at : '', name, record: value } }
  }
  const read = readValueAs(codec, value)
  return read.ok ? { ok: true, event: read.value } : { ok: false, code: 'unknown_shape', reason: read.reason }
}

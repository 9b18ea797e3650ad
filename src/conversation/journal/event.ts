/** The events of a journal, one for each line: their fields, which are the JSON itself, and how they are read and written. */

import { isJsonObject, type JsonValue, jsonEntries, parseJson, writeJson } from '../../lib/json/lossless.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { Usage } from '../../model/usage.ts'
import {
  type Codec,
  dictionary,
  flag,
  integer,
  list,
  nullable,
  readValueAs,
  text,
  tuple,
  unsigned,
  writeAs,
} from '../codec/codec.ts'
import {
  assistantMessage,
  fileLineTracker,
  fileStats,
  historyEntry,
  modelInfo,
  requestMetadata,
  summary,
  tools,
  toolUseResult,
  userEnvContext,
  userMessage,
} from '../codec/entry.ts'
import { freeJson } from '../codec/free-json.ts'
import { contextManager, setAside, tangentStart } from '../codec/state.ts'
import { type Field, type FieldValues, optional, required, struct, whenSet } from '../codec/struct.ts'
import type { Checkpoint, CheckpointManager } from '../record.ts'

/** Raised when an older program would misread a journal. New events do not raise it: older programs keep and skip them. */
export const JOURNAL_VERSION = 1

const count = integer(0, Number.MAX_SAFE_INTEGER)
const number = integer(1, Number.MAX_SAFE_INTEGER)

/** Numbers of entries from … to, both included, in the order of a history. */
export type EntryRuns = readonly (readonly [from: number, to: number])[]
const runs: Codec<EntryRuns> = list(tuple(number, number))

const usage = struct<Usage>('Usage', {
  input_tokens: required(count),
  cached_input_tokens: required(count),
  cache_write_tokens: whenSet(count),
  cache_write_1h_tokens: whenSet(count),
  output_tokens: required(count),
  reasoning_output_tokens: required(count),
  total_tokens: required(count),
})

/** Without what grows with every checkpoint. */
const managerFields = struct<Omit<CheckpointManager, 'checkpoints' | 'tag_index' | 'file_stats_cache'>>(
  'CheckpointManager',
  {
    shadow_repo_path: required(text),
    work_tree_path: required(text),
    current_turn: required(unsigned),
    tools_in_turn: required(unsigned),
    pending_user_message: optional(text),
    message_locked: required(flag),
  },
)

const addedCheckpoint = struct<{
  readonly checkpoint: Omit<Checkpoint, 'history_snapshot'>
  readonly entries: EntryRuns
}>('added', {
  checkpoint: required(
    struct('Checkpoint', {
      tag: required(text),
      timestamp: required(text),
      description: required(text),
      is_turn: required(flag),
      tool_name: optional(text),
    }),
  ),
  entries: required(runs),
})

const EVENT_FIELDS = {
  /** The first line, and one more each time somebody continues the conversation. */
  opened: {
    journal: required(number),
    conversation_id: required(text),
    cwd: optional(text),
    /** Version of the program that writes. */
    program: optional(text),
    /** The conversation from which this one was copied. */
    continues: whenSet(
      struct<{ readonly agent: string; readonly session: string }>('continues', {
        agent: required(text),
        session: required(text),
      }),
    ),
    /** The conversation and the tool call that started this one, of a sub-agent. */
    started_by: whenSet(
      struct<{ readonly conversation: string; readonly call: string }>('started_by', {
        conversation: required(text),
        call: required(text),
      }),
    ),
  },
  /** The message to be sent; null if it was discarded. */
  next_message: { message: required(nullable(userMessage)) },
  /** A piece of the answer that is being streamed. */
  delta: { text: required(text) },
  /**
   * What the model thought before an answer. `items` goes back to the server unchanged: encrypted or signed reasoning.
   */
  reasoning: { message_id: required(text), text: required(text), items: required(freeJson) },
  /** The message was answered. */
  entry: {
    number: required(number),
    assistant: required(assistantMessage),
    request_metadata: optional(requestMetadata),
  },
  /** The answer broke off; `assistant` is what had arrived. */
  interrupted: {
    number: required(number),
    assistant: required(assistantMessage),
    request_metadata: optional(requestMetadata),
    /** `cancelled`, `crashed`, `timed_out`, `cut` or `refused`. */
    reason: required(text),
  },
  /** An entry that was made elsewhere, or was changed afterwards. */
  copied: {
    number: required(number),
    entry: required(historyEntry),
    /** `history`, or `aside` for an entry that only other events name. */
    into: required(text),
    /** The entry that this one replaces. */
    instead_of: whenSet(number),
  },
  tool_started: { tool_use_id: required(text), name: required(text) },
  /** The complete result; the message that takes it to the model may hold less. */
  tool_finished: { result: required(toolUseResult), duration_ms: whenSet(count) },
  tangent_entered: { name: optional(text), started: required(tangentStart), nested: required(flag) },
  /** With `tail`, the last exchange is kept. */
  tangent_left: { tail: required(flag) },
  /** A tangent was left, and its summary was added to the main conversation. */
  tangent_summed_up: {
    number: required(number),
    summary: required(text),
    timestamp: optional(text),
    env_context: required(userEnvContext),
  },
  rewound: {
    /** Index of the last entry that remains; -1 for none. */
    to: required(integer(-1, Number.MAX_SAFE_INTEGER)),
    name: optional(text),
    /** The entries after it stay as a branch. */
    keep: required(flag),
  },
  branch_taken: { branch: required(count) },
  /** The history now consists of these entries. */
  history: { entries: required(runs) },
  branches: {
    branches: required(
      list(
        struct<{ readonly name: string | null; readonly after: number; readonly entries: EntryRuns }>('Branch', {
          name: optional(text),
          after: required(count),
          entries: required(runs),
        }),
      ),
    ),
  },
  /** A compaction: the summary replaces all but the newest entries. */
  summary: { summary: required(nullable(summary)), keep: required(count) },
  window: { range: required(tuple(unsigned, unsigned)) },
  /** Lines are added; beyond 10,000 the oldest are dropped. */
  transcript: { lines: required(list(text)) },
  /** The old lines from … to stay, and these follow. */
  transcript_changed: { from: required(count), to: required(count), lines: required(list(text)) },
  checkpoint: {
    manager: required(managerFields),
    /** Positions in the list before this event. */
    dropped: required(list(count)),
    /** At the end of the list. */
    added: required(list(addedCheckpoint)),
    stats: required(dictionary(fileStats)),
  },
  /** Files and history were restored to a checkpoint. */
  restored: { tag: required(text), hard: required(flag) },
  context: { context_manager: required(nullable(contextManager)) },
  context_length: { bytes: required(nullable(unsigned)) },
  tools: { tools: required(tools) },
  mcp: { enabled: required(flag) },
  model: { model_info: required(nullable(modelInfo)) },
  /** Which agent answers from now on. An agent of the same name in another file is another agent. */
  agent: {
    name: required(text),
    /** `own` or `project`. */
    place: required(text),
    /** The agent's file; null for the built-in agent. */
    path: optional(text),
    /** Hash of a project's file when the user trusted it. */
    sha256: optional(text),
  },
  /** Null: the file is no longer tracked. */
  line_tracker: { path: required(text), tracker: required(nullable(fileLineTracker)) },
  /** What one request used. It precedes the entry that it paid for. */
  usage: {
    model: optional(text),
    usage: required(usage),
    /** The server did not count. */
    estimated: required(flag),
    /** `answer` or `compaction`. */
    purpose: required(text),
  },
  cleared: {},
  /** Something failed, and the state is unchanged. `what`: `request`, `tool`, `compaction` or `checkpoint`. */
  failed: { what: required(text), reason: required(text) },
  set_aside: { parts: required(list(setAside)) },
  /** Fields of the state that no other event covers, as the state has them. */
  fields: {
    set: required(freeJson),
    removed: required(list(text)),
    /** All keys of the state in order, where that is not the usual order. */
    order: whenSet(list(text)),
  },
} as const satisfies { readonly [name: string]: { readonly [key: string]: Field<unknown> } }

export type EventName = keyof typeof EVENT_FIELDS

/** `at`: when the event was written, UTC. */
export type EventOf<Name extends EventName> = { readonly event: Name; readonly at: string } & FieldValues<
  (typeof EVENT_FIELDS)[Name]
>

/** From a later program, and kept unchanged. */
interface UnknownEvent {
  readonly event: 'unknown'
  readonly at: string
  readonly name: string
  readonly record: JsonValue
}

export type JournalEvent = { readonly [Name in EventName]: EventOf<Name> }[EventName] | UnknownEvent

/** Without its time, which events of one moment share. */
export type UntimedEvent<E = JournalEvent> = E extends JournalEvent ? Omit<E, 'at'> : never

/** The header's version comes first, so that the first bytes of a file identify a journal. */
function eventCodec(name: EventName): Codec<JournalEvent> {
  const { journal, ...fields }: { readonly [key: string]: Field<unknown> } = EVENT_FIELDS[name]
  const all = { ...(journal && { journal }), event: required(text), at: required(text), ...fields }
  return struct<{ readonly [key: string]: unknown }>(name, all) as unknown as Codec<JournalEvent>
}

const EVENT_CODECS: ReadonlyMap<string, Codec<JournalEvent>> = new Map(
  (Object.keys(EVENT_FIELDS) as EventName[]).map((name) => [name, eventCodec(name)]),
)

/** Without the newline. */
export function writeEvent(event: JournalEvent): string {
  if (event.event === 'unknown') return writeJson(event.record)
  return writeAs(EVENT_CODECS.get(event.event) as Codec<JournalEvent>, event)
}

interface EventFault {
  readonly code: IssueCode
  /** A sentence for a person. Never conversation text. */
  readonly reason: string
}

type ReadEventResult = { readonly ok: true; readonly event: JournalEvent } | ({ readonly ok: false } & EventFault)

/** One line without its newline. */
export function readEvent(line: string): ReadEventResult {
  const parsed = parseJson(line)
  if (parsed.ok) return readEventValue(parsed.value)
  const code = /levels deep/.test(parsed.reason) ? 'too_deep' : 'bad_json'
  return { ok: false, code, reason: parsed.reason }
}

export function readEventValue(value: JsonValue): ReadEventResult {
  if (!isJsonObject(value)) return { ok: false, code: 'not_an_object', reason: 'valid JSON, but not a journal event' }
  const fields = new Map(jsonEntries(value))
  const name = fields.get('event')
  if (typeof name !== 'string') return { ok: false, code: 'unknown_shape', reason: 'not a journal event' }
  const codec = EVENT_CODECS.get(name)
  if (!codec) {
    const at = fields.get('at')
    return { ok: true, event: { event: 'unknown', at: typeof at === 'string' ? at : '', name, record: value } }
  }
  const read = readValueAs(codec, value)
  return read.ok ? { ok: true, event: read.value } : { ok: false, code: 'unknown_shape', reason: read.reason }
}

export interface LineIssue extends EventFault {
  /** 1-based; blank lines count. */
  readonly line: number
}

/** Reads the text of a journal. A last line without its newline counts if it is complete. */
export function readJournal(text: string): {
  readonly events: readonly JournalEvent[]
  readonly issues: readonly LineIssue[]
} {
  const events: JournalEvent[] = []
  const issues: LineIssue[] = []
  const lines = text.split('\n')
  lines.forEach((line, at) => {
    if (line.trim() === '') return
    const isLast = at === lines.length - 1
    const read = readEvent(line)
    const fault = read.ok ? findHeaderFault(read.event, at + 1) : isLast ? CUT_SHORT : read
    if (read.ok) events.push(read.event)
    if (fault) issues.push({ code: fault.code, reason: fault.reason, line: at + 1 })
  })
  return { events, issues }
}

const CUT_SHORT: EventFault = { code: 'cut_short', reason: 'the last line is truncated; everything before it was read' }

/** What is wrong with a readable event at its position in the journal. */
export function findHeaderFault(event: JournalEvent, line: number): EventFault | undefined {
  if (event.event === 'opened' && event.journal > JOURNAL_VERSION)
    return { code: 'unknown_shape', reason: `written by a later version (journal ${event.journal}); update fumibako` }
  if (event.event !== 'opened' && line === 1)
    return { code: 'unknown_shape', reason: 'the journal does not begin with its header' }
  return undefined
}

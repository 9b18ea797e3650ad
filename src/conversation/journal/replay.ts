/** Computes the state of a conversation by replaying its journal. */

import { isJsonObject, JsonMap, type JsonValue, jsonEntries } from '../../lib/json/lossless.ts'
import { withRestoredHistory } from '../checkpoint.ts'
import { type Codec, nullable, readValueAs, text } from '../codec/codec.ts'
import { checkpointManager, conversationCheckpoint, extension } from '../codec/state.ts'
import { Entries } from '../entries.ts'
import type { ToolUseResult, UserEnvContext } from '../message.ts'
import { NO_ENVIRONMENT, newPrompt, newResponse, newToolUseResults } from '../new-message.ts'
import type { Checkpoint, CheckpointManager, History, HistoryEntry } from '../record.ts'
import {
  appendTranscript,
  type ConversationState,
  clear,
  dropEntries,
  newState,
  pushAssistantMessage,
  rewindTo,
  stateBranches,
  switchToBranch,
} from '../state.ts'
import {
  enterTangent,
  exitTangent,
  exitTangentWithSummary,
  exitTangentWithTail,
  isInTangent,
  openTangents,
} from '../tangent.ts'
import type { EntryRuns, EventOf, JournalEvent } from './event.ts'

export interface Replay {
  readonly state: ConversationState
  /** Every entry, including those that no history holds any more. */
  readonly allEntries: NumberedEntries
  /** The part of an answer that is not an entry yet. */
  readonly streamed: string
  readonly reasoning: Entries<RecordedReasoning>
  /** Started tools of the last answer, by the id of their use. */
  readonly tools: ReadonlyMap<string, StartedTool>
  /** Journal version of the program that opened it last; 0 before the first line. */
  readonly version: number
  readonly cwd: string | null
  /** The agent that was chosen last; null where none was chosen, or an older program wrote the journal. */
  readonly agent: Omit<EventOf<'agent'>, 'event' | 'at'> | null
  /** Events that could not be applied, because earlier lines are damaged or missing. */
  readonly faults: Entries<ReplayFault>
}

export type RecordedReasoning = Omit<EventOf<'reasoning'>, 'event' | 'at'>

interface StartedTool {
  readonly name: string
  readonly result: ToolUseResult | null
}

interface ReplayFault {
  readonly event: string
  readonly at: string
  /** For a person. Never quotes the conversation. */
  readonly reason: string
}

export interface NumberedEntry {
  readonly number: number
  readonly entry: HistoryEntry
}

/** Every entry of a journal, numbers rising. Some may be missing where lines were damaged. */
export type NumberedEntries = Entries<NumberedEntry>

const NO_TOOLS: ReadonlyMap<string, StartedTool> = new Map()

/** @param id of the conversation, until its header names it */
export function emptyReplay(id = ''): Replay {
  return {
    state: newState(id),
    allEntries: Entries.of(),
    streamed: '',
    reasoning: Entries.of(),
    tools: NO_TOOLS,
    version: 0,
    cwd: null,
    agent: null,
    faults: Entries.of(),
  }
}

export function replayJournal(events: Iterable<JournalEvent>, from: Replay = emptyReplay()): Replay {
  let replay = from
  for (const event of events) replay = replayEvent(replay, event)
  return replay
}

/** Applies one event. Never throws: an event that does not fit is a fault and changes as little as possible. */
export function replayEvent(replay: Replay, event: JournalEvent): Replay {
  const apply = HANDLERS[event.event] as (replay: Replay, event: JournalEvent) => Replay
  return apply(replay, event)
}

type Handlers = {
  readonly [Name in JournalEvent['event']]: (
    replay: Replay,
    event: Extract<JournalEvent, { readonly event: Name }>,
  ) => Replay
}

const unchanged = (replay: Replay): Replay => replay

const HANDLERS: Handlers = {
  opened: (replay, { journal, cwd, conversation_id }) => ({
    ...(replay.version === 0 ? withState(replay, { conversation_id }) : replay),
    version: journal,
    cwd,
  }),
  next_message: (replay, { message }) => ({ ...withState(replay, { next_message: message }), streamed: '' }),
  delta: (replay, event) => ({ ...replay, streamed: replay.streamed + event.text }),
  reasoning: (replay, { message_id, text, items }) => ({
    ...replay,
    reasoning: replay.reasoning.append({ message_id, text, items }),
  }),
  entry: applyAnswer,
  interrupted: applyAnswer,
  copied: (replay, event) => {
    const { number, entry, into } = event
    const history = into === 'history' ? replay.state.history.append(entry) : replay.state.history
    return addNumbered(withState(replay, { history }), number, entry, event)
  },
  tool_started: (replay, { tool_use_id, name }) => withTool(replay, tool_use_id, { name, result: null }),
  tool_finished: (replay, { result }) =>
    withTool(replay, result.tool_use_id, { name: replay.tools.get(result.tool_use_id)?.name ?? '', result }),
  tangent_entered: (replay, { name, started, nested }) =>
    settle(replay, enterTangent(replay.state, started, { nested, ...(name !== null && { name }) })),
  tangent_left: (replay, event) => leaveTangent(replay, event, event.tail ? exitTangentWithTail : exitTangent),
  tangent_summed_up: (replay, event) => {
    const { number, summary, timestamp, env_context } = event
    const next = leaveTangent(replay, event, (state) => exitTangentWithSummary(state, summary, timestamp, env_context))
    if (openTangents(replay.state).length === 0) return next
    return addNumbered(next, number, next.state.history.at(-1), event)
  },
  rewound: (replay, { to, name, keep }) =>
    settle(replay, keep ? rewindTo(replay.state, to, name) : dropEntries(replay.state, to)),
  branch_taken: (replay, event) => {
    const next = settle(replay, switchToBranch(replay.state, event.branch))
    const isKnown = stateBranches(replay.state)[event.branch] !== undefined
    return isKnown ? next : addFault(next, event, `there is no branch ${event.branch}`)
  },
  history: (replay, event) => {
    const resolved = resolveHistory(replay.allEntries, event.entries)
    return addMissing(withState(replay, { history: resolved.history }), event, [resolved])
  },
  branches: (replay, event) => {
    const resolved = event.branches.map(({ entries }) => resolveHistory(replay.allEntries, entries))
    const branches = event.branches.map(({ name, after }, at) => ({ name, after, entries: historyAt(resolved, at) }))
    return addMissing(withState(replay, { fumibako: { ...replay.state.fumibako, branches } }), event, resolved)
  },
  summary: (replay, { summary, keep }) => {
    const { history } = replay.state
    const kept = history.slice(Math.max(0, history.length - keep))
    return settle(replay, { ...replay.state, history: kept, latest_summary: summary })
  },
  window: (replay, { range }) => withState(replay, { valid_history_range: range }),
  transcript: (replay, { lines }) =>
    withState(replay, { transcript: lines.reduce(appendTranscript, replay.state.transcript) }),
  transcript_changed: (replay, { from, to, lines }) => {
    const remaining = replay.state.transcript.slice(from, to)
    return withState(replay, { transcript: lines.reduce((all, line) => all.append(line), remaining) })
  },
  checkpoint: applyCheckpoints,
  restored: (replay, event) => {
    const checkpoint = replay.state.checkpoint_manager?.checkpoints.find(({ tag }) => tag === event.tag)
    return checkpoint
      ? settle(replay, withRestoredHistory(replay.state, checkpoint))
      : addFault(settle(replay, replay.state), event, 'the checkpoint is not there')
  },
  context: (replay, { context_manager }) => withState(replay, { context_manager }),
  context_length: (replay, { bytes }) => withState(replay, { context_message_length: bytes }),
  tools: (replay, { tools }) => withState(replay, { tools }),
  mcp: (replay, { enabled }) => withState(replay, { mcp_enabled: enabled }),
  model: (replay, { model_info }) => {
    const { model_info: _, ...state } = replay.state
    return { ...replay, state: model_info ? { ...state, model_info } : state }
  },
  agent: (replay, { event: _, at: __, ...agent }) => ({ ...replay, agent }),
  line_tracker: (replay, { path, tracker }) => {
    // A known file keeps its position.
    const files = new JsonMap(replay.state.file_line_tracker)
    if (tracker) files.set(path, tracker)
    else files.delete(path)
    return withState(replay, { file_line_tracker: files })
  },
  usage: unchanged,
  cleared: (replay) => settle(replay, clear(replay.state)),
  failed: unchanged,
  set_aside: (replay, { parts }) => withState(replay, { fumibako: { ...replay.state.fumibako, set_aside: parts } }),
  fields: applyFields,
  unknown: unchanged,
}

const withState = (replay: Replay, fields: Partial<ConversationState>): Replay => ({
  ...replay,
  state: { ...replay.state, ...fields },
})

/** A step of the engine itself ends whatever was being streamed or run. */
const settle = (replay: Replay, state: ConversationState): Replay => ({
  ...replay,
  streamed: '',
  tools: NO_TOOLS,
  state,
})

/** An answer whose message was lost with a damaged line is kept with an empty message. */
function applyAnswer(replay: Replay, event: EventOf<'entry'> | EventOf<'interrupted'>): Replay {
  const pending = replay.state.next_message
  const asked = pending ? replay.state : { ...replay.state, next_message: newPrompt('', null, NO_ENVIRONMENT) }
  const state = pushAssistantMessage(asked, event.assistant, event.request_metadata)
  const answered = addNumbered(settle(replay, state), event.number, state.history.at(-1), event)
  return pending ? answered : addFault(answered, event, 'it answers a message that is not there')
}

function leaveTangent(
  replay: Replay,
  event: JournalEvent,
  leave: (state: ConversationState) => ConversationState,
): Replay {
  if (isInTangent(replay.state)) return settle(replay, leave(replay.state))
  return addFault(settle(replay, replay.state), event, 'no tangent is open')
}

function addNumbered(replay: Replay, number: number, entry: HistoryEntry | undefined, event: JournalEvent): Replay {
  if (!entry) return replay
  if (number <= lastNumber(replay.allEntries)) return addFault(replay, event, `entry ${number} was told before`)
  return { ...replay, allEntries: replay.allEntries.append({ number, entry }) }
}

const withTool = (replay: Replay, id: string, run: StartedTool): Replay => ({
  ...replay,
  tools: new Map([...replay.tools, [id, run]]),
})

const addFault = (replay: Replay, { event, at }: JournalEvent, reason: string): Replay => ({
  ...replay,
  faults: replay.faults.append({ event, at, reason }),
})

function addMissing(replay: Replay, event: JournalEvent, resolved: readonly ResolvedHistory[]): Replay {
  const count = resolved.reduce((sum, { missing }) => sum + missing, 0)
  return count === 0 ? replay : addFault(replay, event, `${count} of the entries that it names are not there`)
}

function applyCheckpoints(replay: Replay, event: EventOf<'checkpoint'>): Replay {
  const known = replay.state.checkpoint_manager
  const dropped = new Set(event.dropped)
  const resolved = event.added.map(({ entries }) => resolveHistory(replay.allEntries, entries))
  const added = event.added.map(({ checkpoint }, at): Checkpoint => {
    const { tag, timestamp, description, ...rest } = checkpoint
    return { tag, timestamp, description, history_snapshot: historyAt(resolved, at), ...rest }
  })
  const checkpoints = [...(known?.checkpoints ?? []).filter((_, at) => !dropped.has(at)), ...added]
  const { shadow_repo_path, work_tree_path, ...rest } = event.manager
  const checkpoint_manager: CheckpointManager = {
    shadow_repo_path,
    work_tree_path,
    checkpoints,
    tag_index: new JsonMap(checkpoints.map(({ tag }, at) => [tag, at] as const)),
    ...rest,
    file_stats_cache: new JsonMap([...(known?.file_stats_cache ?? []), ...event.stats]),
  }
  return addMissing(withState(replay, { checkpoint_manager }), event, resolved)
}

/** The known fields of a state that `fields` events may set. */
export const FIELD_CODECS: ReadonlyMap<string, Codec<unknown>> = new Map<string, Codec<unknown>>([
  ['model', text],
  ['checkpoint_manager', nullable(checkpointManager)],
  ['tangent_state', conversationCheckpoint],
  ['fumibako', extension],
])

function applyFields(replay: Replay, event: EventOf<'fields'>): Replay {
  const { set, removed, order } = event
  const fields = new Map<string, unknown>(Object.entries(replay.state))
  for (const key of removed) fields.delete(key)
  const unread: string[] = []
  for (const [key, value] of isJsonObject(set) ? jsonEntries(set) : []) {
    const read = readField(key, value)
    if (read === undefined) unread.push(key)
    else fields.set(key, read)
  }
  const keys = order ? [...order.filter((key) => fields.has(key)), ...fields.keys()] : fields.keys()
  const changed: unknown = Object.fromEntries(Array.from(new Set(keys), (key) => [key, fields.get(key)]))
  const next = { ...replay, state: changed as ConversationState }
  return unread.length === 0 ? next : addFault(next, event, `fields that cannot be read: ${unread.join(', ')}`)
}

function readField(key: string, value: JsonValue): unknown {
  const codec = FIELD_CODECS.get(key)
  if (!codec) return value
  const read = readValueAs(codec, value)
  return read.ok ? read.value : undefined
}

export const lastNumber = (allEntries: NumberedEntries): number => allEntries.at(-1)?.number ?? 0

interface ResolvedHistory {
  readonly history: History
  /** How many of the numbers name no entry. */
  readonly missing: number
}

const historyAt = (resolved: readonly ResolvedHistory[], at: number): History =>
  (resolved[at] as ResolvedHistory).history

/** Limits one list of runs: a few digits in a file must not fill the memory. */
const MAX_ENTRIES = 1_000_000

/** The history that runs name. Visits only entries that exist, however far a run reaches. */
function resolveHistory(allEntries: NumberedEntries, runs: EntryRuns): ResolvedHistory {
  const entries: HistoryEntry[] = []
  let missing = 0
  for (const [from, to] of runs) {
    missing += Math.max(0, to - from + 1)
    for (let at = indexOfNumber(allEntries, from); entries.length < MAX_ENTRIES; at++) {
      const found = allEntries.at(at)
      if (!found || found.number > to) break
      entries.push(found.entry)
      missing--
    }
  }
  return { history: Entries.over(entries), missing }
}

/** The index of the first entry with this number or a higher one. */
function indexOfNumber(allEntries: NumberedEntries, number: number): number {
  if (allEntries.at(number - 1)?.number === number) return number - 1
  let low = 0
  let high = allEntries.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((allEntries.at(middle) as NumberedEntry).number < number) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * The events to append to a journal whose writer was stopped, so that nothing is lost: a partial answer becomes an
 * interrupted entry, and started tools get their results, or one that says that they did not end. Empty otherwise.
 */
export function recoveryEvents(replay: Replay, at: string, env: UserEnvContext): readonly JournalEvent[] {
  const { state, allEntries, streamed, tools } = replay
  if (streamed !== '' && state.next_message) {
    const number = lastNumber(allEntries) + 1
    const assistant = newResponse(null, streamed)
    return [{ event: 'interrupted', at, number, assistant, request_metadata: null, reason: 'crashed' }]
  }
  const last = state.history.at(-1)?.assistant
  if (tools.size === 0 || state.next_message || !last || !('ToolUse' in last)) return []
  const results = last.ToolUse.tool_uses.map(
    ({ id }): ToolUseResult =>
      tools.get(id)?.result ?? {
        tool_use_id: id,
        content: [{ Text: tools.has(id) ? NOT_ENDED : NOT_STARTED }],
        status: 'Error',
      },
  )
  return [{ event: 'next_message', at, message: newToolUseResults(results, env) }]
}

const NOT_ENDED = 'The program was stopped while this tool ran. Whether it did its work is not known.'
const NOT_STARTED = 'The program was stopped before this tool was started.'

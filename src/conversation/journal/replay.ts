/** The state of a conversation is the fold of its journal. */

import { assertNever } from '../../model/error.ts'
import { withRestoredHistory } from '../checkpoint.ts'
import { Entries } from '../entries.ts'
import type { ToolUseResult } from '../message.ts'
import { NO_ENVIRONMENT, newPrompt } from '../new-message.ts'
import type { HistoryEntry } from '../record.ts'
import { dropEntries, rewindTo, stateBranches, switchToBranch } from '../rewind.ts'
import { type ConversationState, clear, newState, pushAssistantMessage } from '../state.ts'
import {
  enterTangent,
  exitTangent,
  exitTangentWithSummary,
  exitTangentWithTail,
  isInTangent,
  openTangents,
} from '../tangent.ts'
import { applyChange, type StepResult } from './apply-change.ts'
import type { AgentChosenEvent, JournalEvent } from './event.ts'
import { lastNumber, type NumberedEntries } from './numbered-entries.ts'

export interface Replay {
  readonly state: ConversationState
  /** Every exchange, also those that no history holds any more. */
  readonly allEntries: NumberedEntries
  /** What has come of an answer that is no entry yet. */
  readonly streamed: string
  /** The tools that the last answer asked for and that were started, by the id of their use. */
  readonly tools: ReadonlyMap<string, StartedTool>
  /** Of the program that opened it last; 0 before the first line. */
  readonly version: number
  readonly cwd: string | null
  /** The agent that was chosen last; null where no agent was chosen, or an older program wrote the journal. */
  readonly agent: Omit<AgentChosenEvent, 'event' | 'at'> | null
  /** Events that did not fit: lines before them are damaged or lost. */
  readonly faults: Entries<ReplayFault>
}

export interface StartedTool {
  readonly name: string
  readonly result: ToolUseResult | null
}

export interface ReplayFault {
  readonly event: string
  readonly at: string
  /** A sentence for a person. Never conversation text. */
  readonly reason: string
}

const NO_TOOLS: ReadonlyMap<string, StartedTool> = new Map()

/** @param id of the conversation, until its header tells */
export function emptyReplay(id = ''): Replay {
  return {
    state: newState(id),
    allEntries: Entries.of(),
    streamed: '',
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

/** What one event makes of it. Never throws: what does not fit is a fault and changes as little as it can. */
export function replayEvent(replay: Replay, event: JournalEvent): Replay {
  switch (event.event) {
    case 'opened':
      return {
        ...replay,
        version: event.journal,
        cwd: event.cwd,
        state: replay.version === 0 ? { ...replay.state, conversation_id: event.conversation_id } : replay.state,
      }
    case 'delta':
      return { ...replay, streamed: replay.streamed + event.text }
    case 'next_message':
      return { ...replay, streamed: '', state: { ...replay.state, next_message: event.message } }
    case 'entry':
    case 'interrupted':
      return applyAnswer(replay, event)
    case 'copied':
      return applyCopy(replay, event.number, event.entry, event.into === 'history', event)
    case 'tool_started':
      return withTool(replay, event.tool_use_id, { name: event.name, result: null })
    case 'tool_finished': {
      const { tool_use_id } = event.result
      return withTool(replay, tool_use_id, { name: replay.tools.get(tool_use_id)?.name ?? '', result: event.result })
    }
    case 'tangent_summed_up':
    case 'tangent_entered':
    case 'tangent_left':
    case 'rewound':
    case 'branch_taken':
    case 'restored':
    case 'cleared':
    case 'summary':
      return applyOperationEvent(replay, event)
    case 'history':
    case 'branches':
    case 'window':
    case 'transcript':
    case 'transcript_changed':
    case 'checkpoint':
    case 'context':
    case 'context_length':
    case 'tools':
    case 'mcp':
    case 'model':
    case 'line_tracker':
    case 'set_aside':
    case 'fields':
      return applyStep(replay, event, applyChange(replay.state, replay.allEntries, event))
    case 'agent': {
      const { event: _, at: __, ...agent } = event
      return { ...replay, agent }
    }
    case 'usage':
    case 'failed':
    case 'unknown':
      return replay
    default:
      return assertNever(event)
  }
}

type AnswerEvent = Extract<JournalEvent, { event: 'entry' | 'interrupted' }>

/** An answer whose message was lost with a damaged line is kept with an empty one. */
function applyAnswer(replay: Replay, event: AnswerEvent): Replay {
  const pending = replay.state.next_message
  const askedState = pending ? replay.state : { ...replay.state, next_message: newPrompt('', null, NO_ENVIRONMENT) }
  const state = pushAssistantMessage(askedState, event.assistant, event.request_metadata)
  const answeredReplay = addNumbered(
    { ...replay, state, streamed: '', tools: NO_TOOLS },
    event.number,
    state.history.at(-1),
    event,
  )
  return pending ? answeredReplay : addFault(answeredReplay, event, 'it answers a message that is not there')
}

function applyCopy(
  replay: Replay,
  number: number,
  entry: HistoryEntry,
  isInHistory: boolean,
  event: JournalEvent,
): Replay {
  const state = isInHistory ? { ...replay.state, history: replay.state.history.append(entry) } : replay.state
  return addNumbered({ ...replay, state }, number, entry, event)
}

function applyOperationEvent(replay: Replay, event: Parameters<typeof applyOperation>[1]): Replay {
  const next = applyStep({ ...replay, streamed: '', tools: NO_TOOLS }, event, applyOperation(replay.state, event))
  if (event.event !== 'tangent_summed_up' || openTangents(replay.state).length === 0) return next
  return addNumbered(next, event.number, next.state.history.at(-1), event)
}

function addNumbered(replay: Replay, number: number, entry: HistoryEntry | undefined, event: JournalEvent): Replay {
  if (!entry) return replay
  if (number <= lastNumber(replay.allEntries)) return addFault(replay, event, `entry ${number} was told before`)
  return { ...replay, allEntries: replay.allEntries.append({ number, entry }) }
}

function withTool(replay: Replay, id: string, run: StartedTool): Replay {
  return { ...replay, tools: new Map([...replay.tools, [id, run]]) }
}

function applyStep(replay: Replay, event: JournalEvent, { state, fault }: StepResult): Replay {
  return fault === undefined ? { ...replay, state } : addFault({ ...replay, state }, event, fault)
}

function addFault(replay: Replay, { event, at }: JournalEvent, reason: string): Replay {
  return { ...replay, faults: replay.faults.append({ event, at, reason }) }
}

/** Events that are steps of the engine itself: each does what its operation does. */
type OperationEvent = Extract<
  JournalEvent,
  {
    event:
      | 'tangent_entered'
      | 'tangent_left'
      | 'tangent_summed_up'
      | 'rewound'
      | 'branch_taken'
      | 'restored'
      | 'cleared'
      | 'summary'
  }
>

function applyOperation(state: ConversationState, event: OperationEvent): StepResult {
  switch (event.event) {
    case 'tangent_entered': {
      const { name, started, nested } = event
      return { state: enterTangent(state, started, { nested, ...(name !== null && { name }) }) }
    }
    case 'tangent_left':
      if (!isInTangent(state)) return { state, fault: NO_TANGENT }
      return { state: event.tail ? exitTangentWithTail(state) : exitTangent(state) }
    case 'tangent_summed_up':
      if (!isInTangent(state)) return { state, fault: NO_TANGENT }
      return { state: exitTangentWithSummary(state, event.summary, event.timestamp, event.env_context) }
    case 'rewound':
      return { state: event.keep ? rewindTo(state, event.to, event.name) : dropEntries(state, event.to) }
    case 'branch_taken':
      if (!stateBranches(state)[event.branch]) return { state, fault: `there is no branch ${event.branch}` }
      return { state: switchToBranch(state, event.branch) }
    case 'restored':
      return restoreCheckpointTag(state, event.tag)
    case 'cleared':
      return { state: clear(state) }
    case 'summary': {
      const history = state.history.slice(Math.max(0, state.history.length - event.keep))
      return { state: { ...state, history, latest_summary: event.summary } }
    }
    default:
      return assertNever(event)
  }
}

const NO_TANGENT = 'no tangent is open'

function restoreCheckpointTag(state: ConversationState, tag: string): StepResult {
  const checkpoint = state.checkpoint_manager?.checkpoints.find((one) => one.tag === tag)
  if (!checkpoint) return { state, fault: 'the checkpoint is not there' }
  return { state: withRestoredHistory(state, checkpoint) }
}

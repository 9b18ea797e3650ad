/** Events that are steps of the engine itself: each does what its operation does. */

import { assertNever } from '../../model/error.ts'
import { withRestoredHistory } from '../checkpoint.ts'
import { dropEntries, rewindTo, stateBranches, switchToBranch } from '../rewind.ts'
import { type ConversationState, clear } from '../state.ts'
import { enterTangent, exitTangent, exitTangentWithSummary, exitTangentWithTail, isInTangent } from '../tangent.ts'
import type { StepResult } from './changing.ts'
import type { JournalEvent } from './event.ts'

export type OperationEvent = Extract<
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

export function applyOperation(state: ConversationState, event: OperationEvent): StepResult {
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

/** Random operations on a conversation. */
import fc from 'fast-check'
import { expect } from 'vitest'
import {
  createCheckpoint,
  type Git,
  initCheckpoints,
  type NewCheckpoint,
  restoreCheckpoint,
} from '../../../src/conversation/checkpoint.ts'
import { writeState } from '../../../src/conversation/codec/state.ts'
import { type JournalEvent, type UntimedEvent, writeEvent } from '../../../src/conversation/journal/event.ts'
import { lastNumber, type Replay, replayJournal } from '../../../src/conversation/journal/replay.ts'
import { eventsBetween, journalOf } from '../../../src/conversation/journal/state-to-events.ts'
import { trackWrite } from '../../../src/conversation/line-tracker.ts'
import { EMPTY_METADATA } from '../../../src/conversation/record.ts'
import { withInvariants } from '../../../src/conversation/request.ts'
import {
  appendUserTranscript,
  type ConversationState,
  clear,
  dropLastExchange,
  newState,
  pushAssistantMessage,
  replaceHistoryWithSummary,
  rewindTo,
  stateBranches,
  switchToBranch,
} from '../../../src/conversation/state.ts'
import {
  enterTangent,
  exitTangent,
  exitTangentWithSummary,
  exitTangentWithTail,
  isInTangent,
} from '../../../src/conversation/tangent.ts'
import { ENV, NOW } from '../test-states.ts'
import { assistant, metadataOrNone, text, user } from './arbitrary-states.ts'

export const AT = '2026-03-01T10:00:00.000Z'
const git: Git = async () => ({ code: 0, stdout: '', stderr: '' })

interface Step {
  readonly after: ConversationState
  /** The event in the journal; undefined if it follows only from the difference of states. */
  readonly event?: UntimedEvent
}

type ConversationStep = (replay: Replay) => Step | Promise<Step>

export const arbitrarySteps: fc.Arbitrary<ConversationStep> = fc.oneof(
  user.map(
    (message): ConversationStep =>
      ({ state }) => ({
        after: { ...state, next_message: message },
        event: { event: 'next_message', message },
      }),
  ),
  fc.tuple(assistant, metadataOrNone, user).map(
    ([answer, metadata, asked]): ConversationStep =>
      (replay) => {
        if (!replay.state.next_message) return { after: { ...replay.state, next_message: asked } }
        return {
          after: pushAssistantMessage(replay.state, answer, metadata),
          event: {
            event: 'entry',
            number: lastNumber(replay.allEntries) + 1,
            assistant: answer,
            request_metadata: metadata,
          },
        }
      },
  ),
  fc.tuple(fc.option(text, { nil: undefined }), fc.boolean()).map(
    ([name, nested]): ConversationStep =>
      ({ state }) => ({
        after: enterTangent(state, NOW, { nested, ...(name !== undefined && { name }) }),
        event: { event: 'tangent_entered', name: name ?? null, started: NOW, nested },
      }),
  ),
  fc.boolean().map(
    (tail): ConversationStep =>
      ({ state }) => {
        if (!isInTangent(state)) return { after: state }
        return {
          after: tail ? exitTangentWithTail(state) : exitTangent(state),
          event: { event: 'tangent_left', tail },
        }
      },
  ),
  text.map(
    (summary): ConversationStep =>
      ({ state, allEntries: reported }) => {
        if (!isInTangent(state)) return { after: state }
        const number = lastNumber(reported) + 1
        return {
          after: exitTangentWithSummary(state, summary, AT, ENV),
          event: { event: 'tangent_summed_up', number, summary, timestamp: AT, env_context: ENV },
        }
      },
  ),
  fc.tuple(fc.integer({ min: -1, max: 5 }), fc.option(text)).map(
    ([to, name]): ConversationStep =>
      ({ state }) => ({
        after: rewindTo(state, to, name),
        event: { event: 'rewound', to, name, keep: true },
      }),
  ),
  fc.constant<ConversationStep>(({ state }) => {
    const after = dropLastExchange(state)
    if (state.history.length === 0) return { after }
    return { after, event: { event: 'rewound', to: after.history.length - 1, name: null, keep: false } }
  }),
  fc.nat(2).map(
    (branch): ConversationStep =>
      ({ state }) => {
        if (!stateBranches(state)[branch]) return { after: state }
        return { after: switchToBranch(state, branch), event: { event: 'branch_taken', branch } }
      },
  ),
  fc.tuple(text, fc.nat(3)).map(
    ([summary, backup]): ConversationStep =>
      ({ state }) => ({
        after: replaceHistoryWithSummary(state, summary, EMPTY_METADATA, backup),
        event: { event: 'summary', summary: [summary, EMPTY_METADATA], keep: backup },
      }),
  ),
  fc.constant<ConversationStep>(({ state }) => ({ after: clear(state), event: { event: 'cleared' } })),
  text.map(
    (line): ConversationStep =>
      ({ state }) => ({
        after: { ...state, transcript: appendUserTranscript(state.transcript, line) },
        event: { event: 'transcript', lines: [`> ${line.replaceAll('\n', '> \n')}`] },
      }),
  ),
  fc.tuple(fc.constantFrom('a', 'b', '7'), text, text).map(
    ([path, before, now]): ConversationStep =>
      ({ state }) => {
        const after = trackWrite(state, path, before, now)
        return { after, event: { event: 'line_tracker', path, tracker: after.file_line_tracker.get(path) ?? null } }
      },
  ),
  fc.constant<ConversationStep>(({ state }) => ({ after: withInvariants(state, ENV) })),
  fc.tuple(fc.constantFrom('0', '1', '1.1', '2'), fc.boolean(), text).map(
    ([tag, isTurn, description]): ConversationStep =>
      async ({ state }) => ({
        after: { ...state, checkpoint_manager: await withCheckpoint(state, { tag, isTurn, description }) },
      }),
  ),
  fc.constantFrom('0', '1', '2').map(
    (tag): ConversationStep =>
      async ({ state }) => {
        const restored = await restoreCheckpoint(git, state, tag, false)
        return restored.ok
          ? { after: restored.value, event: { event: 'restored', tag, hard: false } }
          : { after: state }
      },
  ),
)

async function withCheckpoint(state: ConversationState, given: Pick<NewCheckpoint, 'tag' | 'isTurn' | 'description'>) {
  const around = { history: state.history, timestamp: AT }
  const created = state.checkpoint_manager
    ? await createCheckpoint(git, state.checkpoint_manager, { ...given, ...around, toolName: null })
    : await initCheckpoints(git, { shadowRepoPath: '/shadow', workTreePath: '/w', ...around })
  if (!created.ok) throw new Error(created.reason)
  return created.value
}

export const initialReplay = replayJournal(journalOf(newState('c'), { at: AT }))

export async function journalOfSteps(steps: readonly ConversationStep[]): Promise<readonly JournalEvent[]> {
  const events: JournalEvent[] = [...journalOf(newState('c'), { at: AT })]
  let replay = initialReplay
  for (const step of steps) {
    const { after, event } = await step(replay)
    const between = eventsBetween(replay, after, AT)
    expect(writeState(replayJournal(between, replay).state)).toBe(writeState(after))
    const reported = event ? [{ ...event, at: AT } as JournalEvent] : between
    replay = replayJournal(reported, replay)
    expect(writeState(replay.state)).toBe(writeState(after))
    expect([...replay.faults]).toEqual([])
    events.push(...reported)
  }
  return events
}

export const linesOf = (events: readonly JournalEvent[]): string =>
  events.map((event) => `${writeEvent(event)}\n`).join('')

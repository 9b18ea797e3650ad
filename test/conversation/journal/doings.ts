/** Whatever can be done with a conversation, step by step. */
import fc from 'fast-check'
import { expect } from 'vitest'
import {
  createCheckpoint,
  type Git,
  initCheckpoints,
  type NewCheckpoint,
  restoreCheckpoint,
} from '../../../src/conversation/checkpoint.ts'
import { writeState } from '../../../src/conversation/codec/write.ts'
import { trackWrite } from '../../../src/conversation/files/line-tracker.ts'
import { writeEvent } from '../../../src/conversation/journal/codec.ts'
import { journalBetween, journalOf } from '../../../src/conversation/journal/difference.ts'
import type { JournalEvent, Untimed } from '../../../src/conversation/journal/event.ts'
import { lastNumber } from '../../../src/conversation/journal/numbered.ts'
import { type Replay, replayJournal } from '../../../src/conversation/journal/replay.ts'
import { EMPTY_METADATA } from '../../../src/conversation/record.ts'
import { enforced } from '../../../src/conversation/request/invariants.ts'
import { branchesOf, dropLastExchange, rewindTo, switchToBranch } from '../../../src/conversation/rewind.ts'
import {
  type ConversationState,
  clear,
  newState,
  pushAssistantMessage,
  replaceHistoryWithSummary,
} from '../../../src/conversation/state.ts'
import {
  enterTangent,
  exitTangent,
  exitTangentWithSummary,
  exitTangentWithTail,
  isInTangent,
} from '../../../src/conversation/tangent.ts'
import { appendUserTranscript } from '../../../src/conversation/transcript.ts'
import { ENV, NOW } from '../make.ts'
import { assistant, metadataOrNone, text, user } from './arbitrary.ts'

export const AT = '2026-03-01T10:00:00.000Z'
const git: Git = async () => ({ code: 0, stdout: '', stderr: '' })

interface Step {
  readonly after: ConversationState
  /** What the journal says of it; nothing where only the difference tells. */
  readonly event?: Untimed
}

type Doing = (replay: Replay) => Step | Promise<Step>

export const doings: fc.Arbitrary<Doing> = fc.oneof(
  user.map(
    (message): Doing =>
      ({ state }) => ({
        after: { ...state, next_message: message },
        event: { event: 'next_message', message },
      }),
  ),
  fc.tuple(assistant, metadataOrNone, user).map(
    ([answer, metadata, asked]): Doing =>
      (replay) => {
        if (!replay.state.next_message) return { after: { ...replay.state, next_message: asked } }
        return {
          after: pushAssistantMessage(replay.state, answer, metadata),
          event: { event: 'entry', number: lastNumber(replay.told) + 1, assistant: answer, request_metadata: metadata },
        }
      },
  ),
  fc.tuple(fc.option(text, { nil: undefined }), fc.boolean()).map(
    ([name, nested]): Doing =>
      ({ state }) => ({
        after: enterTangent(state, NOW, { nested, ...(name !== undefined && { name }) }),
        event: { event: 'tangent_entered', name: name ?? null, started: NOW, nested },
      }),
  ),
  fc.boolean().map(
    (tail): Doing =>
      ({ state }) => {
        if (!isInTangent(state)) return { after: state }
        return {
          after: tail ? exitTangentWithTail(state) : exitTangent(state),
          event: { event: 'tangent_left', tail },
        }
      },
  ),
  text.map(
    (summary): Doing =>
      ({ state, told }) => {
        if (!isInTangent(state)) return { after: state }
        const number = lastNumber(told) + 1
        return {
          after: exitTangentWithSummary(state, summary, AT, ENV),
          event: { event: 'tangent_summed_up', number, summary, timestamp: AT, env_context: ENV },
        }
      },
  ),
  fc.tuple(fc.integer({ min: -1, max: 5 }), fc.option(text)).map(
    ([to, name]): Doing =>
      ({ state }) => ({
        after: rewindTo(state, to, name),
        event: { event: 'rewound', to, name, keep: true },
      }),
  ),
  fc.constant<Doing>(({ state }) => {
    const after = dropLastExchange(state)
    if (state.history.length === 0) return { after }
    return { after, event: { event: 'rewound', to: after.history.length - 1, name: null, keep: false } }
  }),
  fc.nat(2).map(
    (branch): Doing =>
      ({ state }) => {
        if (!branchesOf(state)[branch]) return { after: state }
        return { after: switchToBranch(state, branch), event: { event: 'branch_taken', branch } }
      },
  ),
  fc.tuple(text, fc.nat(3)).map(
    ([summary, keep]): Doing =>
      ({ state }) => ({
        after: replaceHistoryWithSummary(state, summary, EMPTY_METADATA, keep),
        event: { event: 'summary', summary: [summary, EMPTY_METADATA], keep },
      }),
  ),
  fc.constant<Doing>(({ state }) => ({ after: clear(state), event: { event: 'cleared' } })),
  text.map(
    (line): Doing =>
      ({ state }) => ({
        after: { ...state, transcript: appendUserTranscript(state.transcript, line) },
        event: { event: 'transcript', lines: [`> ${line.replaceAll('\n', '> \n')}`] },
      }),
  ),
  fc.tuple(fc.constantFrom('a', 'b', '7'), text, text).map(
    ([path, before, now]): Doing =>
      ({ state }) => {
        const after = trackWrite(state, path, before, now)
        return { after, event: { event: 'line_tracker', path, tracker: after.file_line_tracker.get(path) ?? null } }
      },
  ),
  fc.constant<Doing>(({ state }) => ({ after: enforced(state, ENV) })),
  fc.tuple(fc.constantFrom('0', '1', '1.1', '2'), fc.boolean(), text).map(
    ([tag, isTurn, description]): Doing =>
      async ({ state }) => ({
        after: { ...state, checkpoint_manager: await checkpointed(state, { tag, isTurn, description }) },
      }),
  ),
  fc.constantFrom('0', '1', '2').map(
    (tag): Doing =>
      async ({ state }) => {
        const restored = await restoreCheckpoint(git, state, tag, false)
        return restored.ok
          ? { after: restored.value, event: { event: 'restored', tag, hard: false } }
          : { after: state }
      },
  ),
)

async function checkpointed(state: ConversationState, given: Pick<NewCheckpoint, 'tag' | 'isTurn' | 'description'>) {
  const around = { history: state.history, timestamp: AT }
  const made = state.checkpoint_manager
    ? await createCheckpoint(git, state.checkpoint_manager, { ...given, ...around, toolName: null })
    : await initCheckpoints(git, { shadowRepoPath: '/shadow', workTreePath: '/w', ...around })
  if (!made.ok) throw new Error(made.reason)
  return made.value
}

export const opened = replayJournal(journalOf(newState('c'), { at: AT }))

export async function journalOfDoings(steps: readonly Doing[]): Promise<readonly JournalEvent[]> {
  const events: JournalEvent[] = [...journalOf(newState('c'), { at: AT })]
  let replay = opened
  for (const step of steps) {
    const { after, event } = await step(replay)
    const between = journalBetween(replay, after, AT)
    expect(writeState(replayJournal(between, replay).state)).toBe(writeState(after))
    const told = event ? [{ ...event, at: AT } as JournalEvent] : between
    replay = replayJournal(told, replay)
    expect(writeState(replay.state)).toBe(writeState(after))
    expect([...replay.faults]).toEqual([])
    events.push(...told)
  }
  return events
}

export const linesOf = (events: readonly JournalEvent[]): string =>
  events.map((event) => `${writeEvent(event)}\n`).join('')

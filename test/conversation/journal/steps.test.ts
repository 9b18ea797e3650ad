/** What the engine does, told as events, folds to what the engine gives; and a journal may end anywhere. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
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
import { readJournal } from '../../../src/conversation/journal/read.ts'
import { recoveryOf } from '../../../src/conversation/journal/recover.ts'
import { emptyReplay, type Replay, replayEvent, replayJournal } from '../../../src/conversation/journal/replay.ts'
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
import { ENV, NOW, prompt, results, uses } from '../make.ts'
import { assistant, metadataOrNone, text, user } from './arbitrary.ts'

const AT = '2026-03-01T10:00:00.000Z'
const git: Git = async () => ({ code: 0, stdout: '', stderr: '' })

interface Step {
  readonly after: ConversationState
  /** What the journal says of it; nothing where only the difference tells. */
  readonly event?: Untimed
}

type Doing = (replay: Replay) => Step | Promise<Step>

const doings: fc.Arbitrary<Doing> = fc.oneof(
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

const opened = replayJournal(journalOf(newState('c'), { at: AT }))

async function journalOfDoings(steps: readonly Doing[]): Promise<readonly JournalEvent[]> {
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

const linesOf = (events: readonly JournalEvent[]): string => events.map((event) => `${writeEvent(event)}\n`).join('')

test('each step of the engine folds to the state that the step gives', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(doings, { maxLength: 40, size: 'max' }), async (steps) => {
      const events = await journalOfDoings(steps)
      const read = readJournal(linesOf(events))
      expect(read.issues).toEqual([])
      expect(writeState(replayJournal(read.events).state)).toBe(writeState(replayJournal(events).state))
    }),
    { numRuns: 150 },
  )
})

test('a journal may be cut anywhere: the line that was cut is lost, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(doings, { maxLength: 12, size: 'max' }), fc.nat(), async (steps, somewhere) => {
      const events = await journalOfDoings(steps)
      const whole = linesOf(events)
      const cut = whole.slice(0, somewhere % (whole.length + 1))
      const ended = cut.split('\n').length - 1
      const { events: read, issues } = readJournal(cut)
      expect(linesOf(read).startsWith(linesOf(events.slice(0, ended)))).toBe(true)
      expect(read.length - ended).toBe(cut.endsWith('\n') || cut === '' || issues.length > 0 ? 0 : 1)
      const replay = replayJournal(read)
      expect(writeState(replay.state)).toBe(writeState(replayJournal(events.slice(0, read.length)).state))
    }),
    { numRuns: 100 },
  )
})

test('a journal folds whatever lines are missing or damaged, and says what did not fit', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(doings, { maxLength: 20, size: 'max' }),
      fc.array(fc.nat(), { maxLength: 4 }),
      async (steps, holes) => {
        const events = await journalOfDoings(steps)
        const lines = linesOf(events).split('\n').slice(0, -1)
        const gone = new Set(holes.map((hole) => hole % lines.length))
        const { events: read, issues } = readJournal(
          lines.map((line, at) => (gone.has(at) ? line.slice(3) : line)).join('\n'),
        )
        expect(issues.map(({ line }) => line)).toEqual(expect.arrayContaining([...gone].map((at) => at + 1)))
        expect(read).toHaveLength(lines.length - gone.size)
        const { state } = replayJournal(read)
        expect(writeState(replayJournal(journalOf(state, { at: AT })).state)).toBe(writeState(state))
      },
    ),
    { numRuns: 100 },
  )
})

const step = (replay: Replay, ...events: readonly Untimed[]): Replay =>
  replayJournal(
    events.map((event) => ({ ...event, at: AT }) as JournalEvent),
    replay,
  )
const asked = step(opened, { event: 'next_message', message: prompt('why?') })
const answer = (number: number, id: string): Untimed => ({
  event: 'entry',
  number,
  assistant: uses(id),
  request_metadata: null,
})

test('an answer that was cut is an interrupted entry with what had streamed', () => {
  const cut = step(asked, { event: 'delta', text: 'Beca' }, { event: 'delta', text: 'use' })
  expect(cut.streamed).toBe('Because')
  expect(cut.state).toEqual(asked.state)
  const back = replayJournal(recoveryOf(cut, AT, ENV), cut)
  expect(back.state).toEqual(pushAssistantMessage(asked.state, { Response: { message_id: null, content: 'Because' } }))
  expect(back.streamed).toBe('')
  expect(recoveryOf(back, AT, ENV)).toEqual([])
})

test('a question to which nothing had come still waits', () => {
  expect(recoveryOf(asked, AT, ENV)).toEqual([])
  expect(asked.state.next_message).toEqual(prompt('why?'))
})

test('what streamed before an answer was whole is no part of the next one', () => {
  const whole = step(asked, { event: 'delta', text: 'Be' }, answer(1, 't'), {
    event: 'next_message',
    message: prompt('b'),
  })
  expect(whole.streamed).toBe('')
  expect(recoveryOf(whole, AT, ENV)).toEqual([])
})

test('results of tools that had finished are kept, and those that had not are told so', () => {
  const two = {
    ToolUse: { message_id: null, content: '', tool_uses: ['t1', 't2', 't3'].map((id) => ({ ...look, id })) },
  }
  const running = step(
    asked,
    { event: 'entry', number: 1, assistant: two, request_metadata: null },
    { event: 'tool_started', tool_use_id: 't1', name: 'look' },
    { event: 'tool_started', tool_use_id: 't2', name: 'look' },
    { event: 'tool_finished', result: { tool_use_id: 't1', content: [{ Text: 'seen' }], status: 'Success' } },
  )
  const { next_message } = replayJournal(recoveryOf(running, AT, ENV), running).state
  expect(next_message?.content).toMatchObject({
    ToolUseResults: {
      tool_use_results: [
        { tool_use_id: 't1', content: [{ Text: 'seen' }], status: 'Success' },
        { tool_use_id: 't2', status: 'Error' },
        { tool_use_id: 't3', status: 'Error' },
      ],
    },
  })
  const sent = step(running, { event: 'next_message', message: results('t1', 'seen') })
  expect(recoveryOf(sent, AT, ENV)).toEqual([])
})

const look = { name: 'look', orig_name: 'look', args: {}, orig_args: {} }

test('an answer whose question was lost is kept', () => {
  const lost = step(opened, answer(1, 't'))
  expect(lost.state.history.at(0)?.assistant).toEqual(uses('t'))
  expect([...lost.faults]).toMatchObject([{ event: 'entry' }])
})

test('entries that a damaged line took are missed, not mistaken for others', () => {
  const three = [1, 2, 3].map((number) => {
    const entry = { user: prompt(`p${number}`), assistant: uses(`t${number}`), request_metadata: null }
    return { event: 'copied', number, entry, into: 'history' } as const
  })
  const [first, , third] = three
  if (!first || !third) throw new Error('three')
  const back = step(opened, first, third, { event: 'history', entries: [[2, 3]] })
  expect(back.state.history.toArray()).toEqual([third.entry])
  expect([...back.faults]).toMatchObject([{ event: 'history', reason: '1 of the entries that it names are not there' }])
})

test('adding to a long conversation is told in a line, not in all of it', () => {
  const entry = { user: prompt('p'), assistant: uses('t'), request_metadata: null }
  let replay = opened
  for (let number = 1; number <= 5000; number++)
    replay = replayEvent(replay, { event: 'copied', at: AT, number, entry: { ...entry }, into: 'history' })
  const after = { ...replay.state, history: replay.state.history.append(entry) }
  expect(journalBetween(replay, after, AT)).toHaveLength(1)
  const back = { ...after, history: after.history.slice(0, 4000) }
  const events = journalBetween(replay, back, AT)
  expect(linesOf(events).length).toBeLessThan(200)
  expect(writeState(replayJournal(events, replay).state)).toBe(writeState(back))
})

test('entries that are mended before they are sent name those in whose place they stand', () => {
  const talked = step(
    asked,
    answer(1, 't1'),
    { event: 'next_message', message: results('t1', 'seen') },
    answer(2, 't2'),
  )
  const mended = journalBetween(talked, enforced(talked.state, ENV), AT)
  expect(mended).toMatchObject([
    { event: 'copied', number: 3, into: 'aside', instead_of: 1 },
    { event: 'copied', number: 4, into: 'aside', instead_of: 2 },
    { event: 'history', entries: [[3, 4]] },
    { event: 'window' },
  ])
})

test('a full transcript loses its oldest line, and the journal says only the new one', () => {
  const lines = Array.from({ length: 10_000 }, (_, at) => `line ${at}`)
  const full = step(opened, { event: 'transcript', lines })
  const after = { ...full.state, transcript: appendUserTranscript(full.state.transcript, 'more') }
  const events = journalBetween(full, after, AT)
  expect(events).toMatchObject([{ event: 'transcript', lines: ['> more'] }])
  expect(replayJournal(events, full).state.transcript.toArray()).toEqual(after.transcript.toArray())
})

test('a journal says who wrote it, and by which version', () => {
  expect(emptyReplay('x')).toMatchObject({ version: 0, state: { conversation_id: 'x' } })
  const header = journalOf(newState('c'), {
    at: AT,
    cwd: '/w',
    program: '1.2.3',
    continues: { agent: 'codex', session: 's' },
  })
  expect(linesOf(header)).toBe(
    `{"journal":1,"event":"opened","at":"${AT}","conversation_id":"c","cwd":"/w","program":"1.2.3","continues":{"agent":"codex","session":"s"}}\n`,
  )
  const later = linesOf(header).replace('"journal":1', '"journal":2')
  expect(readJournal(later)).toMatchObject({ issues: [{ code: 'unknown_shape', line: 1 }], events: [{ journal: 2 }] })
})

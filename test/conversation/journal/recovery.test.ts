import { expect, test } from 'vitest'
import { writeState } from '../../../src/conversation/codec/write.ts'
import { journalBetween, journalOf } from '../../../src/conversation/journal/difference.ts'
import type { JournalEvent, Untimed } from '../../../src/conversation/journal/event.ts'
import { readJournal } from '../../../src/conversation/journal/read.ts'
import { recoveryOf } from '../../../src/conversation/journal/recover.ts'
import { emptyReplay, type Replay, replayEvent, replayJournal } from '../../../src/conversation/journal/replay.ts'
import { enforced } from '../../../src/conversation/request/invariants.ts'
import { newState, pushAssistantMessage } from '../../../src/conversation/state.ts'
import { appendUserTranscript } from '../../../src/conversation/transcript.ts'
import { ENV, prompt, results, uses } from '../make.ts'
import { AT, linesOf, opened } from './doings.ts'

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

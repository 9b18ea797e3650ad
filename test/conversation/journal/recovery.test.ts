import { expect, test } from 'vitest'
import { writeState } from '../../../src/conversation/codec/state.ts'
import { type JournalEvent, readJournal, type UntimedEvent } from '../../../src/conversation/journal/event.ts'
import {
  emptyReplay,
  type Replay,
  recoveryEvents,
  replayEvent,
  replayJournal,
} from '../../../src/conversation/journal/replay.ts'
import { eventsBetween, journalOf } from '../../../src/conversation/journal/state-to-events.ts'
import { withInvariants } from '../../../src/conversation/request.ts'
import { appendUserTranscript, newState, pushAssistantMessage } from '../../../src/conversation/state.ts'
import { ENV, prompt, toolResult, toolUse } from '../test-states.ts'
import { AT, initialReplay, linesOf } from './arbitrary-steps.ts'

const step = (replay: Replay, ...events: readonly UntimedEvent[]): Replay =>
  replayJournal(
    events.map((event) => ({ ...event, at: AT }) as JournalEvent),
    replay,
  )
const asked = step(initialReplay, { event: 'next_message', message: prompt('why?') })
const answer = (number: number, id: string): UntimedEvent => ({
  event: 'entry',
  number,
  assistant: toolUse(id),
  request_metadata: null,
})

test('a truncated answer becomes an interrupted entry with the streamed text', () => {
  const cut = step(asked, { event: 'delta', text: 'Beca' }, { event: 'delta', text: 'use' })
  expect(cut.streamed).toBe('Because')
  expect(cut.state).toEqual(asked.state)
  const back = replayJournal(recoveryEvents(cut, AT, ENV), cut)
  expect(back.state).toEqual(pushAssistantMessage(asked.state, { Response: { message_id: null, content: 'Because' } }))
  expect(back.streamed).toBe('')
  expect(recoveryEvents(back, AT, ENV)).toEqual([])
})

test('a prompt without an answer stays pending', () => {
  expect(recoveryEvents(asked, AT, ENV)).toEqual([])
  expect(asked.state.next_message).toEqual(prompt('why?'))
})

test('streamed text of a completed answer is not part of the next one', () => {
  const complete = step(asked, { event: 'delta', text: 'Be' }, answer(1, 't'), {
    event: 'next_message',
    message: prompt('b'),
  })
  expect(complete.streamed).toBe('')
  expect(recoveryEvents(complete, AT, ENV)).toEqual([])
})

test('results of finished tools are kept, and unfinished ones are marked', () => {
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
  const { next_message } = replayJournal(recoveryEvents(running, AT, ENV), running).state
  expect(next_message?.content).toMatchObject({
    ToolUseResults: {
      tool_use_results: [
        { tool_use_id: 't1', content: [{ Text: 'seen' }], status: 'Success' },
        { tool_use_id: 't2', status: 'Error' },
        { tool_use_id: 't3', status: 'Error' },
      ],
    },
  })
  const sent = step(running, { event: 'next_message', message: toolResult('t1', 'seen') })
  expect(recoveryEvents(sent, AT, ENV)).toEqual([])
})

const look = { name: 'look', orig_name: 'look', args: {}, orig_args: {} }

test('an answer whose question was lost is kept', () => {
  const lost = step(initialReplay, answer(1, 't'))
  expect(lost.state.history.at(0)?.assistant).toEqual(toolUse('t'))
  expect([...lost.faults]).toMatchObject([{ event: 'entry' }])
})

test('entries that a damaged line took are missed, not mistaken for others', () => {
  const three = [1, 2, 3].map((number) => {
    const entry = { user: prompt(`p${number}`), assistant: toolUse(`t${number}`), request_metadata: null }
    return { event: 'copied', number, entry, into: 'history' } as const
  })
  const [first, , third] = three
  if (!first || !third) throw new Error('three')
  const back = step(initialReplay, first, third, { event: 'history', entries: [[2, 3]] })
  expect(back.state.history.toArray()).toEqual([third.entry])
  expect([...back.faults]).toMatchObject([{ event: 'history', reason: '1 of the entries that it names are not there' }])
})

test('appending to a long conversation writes one line', () => {
  const entry = { user: prompt('p'), assistant: toolUse('t'), request_metadata: null }
  let replay = initialReplay
  for (let number = 1; number <= 5000; number++)
    replay = replayEvent(replay, { event: 'copied', at: AT, number, entry: { ...entry }, into: 'history' })
  const after = { ...replay.state, history: replay.state.history.append(entry) }
  expect(eventsBetween(replay, after, AT)).toHaveLength(1)
  const back = { ...after, history: after.history.slice(0, 4000) }
  const events = eventsBetween(replay, back, AT)
  expect(linesOf(events).length).toBeLessThan(200)
  expect(writeState(replayJournal(events, replay).state)).toBe(writeState(back))
})

test('entries repaired before sending name the entries they replace', () => {
  const talked = step(
    asked,
    answer(1, 't1'),
    { event: 'next_message', message: toolResult('t1', 'seen') },
    answer(2, 't2'),
  )
  const repaired = eventsBetween(talked, withInvariants(talked.state, ENV), AT)
  expect(repaired).toMatchObject([
    { event: 'copied', number: 3, into: 'aside', instead_of: 1 },
    { event: 'copied', number: 4, into: 'aside', instead_of: 2 },
    { event: 'history', entries: [[3, 4]] },
    { event: 'window' },
  ])
})

test('a full transcript drops its oldest line, and the journal records only the new one', () => {
  const lines = Array.from({ length: 10_000 }, (_, at) => `line ${at}`)
  const full = step(initialReplay, { event: 'transcript', lines })
  const after = { ...full.state, transcript: appendUserTranscript(full.state.transcript, 'more') }
  const events = eventsBetween(full, after, AT)
  expect(events).toMatchObject([{ event: 'transcript', lines: ['> more'] }])
  expect(replayJournal(events, full).state.transcript.toArray()).toEqual(after.transcript.toArray())
})

test('a journal records its program and version', () => {
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

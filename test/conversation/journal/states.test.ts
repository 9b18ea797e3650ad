/** Any state can be written as a journal, whose replay gives the same state. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readState, writeState } from '../../../src/conversation/codec/state.ts'
import { type JournalEvent, readEvent, readJournal, writeEvent } from '../../../src/conversation/journal/event.ts'
import { replayJournal } from '../../../src/conversation/journal/replay.ts'
import { eventsBetween, journalOf } from '../../../src/conversation/journal/state-to-events.ts'
import type { ConversationState } from '../../../src/conversation/state.ts'
import { states } from './arbitrary-states.ts'
import { sharedStates } from './shared-states.ts'

const AT = '2026-03-01T10:00:00.000Z'

const linesOf = (events: readonly JournalEvent[]): string => events.map((event) => `${writeEvent(event)}\n`).join('')

/** Passes through the journal's text, as in a file. */
function foldedText(events: readonly JournalEvent[]) {
  const text = linesOf(events)
  const { events: back, issues } = readJournal(text)
  expect(issues).toEqual([])
  expect(linesOf(back)).toBe(text)
  const replay = replayJournal(back)
  expect([...replay.faults]).toEqual([])
  return replay
}

function isReported(state: ConversationState): void {
  expect(writeState(foldedText(journalOf(state, { at: AT })).state)).toBe(writeState(state))
}

test('every state round-trips through its journal exactly', () => {
  fc.assert(
    fc.property(states(1), ([state]) => isReported(state as ConversationState)),
    { numRuns: 400 },
  )
})

test('a state read from another program round-trips', () => {
  fc.assert(
    fc.property(states(1), ([state]) => {
      const read = readState(writeState(state as ConversationState))
      if (!read.ok) throw new Error(read.reason)
      isReported(read.value)
    }),
  )
})

test('a journal can record any state change', () => {
  fc.assert(
    fc.property(states(3), (given) => {
      let replay = replayJournal([])
      const events: JournalEvent[] = []
      for (const state of given) {
        const more = events.length === 0 ? journalOf(state, { at: AT }) : eventsBetween(replay, state, AT)
        events.push(...more)
        replay = replayJournal(more, replay)
        expect(writeState(replay.state)).toBe(writeState(state))
        expect(eventsBetween(replay, replay.state, AT)).toEqual([])
      }
      expect(writeState(foldedText(events).state)).toBe(writeState(given.at(-1) as ConversationState))
    }),
  )
})

test('an entry is recorded once, however many histories contain it', () => {
  fc.assert(
    fc.property(states(1), ([state]) => {
      const again = readState(writeState(state as ConversationState))
      if (!again.ok) throw new Error(again.reason)
      const copied = journalOf(again.value, { at: AT }).flatMap((one) => (one.event === 'copied' ? [one] : []))
      expect(copied.map(({ number }) => number)).toEqual(copied.map((_, at) => at + 1))
    }),
  )
})

for (const { name, state } of sharedStates()) {
  test(`${name} round-trips through its journal exactly`, () => isReported(state))
}

test('events of later programs are preserved and skipped', () => {
  const line = '{"event":"weather","at":"2026-03-01T10:00:00.000Z","sun":1.0,"2":[],"1":{}}'
  const read = readEvent(line)
  if (!read.ok) throw new Error(read.reason)
  expect(read.event).toMatchObject({ event: 'unknown', name: 'weather', at: AT })
  expect(writeEvent(read.event)).toBe(line)
  const before = replayJournal([])
  expect(replayJournal([read.event], before)).toEqual(before)
})

test('a field of a later program stays in its event', () => {
  const line = `{"event":"next_message","at":"${AT}","message":null,"mood":"bright"}`
  const read = readEvent(line)
  expect(read.ok && writeEvent(read.event)).toBe(line)
})

test.each([
  ['{"event":"delta","at":"x"', 'bad_json'],
  ['[1]', 'not_an_object'],
  ['{"kind":"delta"}', 'unknown_shape'],
  ['{"event":"delta","at":"x","text":5}', 'unknown_shape'],
  [`${'['.repeat(2000)}${']'.repeat(2000)}`, 'too_deep'],
])('%s is an issue', (line, code) => {
  expect(readEvent(line)).toMatchObject({ ok: false, code })
})

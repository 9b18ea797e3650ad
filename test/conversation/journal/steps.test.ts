/** Replaying the events of an operation gives its result, and a journal may end anywhere. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { writeState } from '../../../src/conversation/codec/state.ts'
import { readJournal } from '../../../src/conversation/journal/event.ts'
import { replayJournal } from '../../../src/conversation/journal/replay.ts'
import { journalOf } from '../../../src/conversation/journal/state-to-events.ts'
import { AT, arbitrarySteps, journalOfSteps, linesOf } from './arbitrary-steps.ts'

test('replaying each step yields the state of the step', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitrarySteps, { maxLength: 40, size: 'max' }), async (steps) => {
      const events = await journalOfSteps(steps)
      const read = readJournal(linesOf(events))
      expect(read.issues).toEqual([])
      expect(writeState(replayJournal(read.events).state)).toBe(writeState(replayJournal(events).state))
    }),
    { numRuns: 150 },
  )
})

test('truncating a journal loses only the truncated line', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitrarySteps, { maxLength: 12, size: 'max' }), fc.nat(), async (steps, somewhere) => {
      const events = await journalOfSteps(steps)
      const complete = linesOf(events)
      const cut = complete.slice(0, somewhere % (complete.length + 1))
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

test('a journal replays with missing or damaged lines and reports what did not fit', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitrarySteps, { maxLength: 20, size: 'max' }),
      fc.array(fc.nat(), { maxLength: 4 }),
      async (steps, holes) => {
        const events = await journalOfSteps(steps)
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

/** Distinguishes lines written by the agent from lines changed by the user. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { linesByAgent, linesByUser, newState, readState, trackWrite, writeState } from '../../src/conversation.ts'

const PATH = '/w/app/a.ts'
const written = (before: string, after: string) => trackWrite(newState('c'), PATH, before, after)

function trackerOf(state: ReturnType<typeof newState>) {
  const tracker = state.file_line_tracker.get(PATH)
  if (!tracker) throw new Error('not tracked')
  return tracker
}

describe('a file that the agent writes', () => {
  test('a new file is all the agent’s', () => {
    const tracker = trackerOf(written('', 'a\nb\nc\n'))
    expect(tracker).toMatchObject({
      before_fswrite_lines: 0,
      after_fswrite_lines: 3,
      lines_added_by_agent: 3,
      is_first_write: false,
    })
    expect([linesByUser(tracker), linesByAgent(tracker)]).toEqual([0, 3])
  })

  test('lines from before the first write do not count as changed', () => {
    const tracker = trackerOf(written('a\nb\nc\n', 'a\nB\nc\nd\n'))
    expect(tracker).toMatchObject({ prev_fswrite_lines: 3, lines_added_by_agent: 2, lines_removed_by_agent: 1 })
    expect(linesByUser(tracker)).toBe(0)
  })

  test('changes between two writes count as the user’s', () => {
    const first = written('', 'a\nb\n')
    const added = trackerOf(trackWrite(first, PATH, 'a\nb\nmine\nmine too\n', 'a\nb\nmine\nmine too\nagent\n'))
    expect([linesByUser(added), linesByAgent(added)]).toEqual([2, 1])
    const removed = trackerOf(trackWrite(first, PATH, 'a\n', 'a\nagain\n'))
    expect([linesByUser(removed), linesByAgent(removed)]).toEqual([-1, 1])
  })

  test('other files and the state before stay as they are', () => {
    const first = written('', 'a\n')
    const second = trackWrite(first, '/w/app/b.ts', '', 'x\ny\n')
    expect([...second.file_line_tracker.keys()]).toEqual([PATH, '/w/app/b.ts'])
    expect(first.file_line_tracker.size).toBe(1)
  })

  test('is written and read like any other state', () => {
    const state = written('a\n', 'b\n')
    const read = readState(writeState(state), { mode: 'strict' })
    expect(read.ok && trackerOf(read.value)).toEqual(trackerOf(state))
  })
})

test('added and removed always explain the difference in length', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
    .map((lines) => lines.map((one) => `${one}\n`).join(''))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const tracker = trackerOf(written(before, after))
      const grown = Number(tracker.after_fswrite_lines) - Number(tracker.before_fswrite_lines)
      expect(Number(tracker.lines_added_by_agent) - Number(tracker.lines_removed_by_agent)).toBe(grown)
      if (before === after) expect(linesByAgent(tracker)).toBe(0)
    }),
  )
})

import { describe, expect, test } from 'vitest'
import { readState, writeState } from '../../src/conversation/codec/state.ts'
import { Entries } from '../../src/conversation/entries.ts'
import { newResponse } from '../../src/conversation/new-message.ts'
import { EMPTY_METADATA } from '../../src/conversation/record.ts'
import { withInvariants } from '../../src/conversation/request.ts'
import * as state from '../../src/conversation/state.ts'
import { dropLastExchange, rewindTo, stateBranches, switchToBranch } from '../../src/conversation/state.ts'
import {
  enterTangent,
  exitTangent,
  exitTangentWithSummary,
  exitTangentWithTail,
  isInTangent,
  openTangents,
  tangentSeconds,
} from '../../src/conversation/tangent.ts'
import { tangentTime } from '../../src/conversation/zoned-time.ts'
import {
  continueWith,
  conversationOf,
  ENV,
  NOW,
  prompt,
  promptsOf,
  toolResult,
  toolUse,
  withExchange,
} from './test-states.ts'

/** Both the strict and the tolerant reader load it without loss. */
function loadsEverywhere(given: state.ConversationState): void {
  const text = writeState(given)
  expect(readState(text, { mode: 'strict' }).ok).toBe(true)
  const back = readState(text)
  expect(back.ok && back.repairs).toEqual([])
  expect(back.ok && writeState(back.value)).toBe(text)
}

describe('messages', () => {
  test('an answer moves the pending message into the history and keeps the range', () => {
    const after = conversationOf('a', 'b')
    expect(promptsOf(after)).toEqual(['a', 'b'])
    expect(after.next_message).toBeNull()
    expect(after.valid_history_range).toEqual([0, 0])
    expect(after.transcript.toArray()).toEqual(['a!\n[Tool uses: none]', 'b!\n[Tool uses: none]'])
    expect(withInvariants(after, ENV).valid_history_range).toEqual([0, 2])
  })

  test('an answer without a pending message is ignored', () => {
    const before = conversationOf('a')
    expect(state.pushAssistantMessage(before, newResponse(null, 'x'))).toBe(before)
  })

  test('an empty prompt is replaced, white space stays', () => {
    const set = (text: string) =>
      state.setNextUserMessage(conversationOf(), text, '2025-10-25T14:53:00+09:00', ENV).next_message
    expect(set('')).toMatchObject({
      content: { Prompt: { prompt: 'Empty prompt' } },
      timestamp: '2025-10-25T14:53:00+09:00',
    })
    expect(set('  ')).toMatchObject({ content: { Prompt: { prompt: '  ' } } })
  })

  test('results have no time, results with images and cancellations have', () => {
    const at = '2025-10-25T14:53:00+09:00'
    expect(state.addToolResults(conversationOf(), [], ENV).next_message?.timestamp).toBeNull()
    expect(state.addToolResultsWithImages(conversationOf(), [], [], at, ENV).next_message).toMatchObject({
      timestamp: at,
      images: [],
    })
    expect(state.abandonToolUse(conversationOf(), ['a', 'b'], 'I deny', at, ENV).next_message).toMatchObject({
      content: {
        CancelledToolUses: { prompt: 'I deny', tool_use_results: [{ tool_use_id: 'a' }, { tool_use_id: 'b' }] },
      },
      timestamp: at,
    })
  })

  test('the model is read from the state', () => {
    const entry = (model_id: string | null) => ({
      user: prompt('q'),
      assistant: newResponse(null, 'a'),
      request_metadata: { ...EMPTY_METADATA, model_id },
    })
    const asked = { ...conversationOf(), history: Entries.of(entry('older'), entry(null)) }
    expect(state.modelOf(conversationOf('a'))).toBeNull()
    expect(state.modelOf(asked)).toBe('older')
    expect(state.modelOf({ ...asked, model: 'old' })).toBe('old')
    expect(state.modelOf({ ...asked, model: 'old', model_info: { model_id: 'new', context_window_tokens: 1 } })).toBe(
      'new',
    )
    expect(writeState(conversationOf('a'))).not.toContain('"model"')
  })

  test.each([0, 1, 2, 5])('a summary keeps the last %i entries and leaves the range', (keep) => {
    const before = conversationOf('a', 'b', 'c')
    const after = state.replaceHistoryWithSummary(before, 'SUM', EMPTY_METADATA, keep)
    expect(promptsOf(after)).toEqual(keep === 0 ? [] : ['a', 'b', 'c'].slice(-keep))
    expect(after.latest_summary).toEqual(['SUM', EMPTY_METADATA])
    expect(after.valid_history_range).toEqual(before.valid_history_range)
  })

  test('clearing keeps transcript, range and tangent', () => {
    const before = { ...enterTangent(conversationOf('a'), NOW), valid_history_range: [0, 1] as const }
    const after = state.clear({ ...before, latest_summary: ['x', EMPTY_METADATA], next_message: prompt('n') })
    expect(after).toMatchObject({ next_message: null, latest_summary: null, valid_history_range: [0, 1] })
    expect([after.history.length, after.transcript.length, isInTangent(after)]).toEqual([0, 1, true])
  })

  test('the history limit of the specification drops the oldest when asked to', () => {
    const full = {
      ...conversationOf(),
      history: Entries.over(
        Array.from({ length: 10_000 }, (_, i) => ({
          user: prompt(String(i)),
          assistant: newResponse(null, ''),
          request_metadata: null,
        })),
      ),
    }
    const waiting = { ...full, next_message: prompt('new') }
    expect(state.pushAssistantMessage(waiting, newResponse(null, '')).history.length).toBe(10_001)
    const fifo = state.pushAssistantMessage(waiting, newResponse(null, ''), null, 'fifo')
    expect([fifo.history.length, promptsOf(fifo)[0], promptsOf(fifo).at(-1)]).toEqual([10_000, '1', 'new'])
    expect(withInvariants(full, ENV).valid_history_range).toEqual([1, 10_000])
    expect(withInvariants(full, ENV, 'fifo').valid_history_range).toEqual([0, 10_000])
  })
})

describe('tangents', () => {
  const waiting = {
    ...conversationOf('m'),
    next_message: prompt('pending'),
    latest_summary: ['main', EMPTY_METADATA] as const,
  }

  test('end with the main conversation as it was', () => {
    const inside = continueWith(enterTangent(waiting, NOW), 't1', 't2')
    expect(promptsOf(inside)).toEqual(['m', 't1', 't2'])
    const after = exitTangent(inside)
    expect(after).toEqual({ ...waiting, valid_history_range: [0, 1] })
    loadsEverywhere(inside)
  })

  test('entered twice keep the first checkpoint; left when there is none change nothing', () => {
    const twice = enterTangent(continueWith(enterTangent(waiting, NOW), 't'), tangentTime(0n))
    expect(promptsOf(exitTangent(twice))).toEqual(['m'])
    expect(exitTangent(waiting)).toBe(waiting)
    expect(exitTangentWithTail(waiting)).toBe(waiting)
    expect(exitTangentWithSummary(waiting, 's', null, ENV)).toBe(waiting)
  })

  test('can leave their last entry, outside the range and the transcript', () => {
    const after = exitTangentWithTail(continueWith(enterTangent(conversationOf('m'), NOW), 't1', 't2'))
    expect(promptsOf(after)).toEqual(['m', 't2'])
    expect(after.valid_history_range).toEqual([0, 1])
    expect(after.transcript.toArray()).toEqual(['m!\n[Tool uses: none]'])
  })

  test('that were cleared leave an entry only if they got longer than the main conversation', () => {
    const cleared = state.clear(enterTangent(conversationOf('m1', 'm2'), NOW))
    expect(promptsOf(exitTangentWithTail(continueWith(cleared, 't1')))).toEqual(['m1', 'm2'])
    expect(promptsOf(exitTangentWithTail(continueWith(cleared, 't1', 't2', 't3')))).toEqual(['m1', 'm2', 't3'])
  })

  test('can leave a summary', () => {
    const after = exitTangentWithSummary(
      continueWith(enterTangent(conversationOf('m'), NOW, { name: 'detour' }), 't1'),
      'It led nowhere.',
      null,
      ENV,
    )
    expect(after.history.length).toBe(2)
    expect(after.history.at(-1)?.assistant).toEqual(newResponse(null, 'It led nowhere.'))
    expect(promptsOf(after)[1]).toContain('"detour"')
    expect(after.valid_history_range).toEqual([0, 2])
    loadsEverywhere(after)
  })

  test('have names and can be nested', () => {
    const outer = continueWith(enterTangent(conversationOf('m'), NOW, { name: 'outer' }), 'o')
    const inner = continueWith(
      enterTangent(outer, tangentTime(1_761_371_590_000_000_000n), { name: 'inner', nested: true }),
      'i',
    )
    expect(openTangents(inner).map(({ name }) => name)).toEqual(['outer', 'inner'])
    expect(tangentSeconds(inner, tangentTime(1_761_371_600_500_000_000n))).toBe(10)
    loadsEverywhere(inner)
    const back = exitTangent(inner)
    expect([promptsOf(back), openTangents(back).map(({ name }) => name)]).toEqual([['m', 'o'], ['outer']])
    const home = exitTangent(back)
    expect([promptsOf(home), home.tangent_state, home.fumibako]).toEqual([['m'], undefined, undefined])
    expect(promptsOf(exitTangent(exitTangentWithTail(inner)))).toEqual(['m'])
  })

  test('nested ones end at the main conversation for the original, which knows one level', () => {
    const inner = continueWith(
      enterTangent(continueWith(enterTangent(conversationOf('m'), NOW), 'o'), NOW, { nested: true }),
      'i',
    )
    const original = readState(writeState(inner), { mode: 'strict' })
    expect(original.ok && promptsOf(exitTangent(original.value))).toEqual(['m'])
  })
})

describe('rewinding', () => {
  test('keeps the abandoned entries as a branch', () => {
    const back = rewindTo(conversationOf('a', 'b', 'c'), 0, 'first try')
    expect(promptsOf(back)).toEqual(['a'])
    expect(back.valid_history_range).toEqual([0, 1])
    expect(stateBranches(back).map(({ name, after, entries }) => [name, after, entries.length])).toEqual([
      ['first try', 1, 2],
    ])
    expect(back.transcript.length).toBe(3)
    loadsEverywhere(back)
    const other = continueWith(back, 'd')
    loadsEverywhere(other)
    const again = switchToBranch(other, 0)
    expect(promptsOf(again)).toEqual(['a', 'b', 'c'])
    expect(stateBranches(again).map(({ entries }) => entries.length)).toEqual([1])
    expect(promptsOf(switchToBranch(again, 0))).toEqual(['a', 'd'])
  })

  test('to before the first, to the last, and beyond', () => {
    expect(promptsOf(rewindTo(conversationOf('a', 'b'), -1))).toEqual([])
    expect(stateBranches(rewindTo(conversationOf('a', 'b'), 1))).toEqual([])
    expect(promptsOf(rewindTo(conversationOf('a', 'b'), 9))).toEqual(['a', 'b'])
    expect(promptsOf(switchToBranch(conversationOf('a'), 3))).toEqual(['a'])
  })

  test('drops the last prompt with all its tools', () => {
    const loop = withExchange(
      withExchange(withExchange(conversationOf('a'), prompt('b'), toolUse('1')), toolResult('1', 'x'), toolUse('2')),
      toolResult('2', 'y'),
      newResponse(null, 'done'),
    )
    expect(loop.history.length).toBe(4)
    expect(promptsOf(dropLastExchange(loop))).toEqual(['a'])
    expect(dropLastExchange(conversationOf()).history.length).toBe(0)
    expect(dropLastExchange(dropLastExchange(conversationOf('a', 'b'))).history.length).toBe(0)
  })
})

/** Laws for any history. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  conversationPattern,
  conversationTurns,
  convertToDisplayMessages,
  getLatestMessage,
  type HistoryEntry,
  type HistoryInputMessage,
  type HistoryPair,
  type HistoryResponseMessage,
  type HistorySource,
  historyStatistics,
  isConversationTurnComplete,
  isHistoryEntry,
  matchToolUses,
  readHistory,
  summarizeHistory,
} from '../../../src/amazon-q.ts'
import { answers, asks, cancelled, objectOf, prompt, results, use } from './test-entries.ts'

const ids = fc.array(fc.constantFrom('a', 'b', 'c', 'bad'), { maxLength: 3 })
const input: fc.Arbitrary<HistoryInputMessage> = fc.oneof(
  fc.string().map(prompt),
  ids.map((all) => results(...all)),
  fc.tuple(fc.option(fc.string()), ids).map(([words, all]) => cancelled(words, ...all)),
)
const response: fc.Arbitrary<HistoryResponseMessage> = fc.oneof(
  fc.string().map(answers),
  fc.tuple(ids, fc.constantFrom('fs_read', 'dummy')).map(([all, name]) => asks(...all.map((id) => use(id, name)))),
)
const entry: fc.Arbitrary<HistoryPair> = fc.tuple(input, response)
const history = fc.array(entry, { maxLength: 12 })
const damaged = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: entry as fc.Arbitrary<unknown> },
    { weight: 1, arbitrary: fc.anything().filter((value) => !isHistoryEntry(value)) },
  ),
  { maxLength: 12 },
)

const FORMS: readonly ((pair: HistoryPair) => HistoryEntry)[] = [
  (pair) => pair,
  ([text, answered]) => [text, answered, null],
  objectOf,
]

/** The results of all functions. */
function everything(source: HistorySource): unknown {
  return [
    convertToDisplayMessages(source),
    getLatestMessage(source),
    conversationTurns(source),
    conversationPattern(source),
    matchToolUses(source),
    summarizeHistory(source),
    historyStatistics([source]),
    readHistory(source),
  ]
}

test('pairs, pairs with metadata, objects and a mixture give equal answers, bare or in a state', () => {
  fc.assert(
    fc.property(history, fc.infiniteStream(fc.nat(2)), (pairs, choices) => {
      const mixed = pairs.map((pair) => FORMS[choices.next().value ?? 0]?.(pair))
      const expected = everything(pairs)
      for (const form of FORMS) expect(everything(pairs.map(form))).toEqual(expected)
      expect(everything({ history: mixed })).toEqual(expected)
      expect(everything({ conversation_id: 'c', history: mixed, transcript: [] } as HistorySource)).toEqual(expected)
      expect(pairs.map(objectOf).map(isConversationTurnComplete)).toEqual(pairs.map(isConversationTurnComplete))
    }),
  )
})

test('turns contain every valid entry, once and in order', () => {
  fc.assert(
    fc.property(damaged, (source) => {
      const { steps, unreadable } = readHistory(source)
      const turns = conversationTurns(source)
      expect(turns.flatMap((turn) => turn.steps)).toEqual(steps)
      expect([...steps.map(({ index }) => index), ...unreadable].sort((a, b) => a - b)).toEqual([...source.keys()])
      for (const turn of turns) {
        expect([turn.firstEntry, turn.lastEntry]).toEqual([turn.steps[0]?.index, turn.steps.at(-1)?.index])
        expect(turn.steps.slice(1).filter(({ input: { content } }) => content.Prompt)).toEqual([])
        expect(turn.steps.slice(0, -1).filter((step) => step.response.Response)).toEqual([])
        expect(turn.status === 'complete').toBe(turn.response !== null)
        expect(turn.incomplete).toBe(turn.status !== 'complete')
      }
    }),
  )
})

test('every tool use appears once, every result once, and each result after its use', () => {
  fc.assert(
    fc.property(damaged, (source) => {
      const { steps } = readHistory(source)
      const { uses, orphans } = matchToolUses(source)
      expect(uses.map((one) => one.use)).toEqual(steps.flatMap((step) => step.response.ToolUse?.tool_uses ?? []))
      const given = steps.flatMap(
        ({ input: { content } }) => (content.ToolUseResults ?? content.CancelledToolUses)?.tool_use_results ?? [],
      )
      const answered = uses.filter(({ result }) => result !== null)
      expect(answered.length + orphans.length).toBe(given.length)
      expect(new Set([...answered, ...orphans].map(({ result }) => result))).toEqual(new Set(given))
      for (const { use: asked, entry: at, result, resultEntry, status } of uses) {
        expect(status === 'pending').toBe(result === null)
        if (result === null) continue
        expect(result.tool_use_id).toBe(asked.id)
        expect(resultEntry).toBeGreaterThan(at)
      }
      for (const { result, entry: at } of orphans)
        expect(
          uses.some(
            ({ use: asked, entry: from, resultEntry }) =>
              asked.id === result.tool_use_id && from < at && (resultEntry === null || resultEntry > at),
          ),
        ).toBe(false)
    }),
  )
})

test('shares add up to a hundred, and counts to all', () => {
  fc.assert(
    fc.property(fc.array(damaged, { maxLength: 15 }), (sources) => {
      const { conversations, empty, unreadable, patterns, incomplete, entries, turns, toolUses } =
        historyStatistics(sources)
      const shares = [patterns.simple, patterns.single, patterns.complex]
      const counted = shares.reduce((sum, { count }) => sum + count, 0)
      expect(counted + empty + unreadable).toBe(conversations)
      expect(shares.reduce((sum, { percent }) => sum + percent, 0)).toBe(counted === 0 ? 0 : 100)
      for (const { count, percent } of shares)
        expect(Math.abs(percent - (100 * count) / (counted || 1))).toBeLessThan(1)
      expect(incomplete.count).toBeLessThanOrEqual(counted)
      expect(entries.total).toBe(sources.reduce((sum, source) => sum + source.length, 0))
      expect(turns.complete + turns.incomplete + turns.cancelled).toBe(turns.total)
      expect(toolUses.byName.reduce((sum, { uses }) => sum + uses, 0)).toBe(toolUses.total)
    }),
  )
})

test('no input makes it throw', () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.array(fc.anything()), fc.record({ history: fc.anything() })), (source) => {
      everything(source as HistorySource)
      isConversationTurnComplete(source as never)
    }),
  )
})

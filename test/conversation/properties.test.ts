import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readAs, writeAs } from '../../src/conversation/codec/codec.ts'
import { historyEntry } from '../../src/conversation/codec/entry.ts'
import { readState, writeState } from '../../src/conversation/codec/state.ts'
import { Entries } from '../../src/conversation/entries.ts'
import type { AssistantMessage, ToolUseResult, UserMessage } from '../../src/conversation/message.ts'
import { truncateContent, truncateSafe, truncateSafeInPlace } from '../../src/conversation/message-text.ts'
import type { HistoryEntry } from '../../src/conversation/record.ts'
import { withInvariants } from '../../src/conversation/request.ts'
import { type ConversationState, newState } from '../../src/conversation/state.ts'
import { enterTangent, exitTangent } from '../../src/conversation/tangent.ts'
import { JsonNumber, type JsonValue } from '../../src/lib/json/lossless.ts'
import { byteLength } from '../../src/model/token-estimate.ts'
import { continueWith, ENV, NOW } from './test-states.ts'

const text = fc.string({ unit: 'binary' })
const number = fc.constantFrom<JsonValue>(
  0,
  -7,
  1.5,
  new JsonNumber('1.0'),
  new JsonNumber('1e100'),
  new JsonNumber('18446744073709551615'),
)
const { json } = fc.letrec<{ json: JsonValue; list: JsonValue; object: JsonValue }>((tie) => ({
  json: fc.oneof({ depthSize: 'small' }, text, number, fc.boolean(), fc.constant(null), tie('list'), tie('object')),
  list: fc.array(tie('json'), { maxLength: 3 }),
  object: fc.dictionary(
    fc.string({ minLength: 1 }).filter((key) => !/^\d|^__proto__$/.test(key)),
    tie('json'),
    { maxKeys: 3, noNullPrototype: true },
  ),
}))
const result: fc.Arbitrary<ToolUseResult> = fc.record({
  tool_use_id: text,
  content: fc.array(
    fc.oneof(
      text.map((Text) => ({ Text })),
      json.map((Json) => ({ Json })),
    ),
    { maxLength: 3 },
  ),
  status: fc.constantFrom('Success', 'Error'),
})
const results = fc.array(result, { maxLength: 3 })
const user: fc.Arbitrary<UserMessage> = fc.record({
  additional_context: text,
  env_context: fc.constantFrom(ENV, {
    env_state: { operating_system: 'linux', current_working_directory: '/', environment_variables: [] },
  }),
  content: fc.oneof(
    text.map((prompt) => ({ Prompt: { prompt } })),
    fc
      .record({ prompt: fc.option(text), tool_use_results: results })
      .map((CancelledToolUses) => ({ CancelledToolUses })),
    results.map((tool_use_results) => ({ ToolUseResults: { tool_use_results } })),
  ),
  timestamp: fc.constantFrom(null, '2025-10-25T14:53:00.123456+09:00', '2016-12-31T23:59:60Z'),
  images: fc.constantFrom(null, [], [
    { format: 'Png', source: { Bytes: [0, 255] } },
    { format: 'Gif', source: 'Unknown' },
  ] as const),
})
const use = fc.record({
  id: text,
  name: fc.constantFrom('look', 'ook', ''),
  orig_name: fc.constantFrom('look', 'x'),
  args: json,
  orig_args: json,
})
const assistant: fc.Arbitrary<AssistantMessage> = fc.oneof(
  fc.record({ message_id: fc.option(text), content: text }).map((Response) => ({ Response })),
  fc
    .record({ message_id: fc.option(text), content: text, tool_uses: fc.array(use, { maxLength: 2 }) })
    .map((ToolUse) => ({ ToolUse })),
)
const entry: fc.Arbitrary<HistoryEntry> = fc.record({ user, assistant, request_metadata: fc.constant(null) })
const tools = new Map([
  ['native___', [{ ToolSpecification: { name: 'look', description: '', input_schema: { json: null } } }]],
])
const state: fc.Arbitrary<ConversationState> = fc
  .record({ history: fc.array(entry, { maxLength: 4 }), next: fc.option(user) })
  .map(({ history, next }) => ({ ...newState('c', { tools }), history: Entries.over(history), next_message: next }))

test('states round-trip with identical bytes in both modes and both styles', () => {
  fc.assert(
    fc.property(
      state,
      fc.constantFrom('strict', 'tolerant'),
      fc.constantFrom('compact', 'pretty'),
      (given, mode, style) => {
        const written = writeState(given, { style })
        const back = readState(written, { mode })
        if (!back.ok) throw new Error(back.reason)
        expect(back.repairs).toEqual([])
        expect(writeState(back.value, { style })).toBe(written)
        expect(writeState(back.value)).toBe(writeState(given))
      },
    ),
  )
})

test('a history of tuples is the history of objects', () => {
  fc.assert(
    fc.property(entry, fc.constantFrom('strict', 'tolerant'), (given, mode) => {
      const object = writeAs(historyEntry, given)
      const { user: texts, assistant: answered } = JSON.parse(object)
      const tuple = readAs(historyEntry, JSON.stringify([texts, answered]), { mode })
      const plain = readAs(historyEntry, JSON.stringify({ user: texts, assistant: answered }), { mode })
      expect(tuple.ok && writeAs(historyEntry, tuple.value)).toBe(plain.ok && writeAs(historyEntry, plain.value))
    }),
  )
})

test('cutting never splits a character, never exceeds the budget, and takes as much as fits', () => {
  fc.assert(
    fc.property(text, fc.nat(60), (given, max) => {
      const cut = truncateSafe(given, max)
      expect(given.startsWith(cut)).toBe(true)
      expect(cut).not.toMatch(/\p{Surrogate}/u)
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(max)
      const rest = [...given.slice(cut.length)][0]
      if (rest !== undefined) expect(Buffer.byteLength(cut + rest)).toBeGreaterThan(max)
      const marked = truncateSafeInPlace(given.repeat(3), max + 34)
      expect(byteLength(marked)).toBeLessThanOrEqual(Math.max(max + 34, 0))
      expect(marked).not.toMatch(/\p{Surrogate}/u)
      expect(byteLength(given)).toBe(Buffer.byteLength(given))
    }),
  )
})

test('cutting a message keeps its kind and its results, and does nothing twice', () => {
  fc.assert(
    fc.property(user, fc.nat(300), ({ content }, max) => {
      const cut = truncateContent(content, max)
      expect(Object.keys(cut)).toEqual(Object.keys(content))
      if ('Prompt' in cut) expect(truncateContent(cut, max)).toEqual(cut)
    }),
  )
})

test('enforcing invariants twice changes nothing', () => {
  fc.assert(
    fc.property(state, (given) => {
      const once = withInvariants(given, ENV)
      expect(writeState(withInvariants(once, ENV))).toBe(writeState(once))
    }),
  )
})

test('a tangent leaves the main conversation as it was', () => {
  fc.assert(
    fc.property(state, fc.array(text, { maxLength: 3 }), fc.boolean(), (given, unsearchable, nested) => {
      const inside = continueWith(enterTangent(given, NOW), ...unsearchable)
      const deeper = nested ? exitTangent(continueWith(enterTangent(inside, NOW, { nested, name: 'n' }), 'x')) : inside
      expect(writeState({ ...exitTangent(deeper), valid_history_range: given.valid_history_range })).toBe(
        writeState(given),
      )
    }),
  )
})

test('a shared list behaves like an array, and older lists do not see what is added to newer ones', () => {
  const step = fc.oneof(
    fc.nat().map((item) => ({ add: item })),
    fc.tuple(fc.integer({ min: -5, max: 9 }), fc.integer({ min: -5, max: 9 })).map((cut) => ({ cut })),
    fc.nat(9).map((back) => ({ back })),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const created: { readonly list: Entries<number>; readonly array: readonly number[] }[] = [
        { list: Entries.of<number>(), array: [] },
      ]
      let current = created[0]
      for (const one of steps) {
        if (!current) return
        if ('add' in one) current = { list: current.list.append(one.add), array: [...current.array, one.add] }
        else if ('cut' in one)
          current = { list: current.list.slice(...one.cut), array: current.array.slice(...one.cut) }
        else current = created[one.back % created.length]
        if (current) created.push(current)
      }
      for (const { list, array } of created) {
        expect([...list]).toEqual(array)
        expect([list.length, list.at(0), list.at(-1)]).toEqual([array.length, array[0], array.at(-1)])
      }
    }),
  )
})

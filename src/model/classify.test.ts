/** Laws of `classify` for any message, with and without the facts of its session. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { classify } from './classify.ts'
import { type Metadata, MISSING_MARK } from './metadata.ts'
import type { NormalizedMessage, Role, SourceType } from './normalized.ts'
import { NO_SESSION_FACTS, SessionFactsCollector } from './session-facts.ts'

const ROLES = ['user', 'assistant', 'tool', 'system', 'meta'] as const satisfies readonly Role[]
const SOURCE_TYPES = [
  'message',
  'tool_call',
  'tool_result',
  'meta',
  'session',
  'legacy',
] as const satisfies SourceType[]
const EVENTS = ['user_message', 'agent_message', 'agent_reasoning', 'compacted', 'token_count'] as const

const mark = fc.constant(true as const)
const arbitraryMetadata: fc.Arbitrary<Metadata> = fc.record(
  {
    injected: mark,
    replayed: mark,
    duplicate_of: fc.constant('x#1'),
    enriches: fc.constant('c'),
    main: mark,
    aside: mark,
    synthetic: fc.constant(MISSING_MARK),
    kind: fc.constantFrom('summary', 'compaction', 'other'),
    event_kind: fc.constantFrom(...EVENTS),
    reasoning_text: fc.constant('thought'),
  },
  { requiredKeys: [] },
)

const arbitraryMessage: fc.Arbitrary<NormalizedMessage> = fc.record({
  id: fc.nat(20).map((line) => `2026-01-02T03:04:05.000Z#${line}`),
  timestamp: fc.constant('2026-01-02T03:04:05.000Z'),
  role: fc.constantFrom(...ROLES),
  source_type: fc.constantFrom(...SOURCE_TYPES),
  segments: fc.constant([]),
  raw: fc.constant({ event_type: null, payload_type: null, file_path: 'x', line_index: 1, session_id: 's' }),
  metadata: arbitraryMetadata,
})

const FACTS = [NO_SESSION_FACTS, { ...NO_SESSION_FACTS, eventsOnly: true }]
const check = (law: (message: NormalizedMessage, facts: (typeof FACTS)[number]) => void): void =>
  fc.assert(fc.property(arbitraryMessage, fc.constantFrom(...FACTS), law))

describe('classify', () => {
  test('shows, counts and searches neither repeats nor copies from a parent session', () =>
    check((message, facts) => {
      const { isRepeat, isReplayed, isShown, isCounted, isSearched } = classify(message, facts)
      if (isRepeat || isReplayed) expect([isShown, isCounted, isSearched]).toEqual([false, false, false])
    }))

  test('counts only what is shown', () =>
    check((message, facts) => {
      const { isCounted, isShown } = classify(message, facts)
      if (isCounted) expect(isShown).toBe(true)
    }))

  test('treats only prompts of a person as typed', () =>
    check((message, facts) => {
      const { isTyped, speaker, kind } = classify(message, facts)
      if (isTyped) expect([speaker, kind]).toEqual(['person', 'prompt'])
    }))

  test('converts no message that repeats another one', () =>
    check((message, facts) => {
      const { isRepeat, converted } = classify(message, facts)
      if (isRepeat && message.role !== 'meta') expect(converted).toBe('none')
    }))

  test('converts nothing outside the conversation', () =>
    check((message, facts) => {
      const { metadata } = message
      if (metadata?.main || metadata?.aside || metadata?.synthetic)
        expect(classify(message, facts).converted).toBe('none')
    }))

  test('converts every shown prompt and answer, even if only events are left', () =>
    check((message, facts) => {
      const { kind, isShown, converted } = classify(message, facts)
      const { main, aside, synthetic } = message.metadata ?? {}
      if (!isShown || main || aside || synthetic) return
      if (kind === 'prompt') expect(converted).toBe('prompt')
      if (kind === 'answer') expect(converted).toBe('words')
    }))
})

test('a session with tool calls, but no prompt or answer besides events, consists of events only', () => {
  fc.assert(
    fc.property(fc.array(arbitraryMessage), (messages) => {
      const collector = new SessionFactsCollector()
      for (const message of messages) collector.add(message)
      const hasWords = messages.some(({ role }) => role === 'user' || role === 'assistant')
      expect(collector.facts().eventsOnly).toBe(!hasWords)
    }),
  )
})

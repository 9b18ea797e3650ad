import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Instant, SessionId } from '../model/ids.ts'
import { type LoggedPrompt, linkPrompts, type TypedList, type TypedPrompt } from './link-prompts.ts'

const at = (second: number): Instant => new Date(Date.UTC(2026, 1, 3, 9, 0, second)).toISOString() as Instant

const loggedPrompt = (session: string, second: number, text: string, agent = 'q'): LoggedPrompt => ({
  agent,
  session: `${agent}:${session}` as SessionId,
  message_id: `${second}`,
  cwd: '/w',
  text,
  at: at(second),
})

const typedList = (prompts: readonly (string | Partial<TypedPrompt>)[], agent = 'q'): TypedList => ({
  agent,
  prompts: prompts.map((one) => ({
    at: null,
    of: undefined,
    text: '',
    ...(typeof one === 'string' ? { text: one } : one),
  })),
})

const brief = (all: ReturnType<typeof linkPrompts>) =>
  all.map(({ text, session, typed, at: time }) => [text, session, typed, time !== null])

describe('prompts in the typed history and in a session', () => {
  test('appear once, newest first; prompts without a session appear between their neighbours', () => {
    const all = linkPrompts(
      [loggedPrompt('one', 10, 'hello'), loggedPrompt('two', 20, 'again'), loggedPrompt('two', 30, 'unlisted')],
      [typedList(['/help', 'hello\r\n', '/save', 'again', '/quit'])],
    )
    expect(brief(all)).toEqual([
      ['unlisted', 'q:two', false, true],
      ['/quit', null, true, false],
      ['again', 'q:two', true, true],
      ['/save', null, true, false],
      ['hello', 'q:one', true, true],
      ['/help', null, true, false],
    ])
  })

  test('belong to the session that the list names, even if its log is gone', () => {
    const all = linkPrompts(
      [loggedPrompt('one', 10, 'go on'), loggedPrompt('two', 20, 'go on')],
      [
        typedList([
          { text: 'go on', of: 'one', at: at(9) },
          { text: 'lost', of: 'three', at: at(40) },
        ]),
      ],
    )
    expect(brief(all)).toEqual([
      ['lost', 'q:three', true, true],
      ['go on', 'q:two', false, true],
      ['go on', 'q:one', true, true],
    ])
  })

  test('of different agents are not merged', () => {
    expect(linkPrompts([loggedPrompt('one', 10, 'hello', 'codex')], [typedList(['hello'])])).toHaveLength(2)
  })

  test('are neither lost nor doubled', () => {
    const words = fc.constantFrom('a', 'b', 'c', 'yes')
    const loggedPrompts = fc.array(fc.tuple(fc.constantFrom('one', 'two'), fc.nat(50), words))
    const typed = fc.array(fc.record({ text: words, of: fc.constantFrom(undefined, 'one', 'two') }))
    fc.assert(
      fc.property(loggedPrompts, typed, (conversations, prompts) => {
        const all = linkPrompts(
          conversations.map(([session, second, text]) => loggedPrompt(session, second, text)),
          [typedList(prompts)],
        )
        const linked = all.filter((one) => one.typed && one.message_id !== null).length
        expect(all).toHaveLength(conversations.length + prompts.length - linked)
        expect(all.filter((one) => one.message_id !== null)).toHaveLength(conversations.length)
        expect(all.filter((one) => one.typed)).toHaveLength(prompts.length)
        const times = all.flatMap((one) => one.at ?? [])
        expect(times).toEqual(times.toSorted().reverse())
        for (const text of ['a', 'b', 'c', 'yes']) {
          const unmatched = all.filter((one) => one.text === text && one.message_id === null && one.session === null)
          const free = all.filter((one) => one.text === text && !one.typed)
          expect(Math.min(unmatched.length, free.length)).toBe(0)
        }
      }),
    )
  })
})

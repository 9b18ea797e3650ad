import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Instant, SessionId } from '../../model/ids.ts'
import { linkPrompts, type Said, type Typed, type TypedList } from './link.ts'

const at = (second: number): Instant => new Date(Date.UTC(2026, 1, 3, 9, 0, second)).toISOString() as Instant

const said = (session: string, second: number, text: string, agent = 'q'): Said => ({
  agent,
  session: `${agent}:${session}` as SessionId,
  message_id: `${second}`,
  cwd: '/w',
  text,
  at: at(second),
  at_inferred: false,
})

const list = (prompts: readonly (string | Partial<Typed>)[], agent = 'q'): TypedList => ({
  agent,
  at: at(1000),
  prompts: prompts.map((one) => ({
    at: undefined,
    of: undefined,
    text: '',
    ...(typeof one === 'string' ? { text: one } : one),
  })),
})

const brief = (all: ReturnType<typeof linkPrompts>) =>
  all.map(({ text, session, typed, at_inferred }) => [text, session, typed, at_inferred])

describe('prompts that were typed and said', () => {
  test('come once, the newest first, and what is typed alone stands among its neighbours', () => {
    const all = linkPrompts(
      [said('one', 10, 'hello'), said('two', 20, 'again'), said('two', 30, 'unlisted')],
      [list(['/help', 'hello\r\n', '/save', 'again', '/quit'])],
    )
    expect(brief(all)).toEqual([
      ['/quit', null, true, true],
      ['unlisted', 'q:two', false, false],
      ['again', 'q:two', true, false],
      ['/save', null, true, true],
      ['hello', 'q:one', true, false],
      ['/help', null, true, true],
    ])
  })

  test('belong to the session that the list names, also when its conversation is gone', () => {
    const all = linkPrompts(
      [said('one', 10, 'go on'), said('two', 20, 'go on')],
      [
        list([
          { text: 'go on', of: 'one', at: at(9) },
          { text: 'lost', of: 'three', at: at(40) },
        ]),
      ],
    )
    expect(brief(all)).toEqual([
      ['lost', 'q:three', true, false],
      ['go on', 'q:two', false, false],
      ['go on', 'q:one', true, false],
    ])
  })

  test('of another agent are others', () => {
    expect(linkPrompts([said('one', 10, 'hello', 'codex')], [list(['hello'])])).toHaveLength(2)
  })

  test('are neither lost nor doubled', () => {
    const words = fc.constantFrom('a', 'b', 'c', 'yes')
    const spoken = fc.array(fc.tuple(fc.constantFrom('one', 'two'), fc.nat(50), words))
    const typed = fc.array(fc.record({ text: words, of: fc.constantFrom(undefined, 'one', 'two') }))
    fc.assert(
      fc.property(spoken, typed, (conversations, prompts) => {
        const all = linkPrompts(
          conversations.map(([session, second, text]) => said(session, second, text)),
          [list(prompts)],
        )
        const linked = all.filter((one) => one.typed && one.message_id !== null).length
        expect(all).toHaveLength(conversations.length + prompts.length - linked)
        expect(all.filter((one) => one.message_id !== null)).toHaveLength(conversations.length)
        expect(all.filter((one) => one.typed)).toHaveLength(prompts.length)
        expect(all.map((one) => one.at)).toEqual(
          all
            .map((one) => one.at)
            .sort()
            .reverse(),
        )
        for (const text of ['a', 'b', 'c', 'yes']) {
          const left = all.filter((one) => one.text === text && one.message_id === null && one.session === null)
          const free = all.filter((one) => one.text === text && !one.typed)
          expect(Math.min(left.length, free.length)).toBe(0)
        }
      }),
    )
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SearchHit } from '../../model/api/search.ts'
import type { SessionItem } from '../../model/api/session.ts'
import { dateFacet, facetsOf, periodOf, snippetParts, splitByVoice } from './search-results.ts'

const hit = (more: Partial<SearchHit>): SearchHit => ({
  id: 'codex:1:1',
  session_id: 'codex:1',
  message_id: '1',
  timestamp: null,
  role: 'assistant',
  source_type: 'message',
  tool: null,
  scope: 'answer',
  keys_only: false,
  unverified: false,
  snippet: '',
  highlights: [],
  cut_before: false,
  cut_after: false,
  ...more,
})
const marked = (snippet: string, word: string): string => {
  const start = snippet.indexOf(word)
  return snippetParts(hit({ snippet, highlights: [{ start, end: start + word.length }] }))
    .map(({ text, isHit }) => (isHit ? `[${text}]` : text))
    .join('')
}

describe('a snippet', () => {
  test('has no Markdown marks, and keeps its matches', () => {
    expect(marked('## Why\n**Water** boils, see [the `table`](docs/table.md)', 'boils')).toBe(
      'Why\nWater [boils], see the table',
    )
    expect(marked('run `npm test` again', 'npm')).toBe('run [npm] test again')
    expect(marked('> quoted **kettle**', 'kettle')).toBe('quoted [kettle]')
  })

  test('keeps marks that belong to a match', () => {
    expect(marked('a **bold** word', '**bold**')).toBe('a [**bold**] word')
  })

  test('always shows each match completely, whatever is around it', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab*_`[]()#> \n') })
    fc.assert(
      fc.property(text, fc.string({ unit: fc.constantFrom(...'xyz'), minLength: 1 }), text, (before, word, after) => {
        const start = before.length
        const parts = snippetParts(
          hit({ snippet: before + word + after, highlights: [{ start, end: start + word.length }] }),
        )
        expect(parts.filter(({ isHit }) => isHit).map(({ text }) => text)).toEqual([word])
      }),
    )
  })
})

test('words come apart from tool output, both in the order of the conversation', () => {
  const at = (minute: number, scope: string) => hit({ scope, timestamp: `2026-02-03T09:0${minute}:00.000Z` })
  const { words, machine } = splitByVoice([at(5, 'answer'), at(4, 'output'), at(3, 'arguments'), at(1, 'prompt')])
  expect(words.map(({ scope }) => scope)).toEqual(['prompt', 'answer'])
  expect(machine.map(({ scope }) => scope)).toEqual(['arguments', 'output'])
  const keys = { ...at(2, 'arguments'), keys_only: true }
  expect(splitByVoice([at(4, 'output'), keys]).machine.map(({ scope }) => scope)).toEqual(['output', 'arguments'])
})

test('facets count hits, most first, and leave out what has one value', () => {
  const session = (agent: string, cwd: string | null): SessionItem => ({ agent, cwd }) as SessionItem
  const found = [
    {
      session: session('codex', '/a'),
      isTitle: false,
      hits: [hit({ tool: 'shell' }), hit({ role: 'tool', tool: 'shell' })],
    },
    { session: session('amazon-q', null), isTitle: false, hits: [hit({})] },
    { session: session('kiro', '/b'), isTitle: true, hits: [] },
  ]
  expect(facetsOf(found.slice(0, 1), { agent: 'codex' })).toContainEqual({
    filter: 'agent',
    values: [{ value: 'codex', count: 2 }],
  })
  expect(facetsOf(found)).toEqual([
    {
      filter: 'agent',
      values: [
        { value: 'codex', count: 2 },
        { value: 'amazon-q', count: 1 },
      ],
    },
    {
      filter: 'role',
      values: [
        { value: 'assistant', count: 2 },
        { value: 'tool', count: 1 },
      ],
    },
  ])
})

describe('dates of hits', () => {
  const on = (days: readonly string[], last_at: string | null = null) => [
    {
      session: { last_at } as SessionItem,
      isTitle: false,
      hits: days.map((day) => hit({ timestamp: day === '' ? null : `${day}T12:00:00.000Z` })),
    },
  ]
  const texts = (found: ReturnType<typeof on>, chosen = {}) =>
    dateFacet(found, chosen).map(({ value, count }) => `${value} ${count}`)

  test('are days while there are few, else months, else years, newest first', () => {
    expect(texts(on(['2026-02-03', '2026-02-05', '2026-02-03']))).toEqual(['2026-02-05 1', '2026-02-03 2'])
    const days = Array.from({ length: 20 }, (_, at) => `2026-0${1 + (at % 2)}-${String(at + 1).padStart(2, '0')}`)
    expect(texts(on(days))).toEqual(['2026-02 10', '2026-01 10'])
    const months = Array.from(
      { length: 24 },
      (_, at) => `${2024 + (at % 2)}-${String(1 + (at % 12)).padStart(2, '0')}-01`,
    )
    expect(texts(on(months))).toEqual(['2025 12', '2024 12'])
  })

  test('use the last day of the session for hits without a time, and leave out what has no date', () => {
    expect(texts(on(['', '2026-02-03'], '2026-02-07T12:00:00.000Z'))).toEqual(['2026-02-07 1', '2026-02-03 1'])
    expect(texts(on(['', '2026-02-03']))).toEqual([])
  })

  test('keep a chosen period, so that it can be taken back', () => {
    expect(texts(on(['2026-02-03']), periodOf('2026-02'))).toEqual(['2026-02 1', '2026-02-03 1'])
    expect(periodOf('2024-02')).toEqual({ since: '2024-02-01', until: '2024-02-29' })
    expect(periodOf('2026')).toEqual({ since: '2026-01-01', until: '2026-12-31' })
  })
})

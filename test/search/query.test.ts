/** The query language: what input means, and which errors it gives. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchesQuery } from '../../src/search/matching.ts'
import { parseQuery } from '../../src/search/query/parse-query.ts'
import type { QueryFilter, QueryNode } from '../../src/search/query/query.ts'
import { queryOf, Table } from './full-text-table.ts'

/** In one line: words unchanged, phrases in quotation marks, groups in parentheses. */
function texts(input: string): string {
  const { must, mustNot, patterns, filters, scopes } = queryOf(input, NOW)
  return [
    ...(must ? [node(must)] : []),
    ...mustNot.map((one) => `not ${node(one)}`),
    ...patterns.map(({ expression, not }) => `${not ? 'not ' : ''}${expression}`),
    ...filters.map(filter),
    ...(scopes ? [`in ${scopes.join(' ')}`] : []),
  ].join(', ')
}

function node(one: QueryNode): string {
  if (one.kind === 'term') return `${one.exact ? JSON.stringify(one.text) : one.text}${one.prefix ? '*' : ''}`
  const all = one.of.map(node).join(one.kind === 'all' ? ' and ' : ' or ')
  return one.kind === 'all' && one.not.length > 0 ? `(${all} but not ${one.not.map(node).join(', ')})` : `(${all})`
}

function filter(one: QueryFilter): string {
  const value =
    one.kind === 'time'
      ? `${one.from ?? ''}/${one.until ?? ''}`
      : one.kind === 'on'
        ? one.values.map(({ from, until }) => `${from}/${until}`).join('|')
        : one.kind === 'is'
          ? one.what
          : one.kind === 'sessions'
            ? one.ids.join('|')
            : one.values.join('|')
  return `${one.not ? 'not ' : ''}${one.kind}=${value}`
}

const NOW = new Date(2026, 10, 15, 12, 30)

test.each<[string, string]>([
  ['hello', 'hello'],
  ['  one   two ', '(one and two)'],
  ['one AND two', '(one and two)'],
  ['one OR two three', '((one or two) and three)'],
  ['one | two', '(one or two)'],
  ['one OR two OR "three four"', '(one or two or "three four")'],
  ['(one two) OR three', '((one and two) or three)'],
  ['one (two OR (three -four))', '(one and (two or (three but not four)))'],
  ['one -two -"three four" -(five six)', 'one, not two, not "three four", not (five and six)'],
  ['-two agent:codex', 'not two, agent=codex'],
  ['is:starred -tag:"at work" tag:a tag:b', 'is=starred, not tag=at work, tag=a|b'],
  ['foo* "bar ba"*', '(foo* and "bar ba"*)'],
  ['--force', '--force'],
  ['call(x) and (call(y) z)', '(call(x) and and and (call(y) and z))'],
  ['a => b', '(a and b)'],
  ['or and not', '(or and and and not)'],
  ['"OR"', '"OR"'],
  ['http://x.y std::vector foo:bar', '(http://x.y and std::vector and foo:bar)'],
  ['/usr/bin', '/usr/bin'],
  ['東京　大阪', '(東京 and 大阪)'],
  ['東京　ＯＲ　大阪', '(東京 or 大阪)'],
  ['＂東京 都＂　－大阪', '"東京 都", not 大阪'],
  ['「東京 都」 『大 阪』 “a b” ｢c d｣', '("東京 都" and "大 阪" and "a b" and "c d")'],
  ['（東京 ｜ 大阪） 京都＊', '((東京 or 大阪) and 京都*)'],
  ['ａｇｅｎｔ：ｃｏｄｅｘ ｘ', 'x, agent=codex'],
])('%s', (input, expected) => {
  expect(texts(input)).toBe(expected)
})

test('examples of docs/search.md are valid queries', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'search.md'), 'utf8')
  const examples = [...page.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell]) => [
    ...(cell ?? '').matchAll(/`([^`]+)`/g),
  ])
  const typed = examples.map(([, example]) => example ?? '').filter((example) => example !== '')
  expect(typed.length).toBeGreaterThan(25)
  expect(typed.filter((example) => parseQuery(example).kind === 'problem')).toEqual([])
})

describe('filters', () => {
  test.each<[string, string]>([
    ['agent:codex project:fumibako model:gpt-5 tool:shell', 'agent=codex, project=fumibako, model=gpt-5, tool=shell'],
    ['session:codex:0199 file:src/app.ts', 'session=codex:0199, file=src/app.ts'],
    ['AGENT:codex', 'agent=codex'],
    ['project:"my app" project：「東京 都」', 'project=my app|東京 都'],
    ['agent:a agent:b -agent:c -agent:d', 'agent=a|b, not agent=c|d'],
    ['agent:a OR agent:b', 'agent=a|b'],
    ['role:user role:Assistant', 'role=user|assistant'],
    ['has:error has:image -has:images', 'has=error|image, not has=image'],
    ['x in:title', 'x, in title'],
    ['x scope:prompts scope:answer', 'x, in prompt answer'],
    ['x -scope:output', 'x, in prompt answer arguments reasoning file title'],
    ['on:2026-11-15', 'on=2026-11-15T00:00:00.000Z/2026-11-16T00:00:00.000Z'],
    ['on:2026-11', 'on=2026-11-01T00:00:00.000Z/2026-12-01T00:00:00.000Z'],
    ['on:2026', 'on=2026-01-01T00:00:00.000Z/2027-01-01T00:00:00.000Z'],
    [
      'on:2026 OR on:2024',
      'on=2026-01-01T00:00:00.000Z/2027-01-01T00:00:00.000Z|2024-01-01T00:00:00.000Z/2025-01-01T00:00:00.000Z',
    ],
    ['on:2026/2/3', 'on=2026-02-03T00:00:00.000Z/2026-02-04T00:00:00.000Z'],
    ['after:2026-11-15 before:2026-12', 'time=2026-11-15T00:00:00.000Z/, time=/2026-12-01T00:00:00.000Z'],
    ['after:2026-11-15T09:30', 'time=2026-11-15T09:30:00.000Z/'],
    ['after:2026-11-15T09:30:00+09:00', 'time=2026-11-15T00:30:00.000Z/'],
    ['after:"2026-11-15 09:30"', 'time=2026-11-15T09:30:00.000Z/'],
    ['on:today', 'on=2026-11-15T00:00:00.000Z/2026-11-16T00:00:00.000Z'],
    ['on:yesterday', 'on=2026-11-14T00:00:00.000Z/2026-11-15T00:00:00.000Z'],
    [
      'after:7d after:2w after:12h',
      'time=2026-11-08T00:00:00.000Z/, time=2026-11-01T00:00:00.000Z/, time=2026-11-15T00:30:00.000Z/',
    ],
    ['after:1m after:1y', 'time=2026-10-15T00:00:00.000Z/, time=2025-11-15T00:00:00.000Z/'],
    ['-on:2026-11-15', 'not on=2026-11-15T00:00:00.000Z/2026-11-16T00:00:00.000Z'],
  ])('%s', (input, expected) => {
    expect(texts(input)).toBe(expected)
  })

  test('a month ago is never longer ago than its last day', () => {
    const { filters } = queryOf('after:1m', new Date(2026, 2, 31))
    expect(filters).toEqual([{ kind: 'time', from: '2026-02-28T00:00:00.000Z', not: false }])
  })
})

describe('patterns', () => {
  test.each<[string, string]>([
    ['/foo.*bar/', '/foo.*bar/u'],
    ['/foo bar/i baz', 'baz, /foo bar/iu'],
    ['-/secret/', 'not /secret/u'],
    ['/a\\/b/', '/a\\/b/u'],
    ['/src/lib/i', '/src\\/lib/iu'],
    ['/\\-/', '/\\-/'],
    ['/東京：/', '/東京：/u'],
    ['(a b) /x/', '(a and b), /x/u'],
  ])('%s', (input, expected) => {
    expect(texts(input)).toBe(expected)
  })
})

describe('invalid queries', () => {
  test.each<[input: string, at: string, what: RegExp]>([
    ['', '', /nothing/],
    ['  ', '  ', /nothing/],
    ['=> + !', '=> + !', /nothing/],
    ['in:title', 'in:title', /nothing/],
    ['foo "bar', '"bar', /not closed/],
    ['foo 「bar', '「bar', /not closed/],
    ['foo (bar', '(', /not closed/],
    ['get*Name', 'get*Name', /star/],
    ['agent: codex', 'agent:', /agent:/],
    ['x on:2026-02-30', 'on:2026-02-30', /not a date/],
    ['x on:soon', 'on:soon', /not a date/],
    ['role:king', 'role:king', /not a role/],
    ['has:money', 'has:money', /money/],
    ['in:space x', 'in:space', /not a scope/],
    ['OR foo', 'OR', /OR/],
    ['foo OR', 'OR', /OR/],
    ['foo OR OR bar', 'OR', /OR/],
    ['foo OR -bar', 'foo OR -bar', /joined by OR/],
    ['foo OR agent:codex', 'foo OR agent:codex', /joined by OR/],
    ['agent:a OR model:b', 'agent:a OR model:b', /joined by OR/],
    ['foo (bar agent:codex)', 'agent:codex', /whole query/],
    ['foo (-bar)', '(', /excludes/],
    ['/(/', '/(/', /regular expression/],
    [`${'('.repeat(30)}x${')'.repeat(30)}`, '(', /deeply/],
    ['a '.repeat(300), 'a', /too many/],
    ['a'.repeat(5000), 'a'.repeat(5000), /too long/],
  ])('%s', (input, at, what) => {
    const problem = parseQuery(input, NOW)
    if (problem.kind !== 'problem') throw new Error(`${input} is a query`)
    expect(problem.what).toMatch(what)
    expect(problem.advice).not.toBe('')
    expect(input.slice(problem.start, problem.end)).toBe(at)
  })
})

test('any input is a query that FTS5 accepts, or an error with its position', () => {
  const sign = fc.constantFrom(
    '"',
    '(',
    ')',
    '-',
    '*',
    '/',
    ' OR ',
    ' AND ',
    ' NOT ',
    'NEAR(',
    'agent:',
    'on:',
    'in:',
    '^',
    '{',
    '}',
    ':',
    '+',
    "'",
    '「',
    '」',
    '\\',
    '|',
    '　',
    '\0',
  )
  const word = fc.constantFrom('a', 'fooBar', '東京', '2026', 'title', '🚀', '\ud83d')
  const input = fc.array(fc.oneof(sign, word, fc.constant(' '), fc.string({ unit: 'binary', maxLength: 3 })), {
    maxLength: 12,
  })
  const table = new Table()
  table.put(1, { prompt: 'a fooBar 東京', answer: '2026 title 🚀' })
  fc.assert(
    fc.property(input, (pieces) => {
      const typed = pieces.join('')
      const query = parseQuery(typed, NOW)
      if (query.kind === 'query') table.find(query)
      else expect(0 <= query.start && query.start <= query.end && query.end <= typed.length).toBe(true)
    }),
    { numRuns: 2500 },
  )
})

test('the index answers the largest queries too', () => {
  const table = new Table()
  table.put(1, { prompt: Array.from({ length: 200 }, (_, at) => `w${at}`).join(' ') })
  const many = Array.from({ length: 200 }, (_, at) => `w${at}`)
  expect(table.find(queryOf(many.join(' ')))).toEqual([1])
  expect(table.find(queryOf(many.join(' OR ')))).toEqual([1])
  expect(
    table.find(
      queryOf(
        `w1 ${many
          .slice(1)
          .map((word) => `-${word}x`)
          .join(' ')}`,
      ),
    ),
  ).toEqual([1])
  table.put(2, { prompt: 'あ'.repeat(3000) })
  expect(table.find(queryOf('あ'.repeat(2000)))).toEqual([2])
  const nested = (depth: number): string => (depth === 0 ? 'w0' : `w${depth} -no (no OR (${nested(depth - 1)}))`)
  expect(table.find(queryOf(`${nested(10)} in:prompt`))).toEqual([1])
  const chained = (depth: number): string => (depth === 0 ? 'w0' : `(w${depth} OR w1 ${chained(depth - 1)} -no)`)
  expect(table.find(queryOf(`${chained(20)} in:prompt`))).toEqual([1])
})

describe('scopes', () => {
  const fields = { prompt: 'alpha', answer: 'beta', output: 'gamma' }
  const table = new Table()
  table.put(1, fields)

  test.each<[string, boolean]>([
    ['alpha beta gamma', true],
    ['alpha in:prompt', true],
    ['alpha in:answer', false],
    ['alpha beta in:prompt in:answer', true],
    ['alpha gamma in:prompt in:answer', false],
    ['alpha -gamma', false],
    ['alpha -gamma -in:output', true],
    ['gamma in:output', true],
    ['alpha in:title', false],
    ['-alpha in:answer', true],
    ['-beta in:answer', false],
  ])('%s', (input, expected) => {
    const query = queryOf(input)
    expect(table.find(query)).toEqual(expected ? [1] : [])
    expect(matchesQuery(query, fields)).toBe(expected)
  })
})

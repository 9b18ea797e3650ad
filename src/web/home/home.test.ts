import { expect, test } from 'vitest'
import type { SessionItem } from '../../model/api/session.ts'
import { groupSessions, hasFilters, mergeSessions, parseSessionFilters, splitHighlights } from './session-view.ts'

const session = (id: string, last_at: string, cwd: string | null = null): SessionItem =>
  ({ id, last_at, cwd }) as SessionItem

test('sessions are grouped by day or project in their order', () => {
  const all = [
    session('a', '2026-02-03T10:00:00Z', '/x'),
    session('b', '2026-02-03T09:00:00Z', '/y'),
    session('c', '2026-02-02T09:00:00Z', '/x'),
    session('d', '2026-02-02T08:00:00Z'),
  ]
  const shape = (by: 'day' | 'project') =>
    groupSessions(all, by).map(({ name, sessions }) => [name, sessions.map(({ id }) => id)])
  expect(shape('day')).toEqual([
    ['2026-02-03', ['a', 'b']],
    ['2026-02-02', ['c', 'd']],
  ])
  expect(shape('project')).toEqual([
    ['/x', ['a', 'c']],
    ['/y', ['b']],
    ['', ['d']],
  ])
})

test('sessions without a date are grouped by their file, and are in no day', () => {
  const undated = (id: string, path: string): SessionItem => ({ id, last_at: null, cwd: null, path }) as SessionItem
  const groups = groupSessions(
    [
      session('a', '2026-02-03T10:00:00Z'),
      undated('b', '/x/train.jsonl'),
      undated('c', '/x/train.jsonl'),
      undated('d', '/y'),
    ],
    'day',
  )
  expect(groups.map(({ name, isUndated, sessions }) => [name, isUndated, sessions.length])).toEqual([
    ['2026-02-03', false, 1],
    ['/x/train.jsonl', true, 2],
    ['/y', true, 1],
  ])
})

test('changed sessions come first and appear once', () => {
  const before = [session('a', '1'), session('b', '1'), session('c', '1')]
  expect(mergeSessions([session('c', '2'), session('a', '1')], before).map(({ id, last_at }) => id + last_at)).toEqual([
    'c2',
    'a1',
    'b1',
  ])
})

test('a snippet is cut at its hits', () => {
  expect(splitHighlights('one two three', [{ start: 4, end: 7 }])).toEqual([
    { text: 'one ', isHit: false },
    { text: 'two', isHit: true },
    { text: ' three', isHit: false },
  ])
  expect(splitHighlights('索引', [{ start: 0, end: 2 }])).toEqual([{ text: '索引', isHit: true }])
})

test('only filters are sent', () => {
  expect(parseSessionFilters({ q: 'x', by: 'project', in: 'bodies', agent: 'codex', tag: '' })).toEqual({
    q: 'x',
    agent: 'codex',
  })
  expect([hasFilters({ q: 'x' }), hasFilters({ q: 'x', agent: 'codex' })]).toEqual([false, true])
})

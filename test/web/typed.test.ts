/** What people type into dialogs, and how a request is laid out to be read. */
import { expect, test } from 'vitest'
import type { RequestPart } from '../../src/model/api/state.ts'
import { isDirectory, isSize, isTurnRange, tagsIn, tokensIn } from '../../src/web/actions/turn-range.ts'
import { filled } from '../../src/web/print/filled.ts'
import { budgetParts, grouped, laidOut, overBudget } from '../../src/web/state/budget.ts'

test('turns are named as the server takes them', () => {
  expect(['', '3', '2..5', '4..', '..3', '5..5', '0'].filter((text) => !isTurnRange(text))).toEqual([])
  expect(['..', '..0', '5..2', '1.2', '1234567890', 'a', '1..b', '-1', '3...5'].filter(isTurnRange)).toEqual([])
})

test('tags stand between commas of either language, each once', () => {
  expect(tagsIn(' one, two、三，one, ')).toEqual(['one', 'two', '三'])
  expect(tagsIn('')).toEqual([])
  expect(tagsIn('x'.repeat(100))[0]).toHaveLength(60)
})

test('sizes of windows may be short', () => {
  expect(['32000', '32k', '1.5M', '32,000', ' 8 k '].map(tokensIn)).toEqual([32_000, 32_000, 1_500_000, 32_000, 8000])
  expect(['３２０００', '３２ｋ'].map(tokensIn)).toEqual([32_000, 32_000])
  expect(['', '32k', 'many'].map(isSize)).toEqual([true, true, false])
  expect(['', 'many', '3 kg'].map(tokensIn)).toEqual([undefined, undefined, undefined])
})

test('a directory is a whole path, or none', () => {
  expect(['', ' ', '/w/app', 'C:\\w', 'd:/w', '\\\\host\\w'].filter((text) => !isDirectory(text))).toEqual([])
  expect(['w', './w', '../w', '~/w', 'C:w'].filter(isDirectory)).toEqual([])
})

const part = (kind: RequestPart['kind'], name?: string): RequestPart => ({
  kind,
  text: kind,
  bytes: kind.length,
  ...(name !== undefined && { name }),
})

test('a long history is one line, a short one is not, and nothing changes its place', () => {
  const history = [part('history_user', '1'), part('history_assistant', '1'), part('tool_results', '2')]
  const parts = [part('summary'), ...history, part('tool_results'), part('prompt')]
  expect(grouped(parts, 2)).toEqual([
    { kind: 'part', part: parts[0] },
    { kind: 'history', parts: history, first: '1', last: '2' },
    { kind: 'part', part: parts[4] },
    { kind: 'part', part: parts[5] },
  ])
  expect(grouped(parts, 3).map((group) => (group.kind === 'part' ? group.part : undefined))).toEqual(parts)
})

test('a budget that is exceeded says by how much', () => {
  const budget = { window: 100, context_files: 50, context_limit: 75, history: 60, tools: 5, prompt: 5, free: -20 }
  expect(overBudget(budget)).toBe(20)
  expect(budgetParts(budget).at(-1)).toEqual({ kind: 'free', tokens: 0 })
  expect(overBudget({ ...budget, history: 10 })).toBe(0)
})

test('JSON is laid out, other texts stay as they are', () => {
  expect(laidOut('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}')
  expect(laidOut('{not json')).toBe('{not json')
  expect(laidOut('plain')).toBe('plain')
})

test('labels are filled in, whatever the document holds', () => {
  expect(filled('{0} of {1}', '["3","9"]')).toBe('3 of 9')
  expect(filled('{0}!', 'no json')).toBe('!')
  expect(filled('plain', undefined)).toBe('plain')
})

/** Values typed into dialogs, and the layout of a request. */
import { expect, test } from 'vitest'
import type { RequestPart } from '../../src/model/api/state.ts'
import { exportLabelText, parseLabelValues } from '../../src/model/export-labels.ts'
import {
  isAbsolutePathOrEmpty,
  isTokenLimit,
  isTurnRange,
  parseTags,
  parseTokenCount,
} from '../../src/web/actions/form-values.ts'
import { budgetParts, formatIfJson, groupRequestParts, overBudget } from '../../src/web/state/request-budget.ts'

test('turn ranges match those of the server', () => {
  expect(['', '3', '2..5', '4..', '..3', '5..5', '0'].filter((text) => !isTurnRange(text))).toEqual([])
  expect(['..', '..0', '5..2', '1.2', '1234567890', 'a', '1..b', '-1', '3...5'].filter(isTurnRange)).toEqual([])
})

test('tags are separated by commas of either language, without duplicates', () => {
  expect(parseTags(' one, two、三，one, ')).toEqual(['one', 'two', '三'])
  expect(parseTags('')).toEqual([])
  expect(parseTags('x'.repeat(100))[0]).toHaveLength(60)
})

test('sizes of windows may be short', () => {
  expect(['32000', '32k', '1.5M', '32,000', ' 8 k '].map(parseTokenCount)).toEqual([
    32_000, 32_000, 1_500_000, 32_000, 8000,
  ])
  expect(['３２０００', '３２ｋ'].map(parseTokenCount)).toEqual([32_000, 32_000])
  expect(['', '32k', 'many'].map(isTokenLimit)).toEqual([true, true, false])
  expect(['', 'many', '3 kg'].map(parseTokenCount)).toEqual([undefined, undefined, undefined])
})

test('a directory is an absolute path or empty', () => {
  expect(['', ' ', '/w/app', 'C:\\w', 'd:/w', '\\\\host\\w'].filter((text) => !isAbsolutePathOrEmpty(text))).toEqual([])
  expect(['w', './w', '../w', '~/w', 'C:w'].filter(isAbsolutePathOrEmpty)).toEqual([])
})

const part = (kind: RequestPart['kind'], name?: string): RequestPart => ({
  kind,
  text: kind,
  bytes: kind.length,
  ...(name !== undefined && { name }),
})

test('a long history is one line, a short one is not, and the order stays', () => {
  const history = [part('history_user', '1'), part('history_assistant', '1'), part('tool_results', '2')]
  const parts = [part('summary'), ...history, part('tool_results'), part('prompt')]
  expect(groupRequestParts(parts, 2)).toEqual([
    { kind: 'part', part: parts[0] },
    { kind: 'history', parts: history, first: '1', last: '2' },
    { kind: 'part', part: parts[4] },
    { kind: 'part', part: parts[5] },
  ])
  expect(groupRequestParts(parts, 3).map((group) => (group.kind === 'part' ? group.part : undefined))).toEqual(parts)
})

test('a budget that is exceeded says by how much', () => {
  const budget = { window: 100, context_files: 50, context_limit: 75, history: 60, tools: 5, prompt: 5, free: -20 }
  expect(overBudget(budget)).toBe(20)
  expect(budgetParts(budget).at(-1)).toEqual({ kind: 'free', tokens: 0 })
  expect(overBudget({ ...budget, history: 10 })).toBe(0)
})

test('JSON is indented, other texts are unchanged', () => {
  expect(formatIfJson('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}')
  expect(formatIfJson('{not json')).toBe('{not json')
  expect(formatIfJson('plain')).toBe('plain')
})

test('labels of an exported document are translated, whatever values it has', () => {
  expect(exportLabelText('part', parseLabelValues('["3","9"]'), 'ja')).toBe('ターン 3〜9')
  expect(exportLabelText('turn', parseLabelValues('no json'), 'ja')).toBe('ターン ')
  expect(exportLabelText('system', parseLabelValues(undefined), 'ja')).toBe('システム')
})

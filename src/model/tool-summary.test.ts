/** Tests the summaries of tool calls for all shapes of arguments that agents use. */
import { expect, test } from 'vitest'
import type { ToolCall } from './normalized.ts'
import { formatShortDuration, summarizeToolCall } from './tool-summary.ts'

const summaryOf = (args: object): string =>
  summarizeToolCall({ arguments_json: args, arguments: JSON.stringify(args) } as ToolCall)

test('a file change is summarized by its path', () => {
  expect(summaryOf({ command: 'str_replace', path: 'src/tea.ts', old_str: 'green', new_str: 'black' })).toBe(
    'src/tea.ts',
  )
  expect(summaryOf({ command: 'create', path: 'お茶.md', file_text: 'black' })).toBe('お茶.md')
  expect(summaryOf({ command: 'insert', path: 'a.ts', insert_line: 3, new_str: 'x' })).toBe('a.ts')
})

test('a shell call is summarized by its command', () => {
  expect(summaryOf({ command: 'ls  -la\n' })).toBe('ls -la')
  expect(summaryOf({ command: 'make create', path: '/srv' })).toBe('make create')
  expect(summaryOf({ command: ['bash', '-lc', 'git status'] })).toBe('git status')
  expect(summaryOf({ cmd: 'ls' })).toBe('ls')
})

test('read calls are summarized by their files', () => {
  expect(summaryOf({ mode: 'Line', path: 'a.ts' })).toBe('a.ts')
  expect(
    summaryOf({
      operations: [
        { mode: 'Line', path: 'a.ts' },
        { mode: 'Image', image_paths: ['b.png'] },
      ],
    }),
  ).toBe('a.ts, b.png')
})

test('a search is summarized by its pattern, an agent by its task, a list of steps by the current one', () => {
  const summary = (name: string, args: object): string =>
    summarizeToolCall({ call_id: null, status: 'pending', name, arguments_json: args, arguments: JSON.stringify(args) })
  expect(summary('Grep', { pattern: 'tea', path: '/src' })).toBe('tea')
  expect(summary('Glob', { pattern: '**/*.md' })).toBe('**/*.md')
  expect(summary('Agent', { description: 'Visit the shop', prompt: 'Go and …', subagent_type: 'x' })).toBe(
    'Visit the shop',
  )
  const todos = [
    { content: 'Boil', status: 'completed' },
    { content: 'Pour', status: 'in_progress' },
  ]
  expect(summary('TodoWrite', { todos })).toBe('2/2 Pour')
  expect(summary('Read', { file_path: '/a.ts', limit: 5 })).toBe('/a.ts')
})

test('a duration never has sixty seconds', () => {
  expect(
    [0, 999.4, 999.6, 59_949, 59_999, 119_400, 119_999, 3_599_600, 7_260_000, 172_799_999, 3_095_273_000].map(
      formatShortDuration,
    ),
  ).toEqual(['0ms', '999ms', '1.0s', '59.9s', '1m00s', '1m59s', '2m00s', '1h00m', '2h01m', '2 d', '36 d'])
})

/** What a tool call is about, for every shape of arguments that agents use. */
import { expect, test } from 'vitest'
import { duration, gistOf } from './gist.ts'
import type { ToolCall } from './normalized.ts'

const gist = (args: object): string => gistOf({ arguments_json: args, arguments: JSON.stringify(args) } as ToolCall)

test('a change of a file is about the file, not about the way it is changed', () => {
  expect(gist({ command: 'str_replace', path: 'src/tea.ts', old_str: 'green', new_str: 'black' })).toBe('src/tea.ts')
  expect(gist({ command: 'create', path: 'お茶.md', file_text: 'black' })).toBe('お茶.md')
  expect(gist({ command: 'insert', path: 'a.ts', insert_line: 3, new_str: 'x' })).toBe('a.ts')
})

test('a command for a shell is the command, wherever it is run', () => {
  expect(gist({ command: 'ls  -la\n' })).toBe('ls -la')
  expect(gist({ command: 'make create', path: '/srv' })).toBe('make create')
  expect(gist({ command: ['bash', '-lc', 'git status'] })).toBe('git status')
  expect(gist({ cmd: 'ls' })).toBe('ls')
})

test('readings are about their files', () => {
  expect(gist({ mode: 'Line', path: 'a.ts' })).toBe('a.ts')
  expect(
    gist({
      operations: [
        { mode: 'Line', path: 'a.ts' },
        { mode: 'Image', image_paths: ['b.png'] },
      ],
    }),
  ).toBe('a.ts, b.png')
})

test('a duration never has sixty seconds', () => {
  expect([0, 999.4, 999.6, 59_949, 59_999, 119_400, 119_999].map(duration)).toEqual([
    '0ms',
    '999ms',
    '1.0s',
    '59.9s',
    '1m00s',
    '1m59s',
    '2m00s',
  ])
})

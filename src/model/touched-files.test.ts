import { expect, test } from 'vitest'
import type { NormalizedMessage } from './normalized.ts'
import { diffOfToolCall, findTouchedFiles } from './touched-files.ts'

const callOf = (name: string, args: object): NormalizedMessage => ({
  id: 'x#1',
  timestamp: '2026-01-01T00:00:00.000Z',
  role: 'tool',
  source_type: 'tool_call',
  segments: [],
  raw: { event_type: null, payload_type: null, file_path: '', line_index: 1, session_id: '' },
  tool_call: { call_id: '1', name, status: 'pending', arguments: JSON.stringify(args), arguments_json: args },
})

test.each([
  ['Edit', { file_path: 'a.ts', old_string: 'x', new_string: 'y' }, '-x\n+y'],
  ['replace', { file_path: 'a.ts', old_string: 'x', new_string: 'y' }, '-x\n+y'],
  ['edit', { filePath: 'a.ts', oldString: 'x', newString: 'y' }, '-x\n+y'],
  ['edit', { path: 'a.ts', oldText: 'x', newText: 'y' }, '-x\n+y'],
  ['fs_write', { command: 'str_replace', path: 'a.ts', old_str: 'x', new_str: 'y' }, '-x\n+y'],
  ['Write', { file_path: 'a.ts', content: 'y' }, '+y'],
  [
    'MultiEdit',
    {
      file_path: 'a.ts',
      edits: [
        { old_string: 'x', new_string: 'y' },
        { old_string: 'v', new_string: 'w' },
      ],
    },
    '-x\n+y\n@@\n-v\n+w',
  ],
  ['replace_in_file', { path: 'a.ts', diff: '<<<<<<< SEARCH\ndry\n=======\nwet\n>>>>>>> REPLACE' }, '-dry\n+wet'],
  [
    'apply_diff',
    {
      path: 'a.ts',
      diff: `${'<<<<<<< SEARCH\n'.repeat(200_000)}dry\n=======\nwet\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nopen`,
    },
    '-dry\n+wet',
  ],
  [
    'apply_diff',
    { path: 'a.ts', diff: '<<<<<<< SEARCH\n:start_line:7\n-------\ndry\n=======\n>>>>>>> REPLACE\n' },
    '-dry',
  ],
])('%s changes its file, and says how', (name, args, diff) => {
  const call = callOf(name, args)
  expect(findTouchedFiles(call)).toEqual([{ path: 'a.ts', how: 'updated' }])
  expect(diffOfToolCall(call, 'a.ts')).toBe(diff)
})

test('Kiro names what it does to a file in the arguments', () => {
  const edit = callOf('write', { command: 'strReplace', path: 'a.ts', oldStr: 'dry', newStr: 'wet' })
  expect(findTouchedFiles(edit)).toEqual([{ path: 'a.ts', how: 'updated' }])
  expect(diffOfToolCall(edit, 'a.ts')).toBe('-dry\n+wet')
  expect(findTouchedFiles(callOf('write', { command: 'create', path: 'b.ts', content: 'new' }))).toEqual([
    { path: 'b.ts', how: 'added' },
  ])
  expect(findTouchedFiles(callOf('delete_file', { targetFile: 'b.ts' }))).toEqual([{ path: 'b.ts', how: 'updated' }])
})

test('reading and searching name files without changing them', () => {
  expect(findTouchedFiles(callOf('Read', { file_path: 'a.ts' }))).toEqual([{ path: 'a.ts', how: 'named' }])
  expect(findTouchedFiles(callOf('str_replace_editor', { command: 'view', path: 'a.ts' }))).toEqual([
    { path: 'a.ts', how: 'named' },
  ])
})

import { expect, test } from 'vitest'
import type { ToolCall } from './normalized.ts'
import { commandOf, toolKindOf } from './tool-names.ts'

test.each([
  ['shell', ['Bash', 'shell', 'exec_command', 'execute_bash', 'run_shell_command', 'bash', 'container.exec']],
  ['read', ['Read', 'fs_read', 'read_file', 'read_many_files', 'view_image']],
  ['write', ['Write', 'fs_write', 'write_file', 'create_file']],
  ['edit', ['Edit', 'MultiEdit', 'apply_patch', 'replace', 'str_replace', 'multiedit']],
  ['search', ['Grep', 'Glob', 'search_file_content', 'list_directory', 'ls']],
  ['web', ['WebFetch', 'web_search', 'google_web_search', 'webfetch']],
  ['plan', ['TodoWrite', 'update_plan', 'write_todos', 'todowrite']],
  ['agent', ['Task', 'Agent', 'task', 'spawn_agent']],
] as const)('tools of every agent are of the kind %s', (kind, names) => {
  for (const name of names) expect(toolKindOf({ name }), name).toBe(kind)
})

test('tools of servers have no kind, whatever their names are', () => {
  expect(toolKindOf({ name: 'read', namespace: 'mcp__files' })).toBeUndefined()
  expect(toolKindOf({ name: 'mcp__files__read' })).toBeUndefined()
  expect(toolKindOf({ name: null })).toBeUndefined()
})

test('the command of a shell is found under every name', () => {
  const call = (name: string, arguments_json: object): ToolCall => ({
    call_id: '1',
    name,
    status: 'pending',
    arguments_json,
  })
  expect(commandOf(call('Bash', { command: 'ls -l' }))).toBe('ls -l')
  expect(commandOf(call('exec_command', { cmd: 'ls' }))).toBe('ls')
  expect(commandOf(call('shell', { command: ['bash', '-lc', 'ls'] }))).toEqual(['bash', '-lc', 'ls'])
  expect(commandOf(call('local_shell', { action: { command: ['ls'] } }))).toEqual(['ls'])
  expect(commandOf(call('Read', { command: 'ls' }))).toBeUndefined()
})

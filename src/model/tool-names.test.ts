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

test.each([
  ['Amazon Q', ['execute_bash', 'fs_read', 'fs_write', 'todo_list', 'delegate']],
  ['Claude Code', ['Bash', 'Read', 'Write', 'Edit', 'Grep', 'WebFetch', 'TodoWrite', 'Task']],
  [
    'Cline and Roo Code',
    [
      'execute_command',
      'read_file',
      'write_to_file',
      'replace_in_file',
      'apply_diff',
      'search_files',
      'list_files',
      'browser_action',
      'new_task',
      'update_todo_list',
    ],
  ],
  ['Codex', ['exec_command', 'apply_patch', 'update_plan', 'spawn_agent']],
  ['Copilot CLI', ['bash', 'view', 'create', 'edit', 'grep', 'glob', 'web_fetch', 'task']],
  [
    'Cursor',
    [
      'run_terminal_cmd',
      'read_file',
      'edit_file_v2',
      'search_replace',
      'ripgrep_raw_search',
      'web_search',
      'todo_write',
    ],
  ],
  [
    'Gemini CLI',
    ['run_shell_command', 'read_file', 'write_file', 'replace', 'glob', 'google_web_search', 'write_todos'],
  ],
  ['Kiro', ['shell', 'read', 'write', 'grep', 'glob', 'web_fetch', 'todo_list', 'subagent']],
  ['Kiro, version 3', ['execute_pwsh', 'read_file', 'fs_write', 'str_replace', 'delete_file', 'list_directory']],
  ['OpenCode', ['bash', 'read', 'write', 'edit', 'grep', 'glob', 'webfetch', 'todowrite', 'task']],
  ['pi', ['bash', 'read', 'write', 'edit', 'grep', 'find', 'ls']],
  ['Qwen Code', ['run_shell_command', 'read_file', 'write_file', 'edit', 'web_fetch', 'todo_write', 'task']],
] as const)('every tool of %s for shell, files, search, web, plans and agents has a kind', (_, names) => {
  expect(names.filter((name) => toolKindOf({ name }) === undefined)).toEqual([])
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

import { expect, test } from 'vitest'
import { programPromptName } from './program-prompts.ts'

test.each([
  ['The user interrupted the tool execution.', 'tool_interrupted'],
  ['I deny this tool request. Ask a follow up question clarifying the expected action', 'tool_denied'],
  ['Tool use with execute_bash was rejected because the arguments supplied were forbidden', 'tool_forbidden'],
  ['In a few words, summarize our conversation so far.', 'resumed'],
  ['[SYSTEM NOTE: This is an automated request, not from the user]\nRead the TODO list', 'automated_request'],
])('%s is written by the program', (text, name) => {
  expect(programPromptName(text)).toBe(name)
})

test.each([
  'no',
  'I deny this tool request.',
  'Why does it say "The user interrupted the tool execution."?',
  'Tool use with fs_write was rejected because the arguments supplied were forbidden. Why?',
  '',
])('"%s" is typed by a person', (text) => {
  expect(programPromptName(text)).toBeUndefined()
})

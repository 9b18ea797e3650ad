import { expect, test } from 'vitest'
import type { MessageItem } from '../../model/api/message.ts'
import type { CheckpointItem } from '../../model/api/session.ts'
import type { TurnItem } from '../../model/api/turn.ts'
import { queryWords } from './highlight-words.ts'
import { messageMarkdown, turnMarkdown } from './message-markdown.ts'
import { conversationOutline } from './outline.ts'
import { contextName, splitTextParts } from './row/text-parts.ts'

const messageItem = (show: MessageItem['show'], text: string): MessageItem => ({
  id: text,
  offset: 0,
  timestamp: '2026-02-03T00:00:00.000Z',
  role: 'user',
  source_type: 'message',
  show,
  flags: {},
  segments: [{ channel: 'input', type: 'text', format: 'input_text', text }],
})

test('injected text is separated from the typed prompt', () => {
  const segment = {
    channel: 'input',
    type: 'text',
    format: 'input_text',
    text: 'Look at this <file>x</file> please',
    annotations: [{ kind: 'injected', start: 13, end: 27, what: 'file' }],
  } as const
  expect(splitTextParts(segment)).toEqual([
    { kind: 'said', text: 'Look at this ' },
    { kind: 'injected', text: '<file>x</file>', what: 'file' },
    { kind: 'said', text: ' please' },
  ])
})

test('context is named by its file, its tag or its first words', () => {
  expect(contextName('# AGENTS.md instructions for /w\n…')).toBe('AGENTS.md')
  expect(contextName('<environment_context>\n<cwd>')).toBe('environment')
  expect(contextName('## Be kind\nand brief')).toBe('Be kind')
})

test('a turn as Markdown contains prompt, tools and answer in unbroken fences', () => {
  const tool: MessageItem = {
    ...messageItem('tool', ''),
    tool_call: {
      call_id: 'c',
      name: 'shell',
      status: 'success',
      gist: '',
      arguments_json: { command: 'cat a.md' },
      output: '```\ncode\n```\n',
    },
  }
  const text = turnMarkdown([
    messageItem('context', 'hidden'),
    messageItem('prompt', 'Why?\nHow?'),
    tool,
    messageItem('copy', 'Why?'),
    messageItem('answer', 'So.'),
  ])
  expect(text).toBe('> Why?\n> How?\n\n**shell**\n\n```\n$ cat a.md\n```\n\n````\n```\ncode\n```\n````\n\nSo.\n')
  expect(messageMarkdown(messageItem('answer', 'So.'))).toBe('So.')
})

test('only the words of a query are highlighted', () => {
  expect(queryWords('Boil* "la paz" -not agent:codex OR /x+/ 索引')).toEqual(['boil', 'la paz', '索引'])
})

test('checkpoints appear in the outline at their time', () => {
  const turn = (number: number, started_at: string, more: Partial<TurnItem> = {}) =>
    ({
      number,
      prompt: `p${number}`,
      offset: number * 10,
      started_at,
      tangent: false,
      rolled_back: false,
      ...more,
    }) as TurnItem
  const checkpoint = {
    tag: '1',
    at: '2026-02-03T09:30:00Z',
    description: null,
    entries: 1,
    files: { added: 3, modified: 5, deleted: 0 },
  } as CheckpointItem
  const lines = conversationOutline(
    [turn(1, '2026-02-03T09:00:00Z'), turn(2, '2026-02-03T10:00:00Z', { tangent: true, rolled_back: true })],
    [checkpoint],
  )
  expect(lines.map(({ mark, text, offset, rolledBack }) => [mark, text, offset, rolledBack])).toEqual([
    ['1', 'p1', 10, false],
    ['◆', '1 +3 ~5 −0', 10, false],
    ['⎇', 'p2', 20, true],
  ])
})

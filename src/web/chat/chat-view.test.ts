import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ChatCommand, ChatEvent, ChatState } from '../../model/api/chat.ts'
import { applyChatEvent, type ChatView, EMPTY_CHAT_VIEW, messageText, splitSettledText } from './chat-view.ts'
import { findCompletion } from './completion.ts'

const STATE: ChatState = {
  id: 'c',
  session: 'fumibako:c',
  directory: '/code',
  model: 'm',
  agent: 'a',
  running: false,
  window: { tokens: 1000, percent: 1 },
  tangents: [],
  tangent_since: null,
  checkpoints: [],
  attached: [],
  sandbox: 'open',
  sandbox_problem: null,
  sandbox_problem_ja: null,
  waiting: false,
}
const shown = (...events: readonly ChatEvent[]): ChatView => events.reduce(applyChatEvent, EMPTY_CHAT_VIEW)
const reported = ({ rows }: ChatView): readonly string[] =>
  rows.map((row) =>
    row.kind === 'message' || row.kind === 'stream' ? `${row.kind} ${messageText(row.message)}` : row.kind,
  )
const NEED = { level: 'changes', summary: 'write a.txt', summary_ja: 'a.txt に書き込み' } as const

test('an answer grows and is complete once it is an entry', () => {
  const begun = shown(
    { kind: 'said', text: 'Hi', at: '' },
    { kind: 'delta', text: 'He' },
    { kind: 'delta', text: 'llo' },
  )
  expect(reported(begun)).toEqual(['message Hi', 'stream Hello'])
  expect(reported(applyChatEvent(begun, { kind: 'entry', number: 1, interrupted: null }))).toEqual([
    'message Hi',
    'message Hello',
  ])
})

test('a retry removes the text of the failed attempt', () => {
  const view = shown(
    { kind: 'delta', text: 'Hal' },
    { kind: 'retry', code: 'connection', reason: 'cut', reason_ja: '切断', attempt: 1, wait_ms: 0 },
    { kind: 'delta', text: 'Hello' },
  )
  expect(reported(view)).toEqual(['retry', 'stream Hello'])
})

test('a consent request stays until any page answers it', () => {
  const asked = { id: 't', name: 'fs_write', need: NEED }
  const view = shown({ kind: 'tool_asked', ...asked }, { kind: 'consent_needed', ...asked })
  expect(view.asking).toEqual([asked])
  const given = applyChatEvent(view, { kind: 'consent_given', id: 't', consent: 'yes' })
  expect(given.asking).toEqual([])
  const done = applyChatEvent(given, {
    kind: 'tool_done',
    id: 't',
    name: 'fs_write',
    status: 'error',
    output: 'no',
    ms: 3,
  })
  expect(done.rows).toMatchObject([{ message: { tool_call: { status: 'error', output: 'no', duration_ms: 3 } } }])
})

test('messages of a tangent are flagged', () => {
  const state = { ...STATE, tangents: ['moon'] }
  const view = shown({ kind: 'state', state }, { kind: 'said', text: 'Why?', at: '' })
  expect(view.rows).toMatchObject([{ message: { flags: { tangent: true } } }])
})

test('a reconnecting page shows earlier messages once', () => {
  const before = shown({ kind: 'said', text: 'Hi', at: '' })
  const view = applyChatEvent(before, { kind: 'hello', reset: true, state: STATE, messages: [], earlier: 4 })
  expect(view).toMatchObject({ rows: [], earlier: 4, state: STATE })
  expect(
    reported(applyChatEvent(before, { kind: 'hello', reset: false, state: STATE, messages: [], earlier: 0 })),
  ).toEqual(['message Hi'])
})

test('complete paragraphs of a growing text are stable and no text is lost', () => {
  expect(splitSettledText('One.\n\n```\na\n\nb')).toEqual(['One.', '```\na\n\nb'])
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '\n', '\n\n', '```', ' ') }), (text) => {
      const [done, open] = splitSettledText(text)
      expect(done === '' ? open : `${done}\n\n${open}`).toBe(text)
    }),
  )
})

test('commands, their first words and files are completed', () => {
  const commands: readonly ChatCommand[] = [
    { name: 'tangent', aliases: [], args: '[name]', help: 'aside', help_ja: '脇道', words: ['tail', 'list'] },
    { name: 'quit', aliases: ['q'], args: '', help: 'end', help_ja: '終了', words: [] },
  ]
  expect(findCompletion('/t', commands)).toMatchObject({ kind: 'command', from: 0, choices: [{ text: '/tangent ' }] })
  expect(findCompletion('/tangent t', commands)).toMatchObject({ kind: 'word', from: 9, choices: [{ text: 'tail' }] })
  expect(findCompletion('/tangent tail', commands)).toBeUndefined()
  expect(findCompletion('Look at @src/a', commands)).toMatchObject({ kind: 'file', from: 9, typed: 'src/a' })
  expect(findCompletion('/attach a.md b', commands)).toMatchObject({ kind: 'file', from: 13, typed: 'b' })
  expect(findCompletion('mail@example', commands)).toBeUndefined()
  expect(findCompletion('a / b', commands)).toBeUndefined()
})

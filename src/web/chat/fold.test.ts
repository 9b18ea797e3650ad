import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ChatCommand, ChatEvent, ChatState } from '../../model/api/chat.ts'
import { completing } from './complete.ts'
import { after, NOTHING, settledParts, type View, wordsOf } from './fold.ts'

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
const shown = (...events: readonly ChatEvent[]): View => events.reduce(after, NOTHING)
const told = ({ rows }: View): readonly string[] =>
  rows.map((row) =>
    row.kind === 'message' || row.kind === 'stream' ? `${row.kind} ${wordsOf(row.message)}` : row.kind,
  )
const NEED = { level: 'changes', summary: 'write a.txt', summary_ja: 'a.txt に書き込み' } as const

test('an answer grows, and is whole when it is an entry', () => {
  const begun = shown(
    { kind: 'said', text: 'Hi', at: '' },
    { kind: 'delta', text: 'He' },
    { kind: 'delta', text: 'llo' },
  )
  expect(told(begun)).toEqual(['message Hi', 'stream Hello'])
  expect(told(after(begun, { kind: 'entry', number: 1, interrupted: null }))).toEqual(['message Hi', 'message Hello'])
})

test('what came before a new attempt is taken away', () => {
  const view = shown(
    { kind: 'delta', text: 'Hal' },
    { kind: 'retry', code: 'connection', reason: 'cut', reason_ja: '切断', attempt: 1, wait_ms: 0 },
    { kind: 'delta', text: 'Hello' },
  )
  expect(told(view)).toEqual(['retrying', 'stream Hello'])
})

test('a tool that asks is asked about until somebody answers, on whichever page', () => {
  const asked = { id: 't', name: 'fs_write', need: NEED }
  const view = shown({ kind: 'tool_asked', ...asked }, { kind: 'consent_needed', ...asked })
  expect(view.asking).toEqual([asked])
  const given = after(view, { kind: 'consent_given', id: 't', consent: 'yes' })
  expect(given.asking).toEqual([])
  const done = after(given, { kind: 'tool_done', id: 't', name: 'fs_write', status: 'error', output: 'no', ms: 3 })
  expect(done.rows).toMatchObject([{ message: { tool_call: { status: 'error', output: 'no', duration_ms: 3 } } }])
})

test('what is said in a tangent stands aside', () => {
  const state = { ...STATE, tangents: ['moon'] }
  const view = shown({ kind: 'state', state }, { kind: 'said', text: 'Why?', at: '' })
  expect(view.rows).toMatchObject([{ message: { flags: { tangent: true } } }])
})

test('whoever begins anew sees what was said before, and nothing twice', () => {
  const before = shown({ kind: 'said', text: 'Hi', at: '' })
  const view = after(before, { kind: 'hello', reset: true, state: STATE, messages: [], earlier: 4 })
  expect(view).toMatchObject({ rows: [], earlier: 4, state: STATE })
  expect(told(after(before, { kind: 'hello', reset: false, state: STATE, messages: [], earlier: 0 }))).toEqual([
    'message Hi',
  ])
})

test('what is settled of a growing text stays, and nothing of it is lost', () => {
  expect(settledParts('One.\n\n```\na\n\nb')).toEqual(['One.', '```\na\n\nb'])
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '\n', '\n\n', '```', ' ') }), (text) => {
      const [done, open] = settledParts(text)
      expect(done === '' ? open : `${done}\n\n${open}`).toBe(text)
    }),
  )
})

test('commands, their first words and files are completed', () => {
  const commands: readonly ChatCommand[] = [
    { name: 'tangent', aliases: [], args: '[name]', help: 'aside', help_ja: '脇道', words: ['tail', 'list'] },
    { name: 'quit', aliases: ['q'], args: '', help: 'end', help_ja: '終了', words: [] },
  ]
  expect(completing('/t', commands)).toMatchObject({ kind: 'command', from: 0, choices: [{ text: '/tangent ' }] })
  expect(completing('/tangent t', commands)).toMatchObject({ kind: 'word', from: 9, choices: [{ text: 'tail' }] })
  expect(completing('/tangent tail', commands)).toBeUndefined()
  expect(completing('Look at @src/a', commands)).toMatchObject({ kind: 'file', from: 9, typed: 'src/a' })
  expect(completing('/attach a.md b', commands)).toMatchObject({ kind: 'file', from: 13, typed: 'b' })
  expect(completing('mail@example', commands)).toBeUndefined()
  expect(completing('a / b', commands)).toBeUndefined()
})

/** What Gemini CLI, Qwen Code and pi would reject or misread: a good session has no finding, each damage its own. */
import { expect, test } from 'vitest'
import type { CheckFinding } from '../../../src/model/check-finding.ts'
import { agentOf } from '../../convert/conversions.ts'

const AT = '2026-01-02T03:04:05.678Z'
const ID = '019c1111-2222-7333-8444-555566667777'

type Line = Record<string, unknown>

const gemini: readonly Line[] = [
  { sessionId: ID, projectHash: 'p', startTime: AT, lastUpdated: AT, kind: 'main' },
  { id: 'u', timestamp: AT, type: 'user', content: [{ text: 'hello' }] },
  {
    ...{ id: 'g', timestamp: AT, type: 'gemini', content: 'hi' },
    toolCalls: [{ id: 'c', name: 'look', args: {}, status: 'success', result: [{ functionResponse: { id: 'c' } }] }],
  },
]

const base = (uuid: string, parentUuid: string | null, type: string): Line => ({
  ...{ uuid, parentUuid, sessionId: ID, timestamp: AT, type, cwd: '/w' },
})
const qwen: readonly Line[] = [
  { ...base('a', null, 'user'), message: { role: 'user', parts: [{ text: 'hello' }] } },
  { ...base('b', 'a', 'assistant'), message: { role: 'model', parts: [{ functionCall: { id: 'c', name: 'look' } }] } },
  { ...base('d', 'b', 'tool_result'), message: { role: 'user', parts: [{ functionResponse: { id: 'c' } }] } },
]

const entry = (id: string, parentId: string | null, message: object): Line => ({
  ...{ type: 'message', id, parentId, timestamp: AT, message },
})
const answer = { role: 'assistant', api: 'a', provider: 'p', model: 'm', usage: {}, stopReason: 'stop' }
const pi: readonly Line[] = [
  { type: 'session', version: 3, id: ID, timestamp: AT, cwd: '/w' },
  entry('a', null, { role: 'user', content: 'hello' }),
  entry('b', 'a', { ...answer, content: [{ type: 'toolCall', id: 'c', name: 'look', arguments: {} }] }),
  entry('c', 'b', { role: 'toolResult', toolCallId: 'c', content: [] }),
]

const textOf = (lines: readonly unknown[]): string =>
  lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')

async function findings(agent: string, text: string | Buffer, path?: string): Promise<readonly CheckFinding[]> {
  const { check } = await agentOf(agent)
  const found: CheckFinding[] = []
  async function* open(): AsyncGenerator<Buffer> {
    yield Buffer.from(text)
  }
  for await (const one of check?.(open, path === undefined ? {} : { path }) ?? []) found.push(one)
  return found
}

const rulesOf = (found: readonly CheckFinding[]): readonly string[] => [...new Set(found.map(({ rule }) => rule))]

const good = { gemini, qwen, pi } as const

test.each(Object.entries(good))('%s: a session of the program has no finding', async (agent, lines) => {
  expect(await findings(agent, textOf(lines))).toEqual([])
})

test.each(Object.keys(good) as (keyof typeof good)[])('%s: damage of any file of lines', async (agent) => {
  const text = textOf(good[agent])
  expect(rulesOf(await findings(agent, `\uFEFF${text}`))).toEqual(['byte_order_mark'])
  expect(rulesOf(await findings(agent, `${text}\n{"a\n[1]`))).toEqual(
    expect.arrayContaining(['blank_line', 'json', 'final_newline']),
  )
  const broken = Buffer.concat([Buffer.from(text), Buffer.from([0x7b, 0xff, 0x7d, 0x0a])])
  expect(rulesOf(await findings(agent, broken))).toEqual(['utf8', 'json'])
})

/** @param change one line, by its number from 0; undefined removes it */
const changed = (lines: readonly Line[], at: number, change: Line | undefined): string =>
  textOf(lines.flatMap((line, number) => (number === at ? (change ? [{ ...line, ...change }] : []) : [line])))

test.each([
  ['gemini', 0, undefined, 'header', 'the file'],
  ['gemini', 1, { id: 7 }, 'message_fields', 'line 2'],
  ['gemini', 1, { timestamp: 'noon' }, 'time', 'line 2 $.timestamp'],
  ['gemini', 1, { type: 'ghost' }, 'message_type', 'line 2 $.type'],
  ['gemini', 1, { content: null }, 'content', 'line 2 $.content'],
  ['gemini', 1, { content: '/etc is full' }, 'command', 'line 2'],
  ['gemini', 1, undefined, 'empty', 'the file'],
  ['gemini', 2, { toolCalls: [{ id: 'c', name: 'look', result: null }] }, 'call_answered', 'line 3'],
  ['gemini', 2, { toolCalls: [{ name: 'look' }] }, 'call_fields', 'line 3'],
  ['qwen', 0, { cwd: '' }, 'fields', 'line 1'],
  ['qwen', 1, { parentUuid: 'x' }, 'parent', 'line 2 $.parentUuid'],
  ['qwen', 1, { sessionId: 'x' }, 'session_id', 'line 2 $.sessionId'],
  ['qwen', 1, { message: { role: 'model', parts: 'hi' } }, 'message', 'line 2 $.message'],
  ['qwen', 1, { type: 'ghost' }, 'record_type', 'line 2 $.type'],
  ['qwen', 2, undefined, 'call_answered', 'line 2'],
  ['pi', 0, { id: 7 }, 'header', 'line 1'],
  ['pi', 0, { cwd: `/${'long'.repeat(200)}` }, 'header_length', 'line 1'],
  ['pi', 0, { version: 9 }, 'version', 'line 1 $.version'],
  ['pi', 1, { id: 'z' }, 'parent', 'line 3 $.parentId'],
  ['pi', 1, { type: 'ghost' }, 'entry_type', 'line 2 $.type'],
  ['pi', 1, { message: { role: 'ghost' } }, 'message', 'line 2 $.message'],
  ['pi', 2, { message: { ...answer, usage: 1, content: [] } }, 'answer_fields', 'line 3 $.message'],
  ['pi', 2, undefined, 'result_call', 'line 3'],
] as const)('%s: line %i as %j breaks %s', async (agent, at, change, rule, place) => {
  expect(await findings(agent, changed(good[agent], at, change))).toEqual(
    expect.arrayContaining([expect.objectContaining({ rule, place })]),
  )
})

test.each([
  ['gemini', '/h/.gemini/tmp/w/chats/talk.jsonl', ['file_name']],
  ['gemini', `/h/.gemini/tmp/w/chats/session-2026-01-02T03-04-${ID.slice(0, 8)}.jsonl`, []],
  ['gemini', '/elsewhere/talk.jsonl', []],
  ['qwen', '/h/.qwen/projects/-w/chats/talk.jsonl', ['file_name']],
  ['qwen', `/h/.qwen/projects/-w/chats/${ID}.jsonl`, []],
] as const)('%s: the name of %s', async (agent, path, rules) => {
  expect(rulesOf(await findings(agent, textOf(good[agent]), path))).toEqual(rules)
})

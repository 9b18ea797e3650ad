/** A Codex log whose prompts and answers are events, with tool calls as items between them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'

const folder = tempFolder()
const env = { FUMI_HOME: join(folder, 'home'), HOME: join(folder, 'nobody') }
const path = join(folder, 'rollout-2026-01-02T03-04-05-019c22d1-0000-7000-8000-0000000000f2.jsonl')

const LINES = [
  { type: 'session_meta', payload: { id: '019c22d1-0000-7000-8000-0000000000f2', cwd: '/code/reed' } },
  { type: 'event_msg', payload: { type: 'user_message', message: 'Which reeds are there?' } },
  {
    type: 'response_item',
    payload: { type: 'function_call', name: 'shell', arguments: '{"command":"ls"}', call_id: 'call_1' },
  },
  { type: 'response_item', payload: { type: 'function_call_output', call_id: 'call_1', output: 'reed.txt' } },
  { type: 'event_msg', payload: { type: 'agent_message', message: 'Only one reed.' } },
]
writeFileSync(
  path,
  LINES.map((line, at) => `${JSON.stringify({ timestamp: `2026-01-02T03:04:0${at}.000Z`, ...line })}\n`).join(''),
)

test('show prints prompt, call and answer', () => {
  const { out } = fumi(['show', path], { env })
  for (const text of ['Which reeds are there?', 'ls', 'Only one reed.']) expect(out).toContain(text)
})

test('convert keeps prompt, call, result and answer', () => {
  const target = join(folder, 'chat.json')
  const { code } = fumi(['convert', path, '--to', 'openai', '-o', target], { env })
  expect(code).toBe(0)
  const { messages } = JSON.parse(readFileSync(target, 'utf8')) as { messages: { role: string; content: unknown }[] }
  expect(messages.map(({ role, content }) => [role, content])).toEqual([
    ['user', 'Which reeds are there?'],
    ['assistant', null],
    ['tool', 'reed.txt'],
    ['assistant', 'Only one reed.'],
  ])
})

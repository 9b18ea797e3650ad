/** Checkers handle any input, with the same findings however it is split. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Agent } from '../../../src/agents/agent.ts'
import { allAgents } from '../../../src/agents/load-agents.ts'
import type { CheckFinding } from '../../../src/model/check-finding.ts'

async function check(agent: Agent, bytes: Buffer, chunk = 1 << 16): Promise<readonly CheckFinding[]> {
  async function* open(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk)
  }
  const found: CheckFinding[] = []
  for await (const one of agent.check?.(open, { path: 'a.jsonl' }) ?? []) found.push(one)
  return found
}

const KEYS = [
  'type',
  'payload',
  'timestamp',
  'role',
  'content',
  'call_id',
  'output',
  'arguments',
  'history',
  'messages',
]
const WORDS = [
  ...['session_meta', 'response_item', 'event_msg', 'turn_context', 'compacted', 'message', 'function_call', 'user'],
  ...[
    'function_call_output',
    'assistant',
    'input_text',
    'user_message',
    '__proto__',
    'constructor',
    '2026-01-02T03:04:05.678Z',
  ],
]
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom<unknown>(...WORDS, null, true, 1, -1.5, ''),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...KEYS, ...WORDS), tie('value'), { maxKeys: 5 }),
  ),
}))
const log = fc.array(value, { maxLength: 6 }).map((lines) => lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
const bytes = fc.oneof(
  log.map((text) => Buffer.from(text)),
  value.map((one) => Buffer.from(JSON.stringify(one) ?? '')),
  fc.uint8Array({ maxLength: 200 }).map((one) => Buffer.from(one)),
)

const checkers = (await allAgents()).filter((agent) => agent.check !== undefined)

describe.each(checkers)('$id', (target) => {
  test('no input makes it throw, and chunking changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 1, max: 9 }), async (given, chunk) => {
        const found = await check(target, given)
        expect(await check(target, given, chunk)).toEqual(found)
        for (const { rule, place, what } of found) expect([rule, place, what].every((one) => one !== '')).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})

/** Conversations as messages for servers or fine-tuning; and their conversion back. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { validate } from '../../src/openai/check/validate.ts'
import type { ProfileName } from '../../src/openai/profile.ts'
import { convertTo, writeSourceFile } from './conversions.ts'

interface Message {
  readonly role: string
  readonly content?: unknown
  readonly tool_calls?: readonly { readonly id: string }[]
  readonly tool_call_id?: string
}

const chat = (messages: readonly object[]): string => JSON.stringify({ messages }, null, 1)

const messagesAt = (path: string): readonly Message[] =>
  (JSON.parse(readFileSync(path, 'utf8')) as { readonly messages: readonly Message[] }).messages

const rolesOf = (messages: readonly Message[]): string => messages.map(({ role }) => role).join(' ')

const called = (id: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: '{}' } }],
})
const result = (tool_call_id: string) => ({ role: 'tool', tool_call_id, content: 'reeds' })
const asked = { role: 'user', content: 'Look.' }

describe('an example for fine-tuning', () => {
  test('ends with the calls to learn, and its sidecar file restores their results', async () => {
    const from = await writeSourceFile(
      'openai',
      chat([asked, called('a'), result('a'), asked, called('b'), result('b')]),
    )
    const there = await convertTo(from, 'sft')
    const messages = messagesAt(there.path)
    expect(rolesOf(messages)).toBe('user assistant tool user assistant')
    expect(validate(messages, 'fine-tune')).toEqual([])
    expect(there.report.repairs.map(({ what }) => what)).toContain('messages after the last answer were omitted')
    expect(JSON.stringify(there.sidecars)).toContain('"tool_call_id":"b"')
  })

  test('without any answer is none', async () => {
    const there = await convertTo(await writeSourceFile('openai', chat([asked])), 'sft')
    expect(readFileSync(there.path, 'utf8')).toBe('')
  })
})

test.each<ProfileName>(['openai', 'vllm'])('for %s no two calls share an id', async (profile) => {
  const messages = [asked, called('a'), result('a'), asked, called('a'), result('a'), called('a~2'), result('a~2')]
  const there = await convertTo(await writeSourceFile('openai', chat(messages)), 'openai', { profile })
  const found = messagesAt(there.path)
  expect(validate(found, profile)).toEqual([])
  const ids = found.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id))
  expect(new Set(ids).size).toBe(3)
  expect(found.flatMap(({ tool_call_id }) => tool_call_id ?? [])).toEqual(ids)
})

test('a message that Amazon Q treats as empty round-trips', async () => {
  const messages = [{ role: 'system', content: '\u2028' }]
  const there = await convertTo(await writeSourceFile('openai', chat(messages)), 'amazon-q')
  expect(messagesAt((await convertTo(there, 'openai')).path)).toEqual(messages)
})

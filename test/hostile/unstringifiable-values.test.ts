/** JSON that is difficult for JavaScript: objects without a text form, names of inherited properties. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import amazonQ from '../../src/agents/amazon-q/agent.ts'
import openai from '../../src/agents/openai/agent.ts'
import { summarizeToolCall } from '../../src/model/tool-summary.ts'
import { repair } from '../../src/openai.ts'
import { tempFolder } from '../support/codex-log.ts'
import { collectReads } from '../support/read-codex-log.ts'

/** `String` of it throws. */
const NO_TEXT = { toString: 1, valueOf: 1 }

async function readBy(agent: Agent, value: unknown) {
  const path = join(tempFolder(), 'a.json')
  writeFileSync(path, JSON.stringify(value))
  const reads = []
  for await (const batch of agent.read({ agent: agent.id, path, root: path })) reads.push(...batch)
  return collectReads(reads)
}

describe('values that cannot be converted to text are read', () => {
  test('as an id in a conversation of Amazon Q', async () => {
    const user = { additional_context: '', env_context: {}, content: { Prompt: { prompt: 'Hello' } } }
    const uses = [{ id: NO_TEXT, name: 'fs_read', args: {} }]
    const assistant = { ToolUse: { message_id: NO_TEXT, content: 'Hi.', tool_uses: uses } }
    const { messages, locators } = await readBy(amazonQ, { conversation_id: 'c', history: [{ user, assistant }] })
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'meta'])
    expect(locators).toHaveLength(messages.length)
  })

  test('as an id, a type or a part in an export', async () => {
    const claude = { sender: 'human', content: [{ type: 'text', text: 'Hello' }] }
    const called = { uuid: NO_TEXT, sender: 'assistant', content: [{ type: 'tool_use', name: 'look' }] }
    const chatgpt = { author: { role: 'user' }, content: { content_type: NO_TEXT, parts: ['Hello'] } }
    const parts = [{ role: 'user', content: [{ type: 'text', value: 'Hello' }] }]
    for (const record of [
      { chat_messages: [claude, called] },
      { mapping: { a: { message: chatgpt } } },
      { messages: [...parts, { role: 'tool', content: [[NO_TEXT]] }] },
    ])
      expect((await readBy(openai, [record])).messages.map(({ role }) => role)).toContain('user')
  })

  test('as an argument', () => {
    const gist = (json: object): string =>
      summarizeToolCall({ call_id: null, name: 'a', status: 'pending', arguments_json: json })
    expect(gist({ command: [NO_TEXT, 'ls', 3] })).toBe('ls 3')
    expect(gist({ operations: [{ path: NO_TEXT }, { path: 'a.ts' }] })).toBe('a.ts')
  })
})

test('calls without ids are distinguished, also in messages without ids', async () => {
  const turn = { sender: 'assistant', content: [{ type: 'tool_use', name: 'look', input: {} }] }
  const { messages } = await readBy(openai, [{ chat_messages: [turn, turn] }])
  const ids = messages.flatMap(({ tool_call }) => tool_call?.call_id ?? [])
  expect(new Set(ids).size).toBe(2)
})

test('a part whose type is an inherited property name has an unknown type', () => {
  for (const type of ['constructor', '__proto__', 'toString', 'hologram']) {
    const { messages, problems } = repair([{ role: 'user', content: [{ type }] }])
    expect(problems.map(({ code }) => code)).toEqual(['part_refused'])
    expect(messages).toEqual([{ role: 'user', content: [{ type: 'text', text: `[${type}]` }] }])
  }
})

/** Very long runs of one character. With quadratic time, none of these tests would end. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import cline from '../../src/agents/cline/agent.ts'
import openai from '../../src/agents/openai/agent.ts'
import { UserMessage } from '../../src/conversation.ts'
import { legalToolName, PROFILES } from '../../src/openai.ts'
import { assistant, header, tempFolder, tempLog, text } from '../support/codex-log.ts'
import { readAll, textsOfRole } from '../support/read-codex-log.ts'

const SPACES = ' '.repeat(1_000_000)

describe('a long run in the middle of a text takes linear time', () => {
  test('of a prompt, whose ends alone are trimmed', () => {
    const prompt = UserMessage.newPrompt(`${SPACES}a${SPACES}b${SPACES}`)
    expect(prompt.contentWithContext()).toBe(`a${SPACES}b`)
  })

  test('of a log that is one JSON document', async () => {
    const path = join(tempFolder(), 'rollout-2025-05-01-x.json')
    const item = { role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }
    writeFileSync(
      path,
      `{"session":{"id":"s","timestamp":"2025-05-01T00:00:00Z"},${SPACES}"items":[${JSON.stringify(item)}]}`,
    )
    expect(textsOfRole(await readAll(path), 'user')).toEqual(['Hello'])
  })

  test('of an answer that ends with a citation', async () => {
    const said = `a${SPACES}b\n<oai-mem-citation>c`
    expect(textsOfRole(await readAll(tempLog(text([header(), assistant(1, said)]))), 'assistant')).toEqual([said])
  })

  test('of a file that may hold messages', () => {
    const head = Buffer.from(`{"messages":${SPACES.slice(0, 60_000)}[{"role":"user","content":"Hello"}]}`)
    expect(openai.describe?.(head, 'a.json')).toMatchObject({ why: { en: expect.stringContaining('messages') } })
  })

  test('of tags that nobody closes', async () => {
    const folder = join(tempFolder(), 'saoudrizwan.claude-dev', 'tasks', '1767600000000')
    mkdirSync(folder, { recursive: true })
    const path = join(folder, 'api_conversation_history.json')
    const said = '<task>'.repeat(300_000)
    writeFileSync(path, JSON.stringify([{ role: 'user', content: said }]))
    const texts: (string | undefined)[] = []
    for await (const batch of cline.read({ agent: cline.id, path, root: path }))
      for (const one of batch)
        if (one.kind === 'message' && one.message.role === 'user') texts.push(one.message.segments[0]?.text)
    expect(texts).toEqual([said])
  })

  test('of the name of a tool', () => {
    expect(legalToolName(`_a${'_'.repeat(1_000_000)}b`, PROFILES.openai)).toMatch(/^a_{56}_[0-9a-f]{6}$/)
  })
})

test('very many calls and results without ids find each other', async () => {
  const turn = [
    { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
    { role: 'function', name: 'look', content: 'seen' },
  ]
  const path = join(tempFolder(), 'a.json')
  writeFileSync(path, JSON.stringify({ messages: Array.from({ length: 40_000 }, () => turn).flat() }))
  let orphans = 0
  for await (const batch of openai.read({ agent: openai.id, path, root: path }))
    for (const one of batch) if (one.kind === 'issue') orphans++
  expect(orphans).toBe(0)
})

/** Conversations become messages of the chat API, and come back. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { go, put } from './round.ts'

const chat = (messages: readonly object[]): string => JSON.stringify({ messages }, null, 1)

const messagesAt = (path: string): readonly unknown[] =>
  (JSON.parse(readFileSync(path, 'utf8')) as { readonly messages: readonly unknown[] }).messages

test('a message that Amazon Q takes for nothing said comes back from there', async () => {
  const messages = [{ role: 'system', content: '\u2028' }]
  const there = await go(await put('openai', chat(messages)), 'amazon-q')
  expect(messagesAt((await go(there, 'openai')).path)).toEqual(messages)
})

/** The section "使用例" of the specification, translated to TypeScript. */

import { expect, test } from 'vitest'
import { OpenAIMessage } from '../../src/openai.ts'

test('003: a text message', () => {
  const message = new OpenAIMessage({ role: 'user', content: 'Hello!' })
  expect(message.role).toBe('user')
  expect(message.content).toBe('Hello!')
  expect(message.text).toBe('Hello!')
  expect(JSON.stringify(message)).toBe('{"role":"user","content":"Hello!"}')
})

test('003: adding images', () => {
  const message = new OpenAIMessage({ role: 'user', content: 'Please analyze this image:' })
  message.addImageURL('http://example.com/image.jpg', 'high')
  expect(message.content).toEqual([
    { type: 'text', text: 'Please analyze this image:' },
    { type: 'image_url', image_url: { url: 'http://example.com/image.jpg', detail: 'high' } },
  ])
  expect(message.text).toBe('Please analyze this image:')
})

test('003: adding a file', () => {
  const uploadResult = { success: true, file: { id: 'file-abc123' } }
  const message = new OpenAIMessage({ role: 'user', content: 'Please analyze this document:' })
  message.addFileId(uploadResult.file.id)
  expect(message.content).toEqual([
    { type: 'text', text: 'Please analyze this document:' },
    { type: 'file', file: { file_id: 'file-abc123' } },
  ])
})

test('003: answering a tool call', () => {
  const asked = new OpenAIMessage({
    role: 'assistant',
    tool_calls: [{ id: 'call_12345', type: 'function', function: { name: 'get_database_tables', arguments: '{}' } }],
  })
  const [call] = asked.tool_calls ?? []
  if (call?.type !== 'function') throw new Error('the call is a function call')
  expect(JSON.parse(call.function.arguments)).toEqual({})

  const tables = { People: {}, Places: {} }
  const answer = new OpenAIMessage({
    role: 'tool',
    tool_call_id: call.id,
    content: Object.keys(tables).join(', '),
  })
  expect(answer.toJSON()).toEqual({ role: 'tool', tool_call_id: 'call_12345', content: 'People, Places' })
})

/** JSON replies are compressed for clients that accept it, and have the same content. Streams are not held back. */
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { KETTLE, sampleServer } from './sample-server.ts'
import { idOf, type Reply } from './test-server.ts'

const { served, get } = sampleServer()
const messages = `/api/sessions/${idOf(KETTLE)}/messages?limit=50`
const ask = (path: string, encoding: string): Promise<Response> =>
  served().ask(path, { headers: { 'accept-encoding': encoding } })

test('a long reply is smaller and equal', async () => {
  const response = await ask(messages, 'br, gzip')
  expect(response.headers.get('content-encoding')).toBe('gzip')
  expect(response.headers.get('vary')).toMatch(/accept-encoding/i)
  const bytes = Buffer.from(await response.arrayBuffer())
  const plain: Reply = await get(messages)
  expect(JSON.parse(gunzipSync(bytes).toString())).toEqual(plain)
  expect(bytes.length).toBeLessThan(JSON.stringify(plain).length / 2)
})

test.each([
  ['a client that does not accept it', messages, 'identity'],
  ['a short reply', '/api/health', 'gzip'],
  ['a stream', '/api/search?q=water&stream=true', 'gzip'],
  ['a download', `/api/sessions/${idOf(KETTLE)}/export?format=html`, 'gzip'],
])('nothing is compressed for %s', async (_, path, encoding) => {
  const response = await ask(path, encoding)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-encoding')).toBeNull()
  expect((await response.text()).length).toBeGreaterThan(10)
})

/** Tests that every message can be serialized, whatever its log contained. */
import { expect, test } from 'vitest'
import { type NormalizedMessage, serializeMessage } from './normalized.ts'

const raw = { event_type: null, payload_type: null, file_path: 'f', line_index: 1, session_id: 's' }
const message: NormalizedMessage = { id: 'i', timestamp: 't', role: 'meta', source_type: 'meta', segments: [], raw }

test('is one line of JSON', () => {
  const { json, cut } = serializeMessage({ ...message, metadata: { text: 'a\nb\u2028c' } })
  expect(json).not.toMatch(/[\r\n]/)
  expect(JSON.parse(json).metadata.text).toBe('a\nb\u2028c')
  expect(cut).toBe(false)
})

test('leaves out values nested too deeply, and reports it', () => {
  let deep: object = {}
  for (let level = 0; level < 50_000; level++) deep = { deep }
  const { json, cut } = serializeMessage({ ...message, metadata: { deep, kept: 1 } })
  expect(cut).toBe(true)
  expect(JSON.parse(json)).toMatchObject({ metadata: { kept: 1, too_deep: true } })
})

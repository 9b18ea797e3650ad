import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type { NormalizedMessage, Role, SourceType } from './normalized.ts'
import {
  addEstimates,
  byteLength,
  estimateMessage,
  NO_ESTIMATE,
  type TokenEstimate,
  toEstimatedTokens,
  tokensOfBytes,
} from './token-estimate.ts'
import type { addUsage, Usage } from './usage.ts'

const message = (role: Role, source_type: SourceType, more: Partial<NormalizedMessage>): NormalizedMessage => ({
  id: '1',
  timestamp: '2026-01-01T00:00:00.000Z',
  role,
  source_type,
  segments: [],
  raw: { event_type: null, payload_type: null, file_path: 'f', line_index: 1, session_id: 's' },
  ...more,
})
const text = (words: string) => [{ channel: 'input' as const, type: 'text' as const, format: 'x', text: words }]

describe('an estimate', () => {
  test.each([
    [0, 0],
    [19, 0],
    [20, 10],
    [59, 10],
    [60, 20],
    [400_000, 100_000],
  ])('%i bytes are %i tokens', (bytes, tokens) => {
    expect(tokensOfBytes(bytes)).toBe(tokens)
  })

  test('counts input and output by their bytes', () => {
    const user = message('user', 'message', { segments: text('質問'), metadata: { additional_context: 'abc' } })
    expect(estimateMessage(user)).toEqual({ kind: 'estimate', user_bytes: 9, assistant_bytes: 0 })
    expect(estimateMessage(message('assistant', 'message', { segments: text('four') }))).toMatchObject({
      assistant_bytes: 4,
    })
    const call = { call_id: 'c', name: 'fs_read', status: 'pending' as const }
    const args = { path: 'ab', deep: [1, null, { x: 'cd' }] }
    expect(
      estimateMessage(message('tool', 'tool_call', { tool_call: { ...call, arguments: '…', arguments_json: args } })),
    ).toMatchObject({ assistant_bytes: 2 + 1 + 1 + 2, user_bytes: 0 })
    const result = { ...call, status: 'success' as const, ...args, arguments_json: args, output: '{"a":"xyz"}' }
    expect(estimateMessage(message('tool', 'tool_result', { tool_call: result }))).toMatchObject({ user_bytes: 11 })
    const json = { ...result, output_json: { a: 'xyz', b: true } }
    expect(
      estimateMessage(message('tool', 'tool_result', { tool_call: json, metadata: { blocks: ['Json'] } })),
    ).toMatchObject({ user_bytes: 4, assistant_bytes: 0 })
  })

  test('omits messages that are copies', () => {
    for (const role of ['meta', 'system'] as const)
      expect(estimateMessage(message(role, 'meta', { segments: text('x'.repeat(100)) }))).toEqual(NO_ESTIMATE)
    const copy = message('user', 'message', { segments: text('x'.repeat(100)), metadata: { replayed: true } })
    expect(estimateMessage(copy)).toEqual(NO_ESTIMATE)
  })

  test('is marked as an estimate and rounded after summing', () => {
    const one: TokenEstimate = { kind: 'estimate', user_bytes: 19, assistant_bytes: 1 }
    expect(toEstimatedTokens(one)).toEqual({ user_tokens: 0, assistant_tokens: 0, total_tokens: 10, estimated: true })
    expect(toEstimatedTokens(addEstimates(one, one)).user_tokens).toBe(10)
  })

  test('is distinguishable from counted tokens', () => {
    expectTypeOf<TokenEstimate>().not.toExtend<Usage>()
    expectTypeOf<ReturnType<typeof toEstimatedTokens>>().not.toExtend<Usage>()
    expectTypeOf<Usage>().not.toExtend<Parameters<typeof addEstimates>[0]>()
    expectTypeOf<TokenEstimate>().not.toExtend<Parameters<typeof addUsage>[0]>()
  })

  test('measures as UTF-8 does', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (words) => byteLength(words) === Buffer.byteLength(words)))
  })

  test('accepts any depth', () => {
    const deep = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000))
    const tool_call = { call_id: 'c', name: 'x', status: 'pending' as const, arguments_json: deep }
    expect(estimateMessage(message('tool', 'tool_call', { tool_call })).assistant_bytes).toBe(1)
  })
})

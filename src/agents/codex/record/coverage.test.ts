/** Tests that the fixtures contain every known kind of record, so that a golden shows its result. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type Fields, fieldsOf, isObject, listOf, parseStructure } from '../../../lib/unknown-values.ts'
import { EVENT_TYPES } from './events.ts'
import { CODEX_ITEM_TYPES } from './items.ts'
import { detectShape, ENVELOPE_TYPES } from './records.ts'

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url))

/** Possible completed items of a paginated thread. */
const COMPLETED_KINDS = [
  'UserMessage',
  'AgentMessage',
  'Reasoning',
  'CommandExecution',
  'FileChange',
  'McpToolCall',
  'WebSearch',
  'ImageView',
  'ImageGeneration',
  'Plan',
  'ContextCompaction',
  'CollabAgentToolCall',
  'SubAgentActivity',
  'DynamicToolCall',
  'HookPrompt',
  'EnteredReviewMode',
  'ExitedReviewMode',
  'Extension',
]

const records: readonly Fields[] = readdirSync(FIXTURES)
  .filter((name) => /\.jsonl?$/.test(name))
  .flatMap((name) => recordsIn(readFileSync(join(FIXTURES, name), 'utf8')))

function recordsIn(text: string): readonly Fields[] {
  const items = fieldsOf(parseStructure(text))?.['items']
  return objectsIn(items ? listOf(items) : text.split('\n').map(parseStructure))
}

function objectsIn(values: readonly unknown[]): readonly Fields[] {
  return values.filter((value) => isObject(value))
}

const payloadsOf = (envelope: string): readonly Fields[] =>
  objectsIn(records.filter(({ type }) => type === envelope).map(({ payload }) => payload))

const without = (wanted: Iterable<string>, found: readonly unknown[]): readonly string[] =>
  [...wanted].filter((type) => !found.includes(type))

describe('fixtures hold', () => {
  it('every type of envelope', () => {
    const found = records.filter(({ payload }) => isObject(payload)).map(({ type }) => type)
    expect(without(ENVELOPE_TYPES, found)).toEqual([])
    expect(found.some((type) => !ENVELOPE_TYPES.has(String(type)))).toBe(true)
  })

  it('every type of item, and an unknown one', () => {
    const found = payloadsOf('response_item').map(({ type }) => type)
    expect(without(CODEX_ITEM_TYPES, found)).toEqual([])
    expect(found.some((type) => !CODEX_ITEM_TYPES.has(String(type)))).toBe(true)
  })

  it('every type of event, and an unknown one', () => {
    const found = payloadsOf('event_msg').map(({ type }) => type)
    expect(without(EVENT_TYPES, found)).toEqual([])
    expect(found.some((type) => typeof type === 'string' && !EVENT_TYPES.has(type))).toBe(true)
  })

  it('every kind of completed item, and an unknown one', () => {
    const found = objectsIn(payloadsOf('event_msg').map(({ item }) => item)).map(({ type }) => type)
    expect(without(COMPLETED_KINDS, found)).toEqual([])
    expect(found.some((kind) => !COMPLETED_KINDS.includes(String(kind)))).toBe(true)
  })

  it('every shape of record', () => {
    const shapes = ['envelope', 'header', 'legacy', 'exec', 'prompt', 'name', 'unknown']
    expect(
      without(
        shapes,
        records.map((record) => detectShape(record)),
      ),
    ).toEqual([])
  })
})

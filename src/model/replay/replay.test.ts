/** Laws of replay: no record twice, none lost, none out of order; each call with its own result. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NormalizedMessage, ToolCall } from '../normalized.ts'
import { SessionFactsCollector } from '../session-facts.ts'
import type { SourceExtension } from './extension.ts'
import { replayMessages } from './replay.ts'
import { type AnswerStep, callsOfAnswer, type ReplayItem, textsOfMessage } from './step.ts'
import { UniqueCallIds } from './unique-names.ts'

type TestMessage =
  | { readonly kind: 'user' | 'assistant' | 'system' | 'thought' | 'event' }
  | { readonly kind: 'call' | 'result'; readonly id: number }

const arbitraryMessages: fc.Arbitrary<readonly TestMessage[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constantFrom('user', 'assistant', 'system', 'thought', 'event') } as const),
    fc.record({ kind: fc.constantFrom('call', 'result'), id: fc.integer({ min: 0, max: 5 }) } as const),
  ),
  { maxLength: 40 },
)

function messageOf(one: TestMessage, at: number, extension: SourceExtension | undefined): NormalizedMessage {
  const role = one.kind === 'call' || one.kind === 'result' ? 'tool' : one.kind
  const id = `2026-01-02T03:04:05.000Z#${at + 1}`
  const base = { id, timestamp: '2026-01-02T03:04:05.000Z', segments: [] as NormalizedMessage['segments'] }
  const raw = { event_type: null, payload_type: null, file_path: 'x', line_index: at + 1, session_id: 's' }
  const x_conv = extension ? { x_conv: extension } : {}
  if (role === 'thought') {
    const metadata = { reasoning_text: `t${at}`, ...x_conv }
    return { ...base, role: 'meta', source_type: 'meta', raw, metadata }
  }
  if (role === 'event')
    return { ...base, role: 'meta', source_type: 'meta', raw, metadata: { event_kind: 'e', ...x_conv } }
  if ('id' in one) {
    const tool: ToolCall = {
      call_id: `c${one.id}`,
      name: 'n',
      ...(one.kind === 'call' ? { status: 'pending' } : { status: 'success', output: `o${at}` }),
    }
    const source_type = one.kind === 'call' ? 'tool_call' : 'tool_result'
    return { ...base, role: 'tool', source_type, raw, tool_call: tool, metadata: x_conv }
  }
  const segments = [{ channel: 'input', type: 'text', format: 'text', text: `w${at}` }] as const
  return { ...base, role: role as 'user', source_type: 'message', raw, segments, metadata: x_conv }
}

async function* listed<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}

async function replayed(messages: readonly NormalizedMessage[], withFacts = true): Promise<readonly ReplayItem[]> {
  const collector = new SessionFactsCollector()
  for (const message of messages) collector.add(message)
  const found: ReplayItem[] = []
  for await (const one of replayMessages(listed(messages), withFacts ? collector.facts() : undefined)) found.push(one)
  return found
}

const native = (plan: readonly TestMessage[]) => plan.map((one, at) => messageOf(one, at, { src: 'a', records: [at] }))

function recordsOf(found: readonly ReplayItem[]): readonly unknown[] {
  const seen = new Set<unknown>()
  return found.flatMap((one) => {
    if (one.kind === 'earlier') return one.records
    if (seen.has(one.group)) return []
    seen.add(one.group)
    return one.group.records
  })
}

const answersIn = (found: readonly ReplayItem[]): readonly AnswerStep[] =>
  found.flatMap((one) => (one.kind === 'answer' ? [one] : []))

describe('a replay', () => {
  it('contains every record once, in source order', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryMessages, async (plan) => {
        const found = await replayed(native(plan))
        expect(recordsOf(found)).toEqual(plan.map((_, at) => at))
      }),
    )
  })

  it('contains all texts, and each result with its call or alone', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryMessages, async (plan) => {
        const messages = native(plan)
        const found = await replayed(messages)
        const words = found.flatMap((one) => {
          if (one.kind === 'prompt' || one.kind === 'instruction') return textsOfMessage(one.message)
          if (one.kind !== 'answer') return []
          return one.said.flatMap((content) => (content.kind === 'words' ? textsOfMessage(content.message) : []))
        })
        expect([...words].sort()).toEqual(messages.flatMap(textsOfMessage).sort())
        const results = found.flatMap((one) => {
          if (one.kind === 'orphan') return [one.result]
          return one.kind === 'answer' ? callsOfAnswer(one).flatMap(({ result }) => result ?? []) : []
        })
        expect(results.length).toBe(plan.filter(({ kind }) => kind === 'result').length)
        for (const answer of answersIn(found))
          for (const { tool, message, result } of callsOfAnswer(answer)) {
            if (!result) continue
            expect(result.tool.call_id).toBe(tool.call_id)
            expect(result.message.raw.line_index).toBeGreaterThan(message.raw.line_index)
          }
      }),
    )
  })

  it('finds the same groups again in what was written with extensions', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryMessages, async (plan) => {
        const found = await replayed(native(plan))
        const again = await replayed(written(found))
        expect(recordsOf(again)).toEqual(recordsOf(found))
        expect(again.every((one) => one.kind === 'earlier' || one.group.fits || one.group.records.length === 0)).toBe(
          true,
        )
      }),
    )
  })

  it('rejects elements that were changed, removed or added', async () => {
    const plan: readonly TestMessage[] = [
      { kind: 'user' },
      { kind: 'call', id: 1 },
      { kind: 'result', id: 1 },
      { kind: 'user' },
    ]
    const complete = written(await replayed(native(plan)))
    const fits = async (messages: readonly NormalizedMessage[]) =>
      (await replayed(messages)).flatMap((one) => (one.kind === 'answer' ? [one.group.fits] : []))
    expect(await fits(complete)).toEqual([true])
    expect(await fits(complete.filter(({ source_type }) => source_type !== 'tool_result'))).toEqual([false])
    const changed = complete.map((one) =>
      one.source_type === 'tool_result' ? with_(one, { src: 'a', part: 2, stale: true }) : one,
    )
    expect(await fits(changed)).toEqual([false])
    expect(await fits(complete.map((one) => with_(one, undefined)))).toEqual([false])
  })

  it('omits rolled-back turns with their reasoning, and restarts after a compaction', async () => {
    const plan: readonly TestMessage[] = [
      { kind: 'user' },
      { kind: 'assistant' },
      { kind: 'user' },
      { kind: 'thought' },
      { kind: 'assistant' },
      { kind: 'event' },
      { kind: 'user' },
    ]
    const messages = native(plan)
    const back = messages.map((one, at) =>
      at === 5
        ? { ...one, metadata: { ...one.metadata, rolled_back: [messages[2]?.id ?? '', messages[4]?.id ?? ''] } }
        : one,
    )
    const found = await replayed(back)
    expect(found.map(({ kind }) => kind)).toEqual(['opening', 'prompt', 'answer', 'prompt'])
    expect(recordsOf(found)).toEqual([0, 1, 2, 3, 4, 5, 6])
    const replacement = messageOf({ kind: 'user' }, 90, undefined)
    const compacted = messages.map((one, at) =>
      at === 5
        ? { ...one, metadata: { kind: 'compaction', x_conv: { src: 'a', records: [5], replacement: [replacement] } } }
        : one,
    )
    const rest = await replayed(compacted)
    expect(rest.map(({ kind }) => kind)).toEqual([...Array(6).fill('earlier'), 'opening', 'prompt', 'prompt'])
    expect(recordsOf(rest)).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect((await replayed(compacted, false)).map(({ kind }) => kind)).toEqual([
      'opening',
      'prompt',
      'answer',
      'prompt',
      'answer',
      'prompt',
    ])
  })
})

function with_(message: NormalizedMessage, extension: SourceExtension | undefined): NormalizedMessage {
  const { x_conv, ...metadata } = message.metadata ?? {}
  return { ...message, metadata: { ...metadata, ...(extension && { x_conv: extension }) } }
}

/** Attaches records as a writer does: the records to the first element of a group, the part number to the others. */
function written(found: readonly ReplayItem[]): readonly NormalizedMessage[] {
  const elements = new Map<unknown, NormalizedMessage[]>()
  for (const one of found) {
    if (one.kind === 'earlier') continue
    const list = elements.get(one.group) ?? []
    elements.set(one.group, list)
    if (one.kind === 'opening') list.push(messageOf({ kind: 'event' }, 0, undefined))
    else if (one.kind === 'prompt' || one.kind === 'instruction') list.push(one.message)
    else if (one.kind === 'orphan') list.push(one.result.message)
    else if (one.kind === 'answer') {
      for (const content of one.said) list.push(content.kind === 'call' ? content.call.message : content.message)
      for (const { result } of callsOfAnswer(one)) if (result) list.push(result.message)
    }
  }
  return [...elements].flatMap(([group, list]) => {
    const { records } = group as { readonly records: readonly unknown[] }
    return list.map((message, at) =>
      with_(message, at === 0 ? { src: 'a', records, parts: list.length } : { src: 'a', part: at + 1 }),
    )
  })
}

it('an element may have more records than a call accepts arguments', async () => {
  const records = Array.from({ length: 200_000 }, (_, at) => at)
  const content = [messageOf({ kind: 'user' }, 0, { src: 'codex', records })]
  const counts = []
  for await (const one of replayMessages(listed(content)))
    if (one.kind === 'prompt') counts.push(one.group.records.length)
  expect(counts).toEqual([records.length])
})

it('very many calls with one id, answered or not, take no more time than others', async () => {
  const calls = Array.from({ length: 50_000 }, (_, at) => messageOf({ kind: 'call', id: 1 }, at, undefined))
  const results = Array.from({ length: 20_000 }, (_, at) => messageOf({ kind: 'result', id: 1 }, at, undefined))
  let answered = 0
  for await (const one of replayMessages(listed([...calls, ...results])))
    if (one.kind === 'answer') for (const call of callsOfAnswer(one)) if (call.result) answered++
  expect(answered).toBe(results.length)
  const ids = new UniqueCallIds(64, (text) => text)
  expect(new Set(calls.map(({ tool_call }) => ids.take(tool_call?.call_id ?? null))).size).toBe(calls.length)
})

it('rolled-back ranges may nest and touch', () => {
  const collector = new SessionFactsCollector()
  const lines = Array.from({ length: 12 }, (_, at) => messageOf({ kind: 'user' }, at, undefined))
  const back = (at: number, removed: readonly number[]): NormalizedMessage => ({
    ...messageOf({ kind: 'event' }, at, undefined),
    metadata: { rolled_back: removed.map((one) => lines[one]?.id ?? '') },
  })
  for (const one of [
    ...lines.slice(0, 4),
    back(4, [3]),
    lines[5],
    back(6, [1, 2]),
    ...lines.slice(7, 10),
    back(10, [9]),
  ])
    if (one) collector.add(one)
  const facts = collector.facts()
  const removed = lines.flatMap((one, at) => (facts.isRolledBack(one) ? at : []))
  expect(removed).toEqual([1, 2, 3, 4, 5, 9])
})

/** Fits a smaller window: complete turns, calls with their results, and facts instead of the rest. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type TrimResult, trimConversation } from '../../src/convert/trim.ts'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import { byteLength, estimateMessage, tokensOfBytes } from '../../src/model/token-estimate.ts'
import { answer, call, message, prompt, result, textOf } from './test-messages.ts'

interface Result extends Omit<TrimResult, 'messages'> {
  readonly messages: readonly NormalizedMessage[]
}

async function trimmed(messages: readonly NormalizedMessage[], maxTokens: number): Promise<Result> {
  async function* open(): AsyncGenerator<NormalizedMessage> {
    yield* messages
  }
  const { messages: given, ...rest } = await trimConversation(open, maxTokens)
  const all: NormalizedMessage[] = []
  for await (const one of given) all.push(one)
  return { messages: all, ...rest }
}

const isSummary = ({ metadata }: NormalizedMessage): boolean => metadata?.['trimmed_turns'] !== undefined

const tokensOf = (messages: readonly NormalizedMessage[]): number =>
  tokensOfBytes(
    messages.reduce((sum, one) => {
      const { user_bytes, assistant_bytes } = estimateMessage(one)
      return sum + user_bytes + assistant_bytes + (one.role === 'system' ? byteLength(textOf(one)) : 0)
    }, 0),
  )

const long = (tokens: number): string => 'word '.repeat((tokens * 4) / 5)
const turn = (name: string, tokens: number): readonly NormalizedMessage[] => [prompt(`${name}?`), answer(long(tokens))]

describe('a conversation', () => {
  test('that fits stays as it is', async () => {
    const log = [...turn('a', 100), ...turn('b', 100)]
    const { messages, ...rest } = await trimmed(log, 1000)
    expect(messages).toEqual(log)
    expect(rest).toEqual({ turns: { kept: 2, cut: 0 }, tokens: { all: 200, kept: 200 }, tooLarge: false })
  })

  test('loses complete turns from its beginning', async () => {
    const log = [...turn('a', 400), ...turn('b', 400), ...turn('c', 400)]
    const { messages, turns, tooLarge } = await trimmed(log, 1050)
    expect(messages.slice(1)).toEqual(log.slice(2))
    expect({ turns, tooLarge }).toEqual({ turns: { kept: 2, cut: 1 }, tooLarge: false })
    expect(messages[0]).toMatchObject({
      role: 'system',
      source_type: 'message',
      metadata: { kind: 'summary', trimmed_turns: 1 },
    })
    expect(textOf(messages[0] ?? message())).toMatch(
      /^The beginning of this conversation was left out: 1 turn, 2 messages, from .*\nAsked:\n- a\?$/,
    )
  })

  test('keeps its headers', async () => {
    const header = message({ role: 'meta', source_type: 'session' })
    const { messages } = await trimmed([header, ...turn('a', 400), ...turn('b', 400)], 600)
    expect(messages[0]).toBe(header)
    expect(messages.map(isSummary)).toEqual([false, true, false, false])
  })

  test('keeps the turn of a call whose result comes in a later one', async () => {
    const log = [
      ...turn('a', 400),
      prompt('b?'),
      call('c1', 'shell', { command: ['sleep', '9'] }),
      prompt('are you there?'),
      result('c1', long(300)),
      answer('yes'),
    ]
    const { messages } = await trimmed(log, 600)
    expect(messages.slice(1)).toEqual(log.slice(2))
    const large = await trimmed(log, 200)
    expect(large.messages.slice(1)).toEqual(log.slice(2))
    expect(large.tooLarge).toBe(true)
  })

  test('whose last turn alone is too large says so, and keeps it', async () => {
    const log = [...turn('a', 100), ...turn('b', 900)]
    const { messages, tooLarge, turns } = await trimmed(log, 500)
    expect({ tooLarge, turns }).toEqual({ tooLarge: true, turns: { kept: 1, cut: 1 } })
    expect(messages.slice(1)).toEqual(log.slice(2))
    expect(await trimmed(log.slice(2), 500)).toMatchObject({
      tooLarge: true,
      turns: { kept: 1, cut: 0 },
      messages: log.slice(2),
    })
  })

  test('does not count rolled-back turns', async () => {
    const back = turn('gone', 900)
    const log = [
      ...turn('a', 100),
      ...back,
      message({ role: 'meta', source_type: 'meta', metadata: { rolled_back: back.map(({ id }) => id) } }),
    ]
    expect(await trimmed(log, 300)).toMatchObject({ turns: { cut: 0 }, messages: log })
  })

  test('with only events left is counted by them', async () => {
    const event = (kind: string, text: string) =>
      message({
        role: 'meta',
        source_type: 'meta',
        segments: [{ channel: 'input', type: 'text', format: kind, text }],
        metadata: { event_kind: kind },
      })
    const log = [
      event('user_message', 'a?'),
      event('agent_message', long(400)),
      event('user_message', 'b?'),
      event('agent_message', long(400)),
    ]
    const { messages, turns } = await trimmed(log, 600)
    expect(turns).toEqual({ kept: 1, cut: 1 })
    expect(messages.slice(1)).toEqual(log.slice(2))
  })
})

describe('the summary', () => {
  const summaryOf = async (cut: readonly NormalizedMessage[], maxTokens = 4000): Promise<string> => {
    const { messages } = await trimmed([prompt('start'), ...cut, ...turn('big', 4000), ...turn('now', 100)], maxTokens)
    return textOf(messages.find(isSummary) ?? message())
  }

  test('lists files, commands and their results', async () => {
    const patch = '*** Begin Patch\n*** Add File: a.md\n+x\n*** Update File: b.md\n*** End Patch'
    const text = await summaryOf([
      call('1', 'shell', { command: ['bash', '-lc', 'npm test'] }),
      result('1', 'no', { status: 'error', exit_code: 1 }),
      call('2', 'execute_bash', { command: 'ls -l\n  src' }),
      result('2', 'ok'),
      call('3', 'fs_write', { command: 'create', path: 'c.md', file_text: 'x' }),
      call('4', 'apply_patch', {}, { input: patch }),
      call('5', 'shell', { command: ['apply_patch', patch] }),
    ])
    expect(text).toContain('\nFiles:\n- c.md (added)\n- a.md (added)\n- b.md (updated)\n')
    expect(text).toContain('\nCommands:\n- npm test (exit 1)\n- ls -l src\n')
    expect(text).toContain('\nAsked:\n- start\n- big?')
  })

  test('lists open tasks', async () => {
    const plan = (...statuses: readonly string[]) =>
      call('p', 'update_plan', { plan: statuses.map((status, at) => ({ step: `step ${at + 1}`, status })) })
    const text = await summaryOf([
      plan('in_progress', 'pending', 'pending'),
      plan('completed', 'in_progress', 'pending'),
    ])
    expect(text).toContain('\nStill to do:\n- step 2 (in progress)\n- step 3\n')
    const list = await summaryOf([
      call('1', 'todo_list', { command: 'create', tasks: ['one', 'two', 'three'], todo_list_description: 'all' }),
      call('2', 'todo_list', { command: 'add', new_tasks: ['zero'], insert_indices: [0] }),
      call('3', 'todo_list', { command: 'complete', completed_indices: [1] }),
      call('4', 'todo_list', { command: 'remove', remove_indices: [3] }),
    ])
    expect(list).toContain('\nStill to do:\n- zero\n- two\n')
  })

  test('contains an earlier summary', async () => {
    const earlier = message({
      role: 'system',
      segments: [{ channel: 'system', type: 'text', format: 'latest_summary', text: 'We built a boat.' }],
      metadata: { kind: 'summary' },
    })
    expect(await summaryOf([earlier])).toContain('\nSummary of what was before that:\nWe built a boat.\n')
  })

  test('lists the latest if there is no space for all', async () => {
    const cut = Array.from({ length: 500 }, (_, at) => call(`${at}`, 'shell', { command: ['echo', `number ${at}`] }))
    const text = await summaryOf(cut, 300)
    expect(text).toMatch(/Commands:\n- \(\d+ earlier\)\n(?:- echo number \d+\n)*- echo number 499\n/)
    expect(text).not.toContain('number 100\n')
  })
})

describe('laws', () => {
  const size = fc.integer({ min: 1, max: 300 })
  const step = fc.oneof(
    size.map((tokens) => ({ kind: 'ask' as const, tokens })),
    size.map((tokens) => ({ kind: 'say' as const, tokens })),
    fc.nat(5).map((call) => ({ kind: 'call' as const, call })),
    fc.record({ kind: fc.constant('result' as const), call: fc.nat(5), tokens: size }),
  )
  /** Any order: results without calls, calls without results, repeated ids. */
  const log = fc.array(step, { maxLength: 60 }).map((steps) =>
    steps.map((one) => {
      if (one.kind === 'ask') return prompt(long(one.tokens))
      if (one.kind === 'say') return answer(long(one.tokens))
      if (one.kind === 'call') return call(`c${one.call}`, 'shell', { command: ['ls', `${one.call}`] })
      return result(`c${one.call}`, long(one.tokens))
    }),
  )

  test('complete turns at the end stay; the result fits or says that it does not', async () => {
    await fc.assert(
      fc.asyncProperty(log, fc.integer({ min: 100, max: 4000 }), async (messages, maxTokens) => {
        const { messages: all, tooLarge, turns, tokens } = await trimmed(messages, maxTokens)
        const kept = all.filter((one) => !isSummary(one))
        expect(kept).toEqual(messages.slice(messages.length - kept.length))
        expect(all.length - kept.length).toBe(turns.cut > 0 ? 1 : 0)
        if (turns.cut > 0) expect(kept[0]?.role).toBe('user')
        if (!tooLarge) expect(tokensOf(all)).toBeLessThanOrEqual(maxTokens)
        else expect(tokens.kept + 60).toBeGreaterThan(maxTokens)
        expect(turns.cut === 0 && !tooLarge).toBe(tokens.all <= maxTokens)
      }),
      { numRuns: 300 },
    )
  })

  test('no result stays without its call', async () => {
    await fc.assert(
      fc.asyncProperty(log, fc.integer({ min: 100, max: 2000 }), async (messages, maxTokens) => {
        const { messages: all } = await trimmed(messages, maxTokens)
        expect(orphans(all)).toEqual(orphans(messages).filter((id) => all.some((one) => one.id === id)))
      }),
      { numRuns: 300 },
    )
  })

  /** Results without an earlier open call. */
  function orphans(messages: readonly NormalizedMessage[]): readonly string[] {
    const open = new Set<string | null>()
    return messages.flatMap(({ id, source_type, tool_call }) => {
      if (source_type === 'tool_call') open.add(tool_call?.call_id ?? null)
      return source_type === 'tool_result' && !open.delete(tool_call?.call_id ?? null) ? [id] : []
    })
  }
})

test('a command that is not a list of words is handled', async () => {
  const unusual = call('c', 'shell', { command: [{ toString: 1, valueOf: 1 }, 'ls'] })
  const { messages } = await trimmed([...turn('a', 400), unusual, ...turn('b', 400)], 600)
  expect(messages.filter(isSummary).map(textOf).join()).toContain('- ls')
})

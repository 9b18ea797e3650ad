/** Conversations of any agent as states that Amazon Q CLI loads, and how its requirements are met. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { UserMessage } from '../../src/conversation/message.ts'
import type { HistoryEntry } from '../../src/conversation/record.ts'
import {
  answerIn,
  assistantCalls,
  assistantText,
  convertToState,
  type Message,
  promptIn,
  result,
  resultsIn,
  shapes,
  user,
  usesIn,
} from './chat-as-state.ts'
import { messagesOf } from './conversions.ts'

describe('turns', () => {
  it('pairs prompts with answers and results with the uses before them', async () => {
    const found = await convertToState([
      { role: 'system', content: 'Be brief.' },
      user('What is here?'),
      assistantCalls('a', 'b'),
      result('b', 'two'),
      result('a', 'one'),
      assistantText('One and two.'),
    ])
    expect(shapes(found)).toEqual(['Prompt ToolUse', 'ToolUseResults Response'])
    const [first, second] = found.entries
    expect(first?.user.additional_context).toContain('Be brief.')
    expect(first?.user.additional_context).toMatch(/^--- CONTEXT ENTRY BEGIN ---\n/)
    expect(resultsIn(second?.user as UserMessage).map(({ tool_use_id, content }) => [tool_use_id, content])).toEqual([
      ['a', [{ Text: 'one' }]],
      ['b', [{ Text: 'two' }]],
    ])
    expect(usesIn(first as HistoryEntry)[0]).toEqual({
      id: 'a',
      name: 'ls',
      orig_name: 'ls',
      args: { path: 'a' },
      orig_args: { path: 'a' },
    })
    expect(found.state.valid_history_range).toEqual([0, 2])
    expect(found.state.transcript.toArray()).toEqual([
      '> What is here?',
      '\n[Tool uses: ls,ls]',
      'One and two.\n[Tool uses: none]',
    ])
    expect(found.repairs).toEqual([])
  })

  it('begins with a prompt, joins what follows without an answer, and ends with an answer', async () => {
    const found = await convertToState([
      assistantText('Hello.'),
      assistantText('Well?'),
      user('One'),
      user('Two'),
      assistantText('Yes.'),
      user('Three'),
    ])
    expect(found.entries.map(({ user }) => promptIn(user))).toEqual([
      '(start of imported conversation)',
      'One\n\nTwo',
      'Three',
    ])
    expect(found.entries.map(answerIn)).toEqual(['Hello.\n\nWell?', 'Yes.', '(no response recorded)'])
    expect(found.repairs).toHaveLength(2)
  })

  it('puts results and a prompt into one message that does not read as a cancellation', async () => {
    const found = await convertToState([
      user('Go'),
      assistantCalls('a'),
      result('a', 'done'),
      user('And now?'),
      assistantText('Now rest.'),
    ])
    expect(shapes(found)).toEqual(['Prompt ToolUse', 'CancelledToolUses Response'])
    expect(promptIn(found.entries[1]?.user as UserMessage)).toBe('And now?')
    const reported = (await messagesOf(found)).find(({ source_type }) => source_type === 'tool_result')
    expect(reported?.tool_call).toMatchObject({ output: 'done', status: 'success' })
  })

  it('answers unanswered calls as the program does, except the last ones', async () => {
    const found = await convertToState([
      user('Go'),
      assistantCalls('a', 'b'),
      result('a', 'done'),
      assistantText('Hm.'),
      user('Again'),
      assistantCalls('c'),
    ])
    expect(resultsIn(found.entries[1]?.user as UserMessage)).toEqual([
      { tool_use_id: 'a', content: [{ Text: 'done' }], status: 'Success' },
      { tool_use_id: 'b', content: [{ Text: 'Tool use was cancelled by the user' }], status: 'Error' },
    ])
    expect(shapes(found).at(-1)).toBe('Prompt ToolUse')
    const dropped = await convertToState([user('Go'), assistantCalls('a'), user('Stop'), assistantText('Stopped.')])
    expect(shapes(dropped)).toEqual(['Prompt ToolUse', 'CancelledToolUses Response'])
  })

  it('writes a result without its call as text', async () => {
    const found = await convertToState([
      user('Go'),
      assistantText('Gone.'),
      result('x', 'late'),
      assistantText('Thanks.'),
    ])
    expect(promptIn(found.entries[1]?.user as UserMessage)).toBe('[tool result x]\nlate')
  })
})

describe('limits', () => {
  it('cuts long texts with the mark of the program, and says so', async () => {
    const long = 'あ'.repeat(140_000)
    const found = await convertToState([user(long), assistantCalls('a'), result('a', long), assistantText(long)])
    const cut = promptIn(found.entries[0]?.user as UserMessage) ?? ''
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(400_000)
    expect(cut).toMatch(/^あ+\.\.\.content truncated due to length$/)
    expect(resultsIn(found.entries[1]?.user as UserMessage)[0]?.content).toEqual([{ Text: cut }])
    expect(answerIn(found.entries[1] as HistoryEntry)).toBe(long)
    expect(found.losses).toContain('a prompt was cut to 400,000 bytes')
    expect(found.losses).toContain('a result was cut to 400,000 bytes')
  })

  it('keeps ten images of the four formats; others become notes', async () => {
    const image = (url: string) => ({ type: 'image_url', image_url: { url } })
    const png = `data:image/png;base64,${Buffer.from('png').toString('base64')}`
    const found = await convertToState([
      user([
        { type: 'text', text: 'See:' },
        image('data:image/tiff;base64,AAAA'),
        image('https://example.com/a.png'),
        ...Array(11).fill(image(png)),
      ]),
      assistantText('Seen.'),
    ])
    const images = found.entries[0]?.user.images
    expect(images).toHaveLength(10)
    expect(images?.[0]).toEqual({ format: 'Png', source: { Bytes: [...Buffer.from('png')] } })
    expect(promptIn(found.entries[0]?.user as UserMessage)).toBe(
      'See:\n\n[image]\n\n[image: https://example.com/a.png]\n\n[image]',
    )
    expect(found.losses).toContain('an image that the program cannot hold became a note')
  })

  it('drops the oldest pairs above 4,997, up to a prompt', async () => {
    const turns = Array.from({ length: 2500 }, (_, n) => [
      user(`p${n}`),
      assistantCalls(`c${n}`),
      result(`c${n}`, 'ok'),
      assistantText(`a${n}`),
    ])
    const found = await convertToState(turns.flat())
    expect(found.entries).toHaveLength(4996)
    expect(promptIn(found.entries[0]?.user as UserMessage)).toBe('p2')
    expect(found.state.valid_history_range).toEqual([0, 4996])
    expect(found.losses.some((what) => what.startsWith('the 4 oldest entries'))).toBe(true)
    expect(found.sidecars[0]).toMatchObject({
      at: 1,
      extension: { records: [user('p2'), expect.anything(), expect.anything()] },
    })
  })

  it('gives tools and calls valid names, and each call a unique one', async () => {
    const call = (id: string, name: string, text: string): Message => ({
      role: 'assistant',
      content: '',
      tool_calls: [{ id, type: 'function', function: { name, arguments: text } }],
    })
    const found = await convertToState([
      user('Go'),
      call('a', 'my-tool', '{"n":12345678901234567890,"f":1.0}'),
      result('a', '1'),
      call('a', '3d_view', 'no json'),
      result('a', '2'),
      assistantText('Done.'),
    ])
    expect(found.entries.flatMap(usesIn).map(({ id, name, args }) => [id, name, args])).toEqual([
      ['a', 'my_tool', { n: expect.objectContaining({ text: '12345678901234567890' }), f: expect.anything() }],
      ['a~2', 't_3d_view', { _raw: 'no json' }],
    ])
    expect(resultsIn(found.entries[2]?.user as UserMessage)[0]?.tool_use_id).toBe('a~2')
    expect(readFileSync(found.path, 'utf8')).toContain('"args":{"n":12345678901234567890,"f":1.0}')
  })
})

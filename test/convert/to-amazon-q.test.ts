/** Conversations of any origin as states that Amazon Q CLI loads: what the program demands, and how it is met. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readState } from '../../src/conversation/codec/read.ts'
import type { UserMessage } from '../../src/conversation/message.ts'
import type { HistoryEntry } from '../../src/conversation/record.ts'
import type { ConversationState } from '../../src/conversation/state.ts'
import { agentOf, go, messagesOf, put, type Trip } from './round.ts'

type Message = Readonly<Record<string, unknown>>

const user = (content: unknown): Message => ({ role: 'user', content })
const says = (content: string): Message => ({ role: 'assistant', content })
const calls = (...ids: string[]): Message => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'ls', arguments: `{"path":"${id}"}` } })),
})
const result = (tool_call_id: string, content: string): Message => ({ role: 'tool', tool_call_id, content })

interface Written extends Trip {
  readonly state: ConversationState
  readonly entries: readonly HistoryEntry[]
  readonly repairs: readonly string[]
  readonly losses: readonly string[]
}

/** As the program itself reads it. */
async function written(messages: readonly Message[], more = {}): Promise<Written> {
  const trip = await go(await put('openai', JSON.stringify({ messages })), 'amazon-q', more)
  const read = readState(readFileSync(trip.path, 'utf8'), { mode: 'strict' })
  if (!read.ok) throw new Error(read.reason)
  const { repairs, losses } = trip.report
  return {
    ...trip,
    state: read.value,
    entries: read.value.history.toArray(),
    repairs: repairs.map(({ what }) => what),
    losses: losses.map(({ what }) => what),
  }
}

const shapes = ({ entries }: Written): readonly string[] =>
  entries.map(({ user, assistant }) => `${Object.keys(user.content)[0]} ${Object.keys(assistant)[0]}`)
const promptIn = ({ content }: UserMessage): string | null | undefined =>
  'Prompt' in content
    ? content.Prompt.prompt
    : 'CancelledToolUses' in content
      ? content.CancelledToolUses.prompt
      : undefined
const resultsIn = ({ content }: UserMessage) =>
  'Prompt' in content
    ? []
    : ('ToolUseResults' in content ? content.ToolUseResults : content.CancelledToolUses).tool_use_results
const answerIn = ({ assistant }: HistoryEntry): string =>
  'Response' in assistant ? assistant.Response.content : assistant.ToolUse.content
const usesIn = ({ assistant }: HistoryEntry) => ('ToolUse' in assistant ? assistant.ToolUse.tool_uses : [])

describe('turns', () => {
  it('pairs prompts with answers and results with the uses before them', async () => {
    const found = await written([
      { role: 'system', content: 'Be brief.' },
      user('What is here?'),
      calls('a', 'b'),
      result('b', 'two'),
      result('a', 'one'),
      says('One and two.'),
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
    const found = await written([says('Hello.'), says('Well?'), user('One'), user('Two'), says('Yes.'), user('Three')])
    expect(found.entries.map(({ user }) => promptIn(user))).toEqual([
      '(start of imported conversation)',
      'One\n\nTwo',
      'Three',
    ])
    expect(found.entries.map(answerIn)).toEqual(['Hello.\n\nWell?', 'Yes.', '(no response recorded)'])
    expect(found.repairs).toHaveLength(2)
  })

  it('puts results and a prompt into one message, which is no cancellation to whoever reads it', async () => {
    const found = await written([user('Go'), calls('a'), result('a', 'done'), user('And now?'), says('Now rest.')])
    expect(shapes(found)).toEqual(['Prompt ToolUse', 'CancelledToolUses Response'])
    expect(promptIn(found.entries[1]?.user as UserMessage)).toBe('And now?')
    const told = (await messagesOf(found)).find(({ source_type }) => source_type === 'tool_result')
    expect(told?.tool_call).toMatchObject({ output: 'done', status: 'success' })
  })

  it('answers calls that nobody answered as the program does, and leaves the last ones to it', async () => {
    const found = await written([
      user('Go'),
      calls('a', 'b'),
      result('a', 'done'),
      says('Hm.'),
      user('Again'),
      calls('c'),
    ])
    expect(resultsIn(found.entries[1]?.user as UserMessage)).toEqual([
      { tool_use_id: 'a', content: [{ Text: 'done' }], status: 'Success' },
      { tool_use_id: 'b', content: [{ Text: 'Tool use was cancelled by the user' }], status: 'Error' },
    ])
    expect(shapes(found).at(-1)).toBe('Prompt ToolUse')
    const dropped = await written([user('Go'), calls('a'), user('Stop'), says('Stopped.')])
    expect(shapes(dropped)).toEqual(['Prompt ToolUse', 'CancelledToolUses Response'])
  })

  it('tells a result without its call in words', async () => {
    const found = await written([user('Go'), says('Gone.'), result('x', 'late'), says('Thanks.')])
    expect(promptIn(found.entries[1]?.user as UserMessage)).toBe('[tool result x]\nlate')
  })
})

describe('limits', () => {
  it('cuts long texts with the mark of the program, and says so', async () => {
    const long = 'あ'.repeat(140_000)
    const found = await written([user(long), calls('a'), result('a', long), says(long)])
    const cut = promptIn(found.entries[0]?.user as UserMessage) ?? ''
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(400_000)
    expect(cut).toMatch(/^あ+\.\.\.content truncated due to length$/)
    expect(resultsIn(found.entries[1]?.user as UserMessage)[0]?.content).toEqual([{ Text: cut }])
    expect(answerIn(found.entries[1] as HistoryEntry)).toBe(long)
    expect(found.losses).toContain('a prompt was cut to 400,000 bytes')
    expect(found.losses).toContain('a result was cut to 400,000 bytes')
  })

  it('takes ten images of the four formats; others become notes', async () => {
    const image = (url: string) => ({ type: 'image_url', image_url: { url } })
    const png = `data:image/png;base64,${Buffer.from('png').toString('base64')}`
    const found = await written([
      user([
        { type: 'text', text: 'See:' },
        image('data:image/tiff;base64,AAAA'),
        image('https://example.com/a.png'),
        ...Array(11).fill(image(png)),
      ]),
      says('Seen.'),
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
      calls(`c${n}`),
      result(`c${n}`, 'ok'),
      says(`a${n}`),
    ])
    const found = await written(turns.flat())
    expect(found.entries).toHaveLength(4996)
    expect(promptIn(found.entries[0]?.user as UserMessage)).toBe('p2')
    expect(found.state.valid_history_range).toEqual([0, 4996])
    expect(found.losses.some((what) => what.startsWith('the 4 oldest entries'))).toBe(true)
    expect(found.sidecars[0]).toMatchObject({
      at: 1,
      extension: { records: [user('p2'), expect.anything(), expect.anything()] },
    })
  })

  it('gives tools and calls names that the program takes, and each call one of its own', async () => {
    const call = (id: string, name: string, text: string): Message => ({
      role: 'assistant',
      content: '',
      tool_calls: [{ id, type: 'function', function: { name, arguments: text } }],
    })
    const found = await written([
      user('Go'),
      call('a', 'my-tool', '{"n":12345678901234567890,"f":1.0}'),
      result('a', '1'),
      call('a', '3d_view', 'no json'),
      result('a', '2'),
      says('Done.'),
    ])
    expect(found.entries.flatMap(usesIn).map(({ id, name, args }) => [id, name, args])).toEqual([
      ['a', 'my_tool', { n: expect.objectContaining({ text: '12345678901234567890' }), f: expect.anything() }],
      ['a~2', 't_3d_view', { _raw: 'no json' }],
    ])
    expect(resultsIn(found.entries[2]?.user as UserMessage)[0]?.tool_use_id).toBe('a~2')
    expect(readFileSync(found.path, 'utf8')).toContain('"args":{"n":12345678901234567890,"f":1.0}')
  })
})

describe('the way back', () => {
  it('leaves out what nobody said, with and without records', async () => {
    const messages = [says('Hello.'), user('Go'), calls('a'), user('Stop'), says('Stopped.'), user('Bye')]
    const there = await written(messages)
    const back = await go(there, 'openai')
    expect(chatIn(back.path)).toEqual(messages)
    const bare = await written(messages, { withoutExtensions: true })
    expect(readFileSync(bare.path, 'utf8')).not.toContain('x_conv')
    expect(bare.sidecars).toEqual([])
  })

  it('is told from what is there now where an entry was changed', async () => {
    const there = await written([user('One'), says('First.'), user('Two'), says('Second.')])
    const state = JSON.parse(readFileSync(there.path, 'utf8'))
    state.history[1].assistant.Response.content = 'Changed.'
    const back = await go(await put('amazon-q', JSON.stringify(state)), 'openai')
    expect(chatIn(back.path)).toEqual([user('One'), says('First.'), user('Two'), says('Changed.')])
  })

  it('goes on where another agent went on', async () => {
    const own = JSON.stringify({
      conversation_id: '11111111-2222-4333-8444-555555555555',
      next_message: null,
      history: [entry('One', 'First.')],
      valid_history_range: [0, 1],
      transcript: ['> One', 'First.\n[Tool uses: none]'],
      tools: { native___: [] },
      context_manager: null,
      context_message_length: 7,
      latest_summary: null,
      file_line_tracker: {},
      checkpoint_manager: null,
      mcp_enabled: false,
    })
    const chat = await go(await put('amazon-q', own), 'openai')
    const document = JSON.parse(readFileSync(chat.path, 'utf8'))
    document.messages.push(user('Two'), says('Second.'))
    const back = await go(await put('openai', JSON.stringify(document, null, 1)), 'amazon-q')
    const state = JSON.parse(readFileSync(back.path, 'utf8'))
    const { x_conv: _, ...added } = state.history[1]
    expect(added).toMatchObject({ user: { content: { Prompt: { prompt: 'Two' } } } })
    expect({ ...state, history: [state.history[0]], transcript: state.transcript.slice(0, 2) }).toEqual({
      ...JSON.parse(own),
      valid_history_range: [0, 2],
    })
    expect(state.transcript.slice(2)).toEqual(['> Two', 'Second.\n[Tool uses: none]'])
  })

  it('sends the message that waited once somebody answered it', async () => {
    const { user: waiting } = entry('Are you there?', '')
    const own = { conversation_id: 'c', next_message: waiting, history: [entry('One', 'First.')] }
    const state = JSON.stringify({ ...own, valid_history_range: [0, 1], transcript: [], tools: {} })
    const same = await go(await put('amazon-q', state), 'openai')
    expect(JSON.parse(readFileSync((await go(same, 'amazon-q')).path, 'utf8'))).toEqual(JSON.parse(state))
    const document = JSON.parse(readFileSync(same.path, 'utf8'))
    document.messages.push(says('I am.'))
    const back = await go(await put('openai', JSON.stringify(document, null, 1)), 'amazon-q')
    const found = JSON.parse(readFileSync(back.path, 'utf8'))
    expect(found.next_message).toBeNull()
    expect(found.history[1].user).toEqual(waiting)
    expect(answerIn(found.history[1])).toBe('I am.')
  })
})

const entry = (prompt: string, content: string) => ({
  user: {
    additional_context: '',
    env_context: { env_state: null },
    content: { Prompt: { prompt } },
    timestamp: '2026-03-04T05:06:07.123456789+09:00',
    images: null,
  },
  assistant: { Response: { message_id: null, content } },
  request_metadata: null,
})

const chatIn = (path: string): readonly Message[] =>
  JSON.parse(readFileSync(path, 'utf8')).messages.map(({ x_conv: _, ...message }: Message) => message)

describe('any chat', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 12 }).map((words) => `${words}.`)
  const step = fc.oneof(
    text.map((words) => [user(words)]),
    text.map((words) => [says(words)]),
    text.map((words) => [{ role: 'system', content: words }]),
    fc
      .tuple(fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }), fc.nat(3), text)
      .map(([ids, answered, words]) => [calls(...ids), ...ids.slice(0, answered).map((id) => result(id, words))]),
    text.map((words) => [result('nobody', words)]),
  )
  // Instructions alone are no conversation.
  const chat = fc
    .array(step, { minLength: 1, maxLength: 12 })
    .map((steps) => steps.flat() as readonly Message[])
    .filter((messages) => messages.some(({ role }) => role !== 'system'))

  it('is loaded by the program, in turns, with every use answered, and comes back as it was', async () => {
    await agentOf('openai')
    await fc.assert(
      fc.asyncProperty(chat, async (messages) => {
        const there = await written(messages)
        let open: readonly string[] = []
        there.entries.forEach(({ user }, at) => {
          expect(resultsIn(user).map(({ tool_use_id }) => tool_use_id)).toEqual(open)
          if (open.length === 0) expect(promptIn(user)).not.toBe('')
          open = usesIn(there.entries[at] as HistoryEntry).map(({ id }) => id)
        })
        expect(there.losses.filter((what) => what.includes('account'))).toEqual([])
        const direct = await go(await put('openai', JSON.stringify({ messages })), 'openai')
        expect(chatIn((await go(there, 'openai')).path)).toEqual(chatIn(direct.path))
      }),
      { numRuns: 60 },
    )
  })
})

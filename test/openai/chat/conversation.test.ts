/** A conversation in use: prompts, system prompt, length, saving, callbacks. */
import { describe, expect, test } from 'vitest'
import { type ChatHelper, OpenAIMessage, type PromptInput } from '../../../src/openai.ts'
import { DIALECTS, type Dialect, replyIn } from '../../support/dialects.ts'
import { json, type Reply } from '../../support/model-server.ts'
import { historyText, startChat } from './test-chat.ts'

const openai = DIALECTS[0] as Dialect
const says = (text: string): Reply => replyIn(openai, { text })
const sent = (asked: { readonly body: { readonly messages?: readonly unknown[] } } | undefined): readonly unknown[] =>
  asked?.body.messages ?? []

describe('a prompt', () => {
  const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } } as const

  test.each<[what: string, input: PromptInput, message: object]>([
    ['a text', 'Hello', { role: 'user', content: 'Hello' }],
    ['an empty text', '', { role: 'user', content: '' }],
    ['a message', OpenAIMessage.developer('Be brief.'), { role: 'developer', content: 'Be brief.' }],
    ['a message without a role', new OpenAIMessage({ content: 'x' }), { role: 'user', content: 'x' }],
    ['the fields of a message', { content: 'x', name: 'Ann' }, { role: 'user', content: 'x', name: 'Ann' }],
    ['the fields of a message with its role', { role: 'system', content: 'x' }, { role: 'system', content: 'x' }],
    ['one part', image, { role: 'user', content: [image] }],
    [
      'parts',
      [{ type: 'text', text: 'Look:' }, image],
      { role: 'user', content: [{ type: 'text', text: 'Look:' }, image] },
    ],
    ['any other object', { rows: [1, 2] }, { role: 'user', content: '{"rows":[1,2]}' }],
  ])('is %s', async (_, input, message) => {
    const { chat, server } = await startChat([says('Yes.')])
    await chat.prompt(input)
    expect(sent(server.asked[0])).toEqual([message])
  })

  test.each([5, null, true, undefined])('is never %s', async (wrong) => {
    const { chat } = await startChat([])
    expect(() => chat.push(wrong as unknown as string)).toThrow(/Cannot prompt with/)
    await expect(chat.prompt(wrong as unknown as string)).rejects.toThrow(/Cannot prompt with/)
    expect(chat.messages).toEqual([])
  })
})

describe('the system prompt', () => {
  test('is sent first each time, and is not part of the history', async () => {
    const { chat, server } = await startChat([says('One.'), says('Two.')], { systemPrompt: 'Count.' })
    await chat.prompt('Go.')
    chat.systemPrompt = OpenAIMessage.developer('Count on.')
    await chat.prompt('Go on.')
    expect(server.asked.map((asked) => sent(asked)[0])).toEqual([
      { role: 'system', content: 'Count.' },
      { role: 'developer', content: 'Count on.' },
    ])
    expect(historyText(chat)).toBe('user Go. / assistant One. / user Go on. / assistant Two.')
  })

  test('is not sent when empty', async () => {
    const { chat, server } = await startChat([says('One.')], { systemPrompt: '' })
    await chat.prompt('Go.')
    expect(sent(server.asked[0])).toEqual([{ role: 'user', content: 'Go.' }])
  })
})

describe('length', () => {
  test('is at most fifteen messages by default', async () => {
    const { chat, server } = await startChat(
      Array.from({ length: 10 }, (_, at) => says(`A${at}`)),
      { systemPrompt: 'S' },
    )
    for (let at = 0; at < 10; at++) await chat.prompt(`Q${at}`)
    expect(chat.messages.length).toBe(14)
    expect(historyText(chat)).toMatch(/^user Q3 .* assistant A9$/)
    expect(sent(server.asked.at(-1)).length).toBe(16)
    expect(sent(server.asked.at(-1))[0]).toEqual({ role: 'system', content: 'S' })
  })

  test('can be any, or in tokens', async () => {
    const { chat, server } = await startChat(
      Array.from({ length: 12 }, () => says('x'.repeat(400))),
      { numberOfMessages: 0 },
    )
    for (let at = 0; at < 10; at++) await chat.prompt(`Q${at}`)
    expect(chat.messages.length).toBe(20)
    chat.tokenBudget = 350
    await chat.prompt('Q10')
    expect(sent(server.asked.at(-1))).toHaveLength(7)
    expect(historyText(chat)).toMatch(/^user Q8 .* user Q9 .* user Q10 /)
  })

  test('reports what it drops', async () => {
    const { chat } = await startChat([says('A0'), says('A1')], { numberOfMessages: 2 })
    await chat.prompt('Q0')
    const dropped: string[] = []
    await chat.prompt('Q1', {
      onData: (event) => event.kind === 'trimmed' && dropped.push(...event.messages.map(({ text }) => text)),
    })
    expect(dropped).toEqual(['Q0', 'A0'])
    expect(historyText(chat)).toBe('user Q1 / assistant A1')
  })
})

describe('callbacks', () => {
  const log = (texts: string[]) => ({
    onResponse: () => texts.push('response'),
    onError: () => texts.push('error'),
    onTerminate: () => texts.push('terminate'),
  })

  test('come in order', async () => {
    const { chat } = await startChat([says('Hi.'), json({}, 400)])
    const texts: string[] = []
    await chat.prompt('Hello', { ...log(texts), onData: ({ kind }) => texts.push(kind) })
    await chat.prompt('Hello', log(texts))
    expect(texts).toEqual(['text', 'message', 'done', 'response', 'terminate', 'error', 'terminate'])
  })
})

test('errors are those of the last turn', async () => {
  const { chat } = await startChat([json({ error: 'no' }, 400), says('Yes.')])
  await chat.prompt('One')
  expect(chat.lastErrors).toMatchObject([{ message: 'no' }])
  await chat.prompt('Two')
  expect(chat.lastErrors).toEqual([])
  expect(historyText(chat)).toBe('user One / user Two / assistant Yes.')
})

test('reset empties history and tools, or history alone', async () => {
  const { chat } = await startChat([says('Hi.'), says('Hi.')], { systemPrompt: 'S', numberOfMessages: 3 })
  chat.registerTool({ name: 'count' }, () => 1)
  await chat.prompt('Hello')
  chat.reset({ tools: false })
  expect([chat.messages.length, chat.tools.length]).toEqual([0, 1])
  chat.reset()
  expect([chat.tools.length, chat.systemPrompt?.text, chat.numberOfMessages]).toEqual([0, 'S', 3])
})

describe('saving', () => {
  const prepare = (chat: ChatHelper): void => chat.registerTool({ name: 'count' }, () => 'three')
  const calls = replyIn(openai, {
    reasoning: 'Hm.',
    text: '数える',
    calls: [{ id: 'c1', name: 'count', arguments: '{}' }],
  })

  test('and loading continues unchanged', async () => {
    const options = {
      systemPrompt: 'S',
      numberOfMessages: 4,
      parallel: true,
      profile: 'vllm',
      parameters: { model: 'm', temperature: 0.5 },
    } as const
    const script = [calls, says('Three.'), json({ error: 'no' }, 400), calls, says('Still three.')]
    const stays = await startChat(script, options)
    const leaves = await startChat(script, options)
    prepare(stays.chat)
    prepare(leaves.chat)
    for (const { chat } of [stays, leaves]) for (const words of ['How many?', 'Oh?']) await chat.prompt(words)
    const text = JSON.stringify(leaves.chat.save())
    const back = await startChat([calls, says('Still three.')])
    prepare(back.chat)
    back.chat.load(text)
    expect(back.chat.save()).toEqual(stays.chat.save())
    await stays.chat.prompt('And now?')
    await back.chat.prompt('And now?')
    expect(back.chat.save()).toEqual(stays.chat.save())
    expect(back.server.asked.map(({ body }) => body)).toEqual(stays.server.asked.slice(-2).map(({ body }) => body))
  })

  test('is plain JSON, and a copy', async () => {
    const { chat } = await startChat([says('Hi.')])
    const message = OpenAIMessage.user('Hello')
    await chat.prompt(message)
    const saved = chat.save()
    expect(JSON.parse(JSON.stringify(saved))).toEqual(saved)
    message.text = 'Changed'
    expect(saved.messages[0]).toEqual({ role: 'user', content: 'Hello' })
  })

  test('in the middle of calls can be resumed', async () => {
    const { chat } = await startChat([calls], { autoHandleToolCalls: false, tools: [{ name: 'count' }] })
    await chat.prompt('How many?')
    const back = await startChat([says('Well.')], { autoHandleToolCalls: true })
    back.chat.load(chat.save())
    expect(back.chat.openCalls.map(({ id }) => id)).toEqual(['c1'])
    expect((await back.chat.resume()).success).toBe(true)
    expect(historyText(back.chat)).toBe('user How many? / assistant c1 / tool c1 / assistant Well.')
  })

  test.each([['{'], ['{}'], [null], [{ version: 2 }], [{ version: 1, parameters: { model: 'm' }, messages: [5] }]])(
    'refuses %j',
    async (wrong) => {
      const { chat } = await startChat([])
      expect(() => chat.load(wrong)).toThrow(/Not a saved conversation/)
    },
  )

  test('a fork is independent with the same tools', async () => {
    const { chat } = await startChat([says('Hi.'), calls, says('Three.')])
    prepare(chat)
    await chat.prompt('Hello')
    const fork = chat.fork()
    expect((await fork.prompt('How many?')).success).toBe(true)
    expect(historyText(fork)).toBe(
      'user Hello / assistant Hi. / user How many? / assistant c1 / tool c1 / assistant Three.',
    )
    expect(historyText(chat)).toBe('user Hello / assistant Hi.')
  })
})

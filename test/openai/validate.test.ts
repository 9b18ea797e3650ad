import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkFile, OpenAIMessage, PROFILES, type ProfileName, repair, validate } from '../../src/openai.ts'
import { sharedFolder } from '../support/shared-material.ts'

const user = { role: 'user', content: 'Count the rows.' }
const call = (id: string, fields: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'count', arguments: '{}' },
  ...fields,
})
const calling = (...tool_calls: readonly unknown[]) => ({ role: 'assistant', content: null, tool_calls })
const result = (tool_call_id: string, content: unknown = '7') => ({ role: 'tool', tool_call_id, content })
const done = { role: 'assistant', content: 'Seven.' }
const text = (words: string) => ({ type: 'text', text: words })
const long = 'x'.repeat(41)

describe('a valid conversation', () => {
  const good = [
    { role: 'system', content: 'Be short.' },
    {
      role: 'user',
      content: [text('What is this?'), { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } }],
    },
    { role: 'assistant', content: 'A table.' },
    user,
    { role: 'assistant', content: 'Let me see.', tool_calls: [call('a'), call('b')] },
    result('b', ''),
    result('a'),
    done,
  ]

  test.each(Object.keys(PROFILES) as ProfileName[])('is unchanged for %s', (profile) => {
    expect(validate(good, profile)).toEqual([])
    expect(JSON.stringify(repair(good, profile).messages)).toBe(JSON.stringify(good))
    expect(
      validate(
        good.map((fields) => OpenAIMessage.fromJSON(fields)),
        profile,
      ),
    ).toEqual([])
  })

  test('may have calls without content, as the specification shows them', () => {
    expect(validate([user, { role: 'assistant', tool_calls: [call('a')] }, result('a')])).toEqual([])
    expect(validate([user, { role: 'assistant', tool_calls: [call('a')] }, result('a')], 'ollama')).toEqual([])
  })

  test('may send an answer back as it came', () => {
    expect(validate([user, { ...done, refusal: null, annotations: [], audio: null, function_call: null }])).toEqual([])
  })

  test('may contain fields that a server ignores', () => {
    expect(validate([{ ...user, prefix: true }], 'lmstudio')).toEqual([])
  })

  test('for training may end with a call, and may have message weights', () => {
    expect(validate([user, { ...done, weight: 0 }, user, calling(call('a'))], 'fine-tune')).toEqual([])
    expect(validate([user], 'fine-tune').map(({ code }) => code)).toEqual(['end_not_assistant'])
  })
})

test.each(Object.keys(PROFILES) as ProfileName[])('%s gets no records of another program', (profile) => {
  const carrying = { ...done, x_conv: { src: 'codex', records: [{ type: 'secret' }] } }
  expect(repair([user, carrying], profile).messages).toEqual([user, done])
})

describe('a custom profile', () => {
  test('can require ids of nine characters, as Mistral’s templates do', () => {
    const mistral = { ...PROFILES.vllm, callIds: { legal: /^[A-Za-z0-9]{9}$/, prefix: '', digits: 9 } }
    const { messages } = repair([calling(call('call_1')), result('call_1')], mistral)
    expect(messages).toEqual([calling(call(expect.stringMatching(/^[0-9a-f]{9}$/))), result(expect.any(String))])
    expect(validate(messages, mistral)).toEqual([])
  })

  test('can require reasoning to be sent back, as DeepSeek does', () => {
    const deepseek = { ...PROFILES.openai, reasoningKey: 'reasoning_content' }
    expect(repair([{ ...done, reasoning: 'hm' }], deepseek).messages).toEqual([{ ...done, reasoning_content: 'hm' }])
  })
})

describe('toBody', () => {
  test('writes user as name, or not at all; the message keeps it', () => {
    const message = new OpenAIMessage({ role: 'user', content: 'x', user: 'Ann' })
    expect(message.toBody()).toEqual({ role: 'user', content: 'x', name: 'Ann' })
    expect(message.toBody('ollama')).toEqual({ role: 'user', content: 'x' })
    expect(message.toJSON()).toEqual({ role: 'user', content: 'x', user: 'Ann' })
  })

  test('writes files nested, in whichever form they were given', () => {
    const flat = new OpenAIMessage({ role: 'user', content: [{ type: 'file', file_id: 'file-1' }] })
    expect(flat.toBody().content).toEqual([{ type: 'file', file: { file_id: 'file-1' } }])
  })

  test('omits internal fields', () => {
    const answer = new OpenAIMessage({ ...done, reasoning_content: 'hm', metadata: { secret: 1 }, score: 1 })
    expect(answer.toBody('openai')).toEqual(done)
    expect(answer.toBody('vllm')).toEqual(done)
  })

  test('renames ids of calls and results consistently, although it sees one at a time', () => {
    const called = OpenAIMessage.fromJSON(calling(call(long))).toBody('openai-strict')
    const answer = OpenAIMessage.tool(long, '7').toBody('openai-strict')
    const id = expect.stringMatching(/^call_[0-9a-f]{24}$/)
    expect([called, answer]).toMatchObject([{ tool_calls: [{ id }] }, { tool_call_id: id }])
    expect(validate([called, answer], 'openai-strict')).toEqual([])
  })

  test('writes empty content', () => {
    expect(new OpenAIMessage({ role: 'user' }).toBody()).toEqual({ role: 'user', content: '' })
  })
})

describe('OpenAI’s own training files', () => {
  const files = ['cookbook_drone_training.jsonl', 'cookbook_toy_chat_fine_tuning.jsonl'].map((name) =>
    sharedFolder('corpus', 'openai', name),
  )

  test.skipIf(files.includes(undefined))('are valid for training', () => {
    for (const file of files) {
      const lines = readFileSync(file ?? '', 'utf8')
        .split('\n')
        .filter((line) => line !== '')
      expect(lines.length).toBeGreaterThan(4)
      for (const line of lines) expect(validate(JSON.parse(line).messages, 'fine-tune')).toEqual([])
    }
  })
})

describe('laws', () => {
  const word = fc.constantFrom('a', 'b', 'c', '', 'x'.repeat(41), 'db.count')
  const unusual = fc.constantFrom<unknown>(
    null,
    undefined,
    5,
    '',
    'x',
    [],
    {},
    [null],
    { text: 'x' },
    { __proto__: null },
  )
  const part = fc.oneof(
    fc.record(
      { type: fc.constantFrom('text', 'input_text', 'refusal'), text: word, refusal: word },
      { requiredKeys: ['type'] },
    ),
    fc.record({
      type: fc.constant('image_url'),
      image_url: fc.oneof(
        unusual,
        fc.record({
          url: fc.constantFrom('https://e/x', 'data:image/gif;base64,R0', 'data:;base64,R0', 'file:///x'),
          detail: word,
        }),
      ),
    }),
    fc.record({ type: fc.constant('file'), file_id: word, file: unusual }, { requiredKeys: ['type'] }),
    fc.record({
      type: fc.constantFrom('input_audio', 'video_url', 'new'),
      input_audio: fc.constant({ data: 'x', format: 'wav' }),
    }),
    unusual,
  )
  const toolCall = fc.oneof(
    fc.record(
      {
        id: fc.oneof(word, unusual),
        type: fc.constantFrom('function', 'custom', 'new'),
        function: fc.oneof(
          fc.record({ name: word, arguments: fc.oneof(unusual, fc.constantFrom('{}', '[]', '{"a')) }),
          unusual,
        ),
        custom: fc.oneof(fc.record({ name: word, input: unusual }), unusual),
        name: word,
        index: fc.nat(),
      },
      { requiredKeys: [] },
    ),
    unusual,
  )
  const message = fc.oneof(
    {
      weight: 9,
      arbitrary: fc.record(
        {
          role: fc.constantFrom(
            'system',
            'developer',
            'user',
            'assistant',
            'assistant',
            'tool',
            'tool',
            'function',
            'Human',
            'USER',
          ),
          content: fc.oneof(word, fc.array(part, { maxLength: 3 }), unusual),
          tool_calls: fc.oneof(fc.array(toolCall, { maxLength: 3 }), unusual),
          tool_call_id: fc.oneof(word, unusual),
          function_call: fc.oneof(fc.record({ name: word, arguments: word }), unusual),
          name: fc.oneof(word, unusual),
          user: fc.oneof(word, unusual),
          refusal: fc.oneof(word, unusual),
          reasoning: fc.oneof(word, unusual),
          metadata: unusual,
        },
        { requiredKeys: ['role'] },
      ),
    },
    { weight: 1, arbitrary: unusual },
  )
  const good = fc.constantFrom<(id: string) => readonly unknown[]>(
    () => [{ role: 'system', content: 'Be short.' }],
    () => [{ ...user, tool_calls: undefined, name: undefined, metadata: undefined }],
    () => [done],
    (id) => [calling({ ...call(id), index: undefined }), result(id)],
    (id) => [calling(call(`${id}a`), call(`${id}b`)), result(`${id}b`), result(`${id}a`, '')],
  )
  const goodList = fc.array(good, { maxLength: 5 }).map((makers) => makers.flatMap((make, at) => make(`call_${at}`)))
  const nearlyGood = fc
    .tuple(goodList, fc.array(message, { maxLength: 1 }), fc.nat(9))
    .map(([list, odds, at]) => list.toSpliced(at, 0, ...odds))
  const list = fc.oneof(fc.array(message, { maxLength: 9 }), nearlyGood)
  const profile = fc.constantFrom(...(Object.keys(PROFILES) as ProfileName[]))

  test('repaired messages are valid, and a second repair changes nothing', () => {
    fc.assert(
      fc.property(list, profile, (given, name) => {
        const { messages } = repair(given, name)
        expect(repair(messages, name)).toEqual({ messages, problems: [] })
      }),
      { numRuns: 2000 },
    )
  })

  test('only messages with problems are changed', () => {
    fc.assert(
      fc.property(list, profile, (given, name) => {
        const before = JSON.stringify(given)
        const { messages, problems } = repair(given, name)
        expect(JSON.stringify(given)).toBe(before)
        expect(problems.length > 0).toBe(JSON.stringify(messages) !== before)
      }),
      { numRuns: 2000 },
    )
  })

  test('every call is answered once, at once', () => {
    fc.assert(
      fc.property(list, (given) => {
        const { messages } = repair(given)
        let open: string[] = []
        for (const one of messages) {
          if (one.role === 'tool') expect(open).toContain(one.tool_call_id)
          else expect(open).toEqual([])
          if (one.role === 'tool') open = open.filter((id) => id !== one.tool_call_id)
          else if (one.role === 'assistant') open = (one.tool_calls ?? []).map(({ id }) => id)
        }
        expect(open).toEqual([])
      }),
      { numRuns: 1000 },
    )
  })

  test('ten thousand calls with one id are handled', () => {
    const many = Array.from({ length: 10_000 }, () => [calling(call('call_id')), result('call_id')]).flat()
    const { messages } = repair(many)
    expect(messages.length).toBe(20_000)
    expect(new Set(messages.flatMap((one) => (one.role === 'tool' ? one.tool_call_id : []))).size).toBe(10_000)
  })
})

describe('a file of a list', () => {
  const chat = '{"messages": [{"role": "user", "content": "a"}], "id": 12345678901234567890, "score": 1.0}'
  const broken = '{"messages":[{"role":"user","content":"b"},{"role":"hologram","content":"c"}]}'

  test('without problems is unchanged byte for byte', () => {
    const text = `[\n ${chat},\n {"some": "thing", "n": 1e2}\n]\n`
    expect(checkFile(text)).toMatchObject({ problems: [], mended: text })
  })

  test('is repaired only where something is wrong', () => {
    const { problems, mended: repaired } = checkFile(`[\n  ${chat},\n  ${broken}\n]\n`)
    expect(problems.map(({ line }) => line)).toEqual([2])
    expect(repaired.startsWith(`[\n  ${chat},\n  {\n    "messages": [\n`)).toBe(true)
    expect(repaired.endsWith('\n  }\n]\n')).toBe(true)
    expect(checkFile(repaired)).toMatchObject({ problems: [], mended: repaired })
  })
})

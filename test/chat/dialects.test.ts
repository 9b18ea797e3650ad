/**
 * The Responses API and the Messages API, against streams in their documented form: what is shown, what is recorded, and
 * what goes back with the next request.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chooseEndpoint } from '../../src/chat/endpoint/endpoint.ts'
import { createAskJson, listModels } from '../../src/chat/endpoint/models.ts'
import { DIALECTS } from '../../src/openai/dialects/dialects.ts'
import { DeltaAccumulator } from '../../src/openai/stream/accumulator.ts'
import { openAITransport } from '../../src/openai-transport.ts'
import { eventText, json, modelServer, type Reply } from '../support/model-server.ts'
import { answerText, chatSession, endingOf, fakeTool, readJournalOf, sendLine } from './support/chat-session.ts'

type Event = { readonly type: string } & { readonly [key: string]: unknown }

/** With the name of each event, as both servers send it, and in small packets. */
const stream = (events: readonly Event[], cutAt?: number): Reply =>
  eventText(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''), {
    packet: 61,
    ...(cutAt !== undefined && { cutAt }),
  })

const kinds = (events: readonly { readonly kind: string }[]): string =>
  [...new Set(events.map((e) => e.kind))].join(' ')

describe('the Responses API', () => {
  const reasoning = {
    id: 'rs_1',
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'Two files.' }],
    encrypted_content: 'gAAAA-opaque',
  }
  const callItem = { id: 'fc_1', type: 'function_call', call_id: 'call_a', name: 'look', arguments: '{"n":1}' }
  const usage = {
    input_tokens: 90,
    input_tokens_details: { cached_tokens: 40 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 12 },
    total_tokens: 110,
  }
  const created: Event = {
    type: 'response.created',
    response: { id: 'resp_1', model: 'gpt-5.1-2026', status: 'in_progress' },
  }
  const thinksAndCalls: readonly Event[] = [
    created,
    { type: 'response.output_item.added', output_index: 0, item: { ...reasoning, summary: [], encrypted_content: '' } },
    { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 0 },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'Two ' },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'files.' },
    { type: 'response.output_item.done', output_index: 0, item: { ...reasoning, status: 'completed' } },
    { type: 'response.output_item.added', output_index: 1, item: { ...callItem, arguments: '' } },
    { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"n"' },
    { type: 'response.function_call_arguments.delta', output_index: 1, delta: ':1}' },
    { type: 'response.function_call_arguments.done', output_index: 1, arguments: '{"n":1}' },
    { type: 'response.output_item.done', output_index: 1, item: callItem },
    { type: 'response.completed', response: { id: 'resp_1', status: 'completed', usage } },
  ]
  const says = (text: string, response: object = {}): readonly Event[] => [
    created,
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', content: [] } },
    { type: 'response.output_text.delta', output_index: 0, delta: text },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { type: 'message', content: [{ type: 'output_text', text }] },
    },
    { type: response && 'incomplete_details' in response ? 'response.incomplete' : 'response.completed', response },
  ]

  test('runs a tool, keeps the reasoning, and sends it back encrypted before the call', async () => {
    const { baseURL, asked } = await modelServer(stream(thinksAndCalls), stream(says('Done.')))
    const session = chatSession({ baseURL, api: 'responses', tools: [fakeTool({ name: 'look' })], trusted: ['look'] })
    const events = await sendLine(session, 'How many?')
    expect([endingOf(events), answerText(events)]).toEqual(['answered', 'Done.'])
    expect(kinds(events)).toContain('reasoning calling')
    expect(events).toContainEqual(expect.objectContaining({ kind: 'usage', input: 90, output: 20, estimated: false }))
    expect(asked.map(({ path }) => path)).toEqual(['/v1/responses', '/v1/responses'])
    const [first, second] = asked.map(
      ({ body }) => body as { readonly input: readonly object[]; readonly store: boolean },
    )
    expect(first).toMatchObject({ store: false, stream: true, model: 'test-model' })
    expect(first).toMatchObject({ tools: [{ type: 'function', name: 'look', strict: false }] })
    expect(first).not.toHaveProperty('messages')
    expect(second?.input.slice(-3)).toEqual([
      reasoning,
      { type: 'function_call', call_id: 'call_a', name: 'look', arguments: '{"n":1}' },
      { type: 'function_call_output', call_id: 'call_a', output: 'done' },
    ])
    expect(readJournalOf(session)).toContainEqual(expect.objectContaining({ event: 'reasoning', text: 'Two files.' }))
    expect(readJournalOf(session)).toContainEqual(
      expect.objectContaining({
        event: 'usage',
        usage: expect.objectContaining({ cached_input_tokens: 40, reasoning_output_tokens: 12 }),
      }),
    )
  })

  test('after a resume the reasoning still goes back, and never to another model', async () => {
    const { baseURL, asked } = await modelServer(
      stream(thinksAndCalls),
      stream(says('Done.')),
      stream(says('Yes.')),
      stream(says('No.')),
    )
    const options = { baseURL, api: 'responses', tools: [fakeTool({ name: 'look' })], trusted: ['look'] } as const
    const first = chatSession(options)
    await sendLine(first, 'How many?')
    const data = first.commandContext.data
    first.close()
    const again = chatSession({ ...options, data })
    await sendLine(again, 'Sure?')
    expect(JSON.stringify(asked.at(-1)?.body)).toContain('gAAAA-opaque')
    again.setup.server = { ...again.setup.server, model: 'other' }
    await sendLine(again, 'And you?')
    expect(JSON.stringify(asked.at(-1)?.body)).not.toContain('gAAAA-opaque')
  })

  test('says why an answer ended: limit, filter, failure, cut', async () => {
    const cut = stream(says('Half of it'), 300)
    const { baseURL } = await modelServer(
      stream(says('Part', { incomplete_details: { reason: 'max_output_tokens' } })),
      stream(says('', { incomplete_details: { reason: 'content_filter' } })),
      stream([
        created,
        { type: 'response.failed', response: { error: { code: 'server_error', message: 'Try later' } } },
      ]),
      stream([{ type: 'error', code: 'rate_limit_exceeded', message: 'Slow down' }]),
      cut,
      json({ error: { message: 'Bad key', code: 'invalid_api_key' } }, 401),
    )
    const session = chatSession({ baseURL, api: 'responses' })
    const last = async () => (await sendLine(session, 'Go')).at(-1)
    expect(await sendLine(session, 'Go')).toContainEqual(expect.objectContaining({ kind: 'notice', code: 'cut' }))
    expect(await last()).toMatchObject({ how: 'refused' })
    expect(await last()).toMatchObject({ how: 'failed', reason: expect.stringContaining('Try later') })
    expect(await last()).toMatchObject({ how: 'failed', reason: expect.stringContaining('Rate limit') })
    expect(await last()).toMatchObject({ how: 'failed', reason: expect.stringMatching(/broke|closed the connection/) })
    expect(await last()).toMatchObject({ how: 'failed', reason: expect.stringContaining('fumi login') })
  })

  test('translates effort, limits, schema, images and documents', () => {
    const body = DIALECTS.responses.toBody({
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } },
          ],
        },
      ],
      reasoning_effort: 'high',
      max_completion_tokens: 9,
      temperature: 0.5,
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' }, strict: true } },
    })
    expect(body).toMatchObject({
      reasoning: { effort: 'high', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      max_output_tokens: 9,
      temperature: 0.5,
      text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' }, strict: true } },
      input: [
        {
          role: 'user',
          content: [{ type: 'input_text' }, { type: 'input_image' }, { type: 'input_file', filename: 'a.pdf' }],
        },
      ],
    })
    expect(body).not.toHaveProperty('max_completion_tokens')
    expect(DIALECTS.responses.toBody({ model: 'gpt-4o', messages: [] })).not.toHaveProperty('include')
  })
})

describe('the Messages API', () => {
  const start: Event = {
    type: 'message_start',
    message: {
      id: 'msg_1',
      model: 'claude-opus-5-20260901',
      role: 'assistant',
      content: [],
      usage: { input_tokens: 10, cache_read_input_tokens: 30, cache_creation_input_tokens: 5, output_tokens: 1 },
    },
  }
  const stop = (stop_reason: string, output_tokens = 25): readonly Event[] => [
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens } },
    { type: 'message_stop' },
  ]
  const block = (index: number, content_block: object, ...deltas: readonly object[]): readonly Event[] => [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
  const thinksAndCalls: readonly Event[] = [
    start,
    { type: 'ping' },
    ...block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'I should ' },
      { type: 'thinking_delta', thinking: 'look.' },
      { type: 'signature_delta', signature: 'EqQB-signed' },
    ),
    ...block(1, { type: 'redacted_thinking', data: 'opaque' }),
    ...block(2, { type: 'text', text: '' }, { type: 'text_delta', text: 'Looking.' }),
    ...block(
      3,
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
      { type: 'input_json_delta', partial_json: '' },
      { type: 'input_json_delta', partial_json: '{"n": ' },
      { type: 'input_json_delta', partial_json: '2}' },
    ),
    ...stop('tool_use'),
  ]
  const says = (text: string, reason = 'end_turn'): readonly Event[] => [
    start,
    ...block(0, { type: 'text', text: '' }, { type: 'text_delta', text }),
    ...stop(reason),
  ]

  test('runs a tool, and sends thinking back with its signature, in the recorded order', async () => {
    const { baseURL, asked } = await modelServer(stream(thinksAndCalls), stream(says('Two.')))
    const tools = [fakeTool({ name: 'look' })]
    const session = chatSession({ baseURL, api: 'anthropic', tools, trusted: ['look'] })
    const events = await sendLine(session, 'How many?')
    expect([endingOf(events), answerText(events)]).toEqual(['answered', 'Looking.Two.'])
    expect(events).toContainEqual(expect.objectContaining({ kind: 'usage', input: 45, output: 25, estimated: false }))
    const [first, second] = asked
    expect(first).toMatchObject({ path: '/v1/messages', headers: { 'anthropic-version': '2023-06-01' } })
    expect(first?.headers).not.toHaveProperty('authorization')
    expect(first?.body).toMatchObject({ max_tokens: 32_000, stream: true, tools: [{ name: 'look', input_schema: {} }] })
    expect(second?.body.messages?.slice(-2)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'I should look.', signature: 'EqQB-signed' },
          { type: 'redacted_thinking', data: 'opaque' },
          { type: 'text', text: 'Looking.' },
          { type: 'tool_use', id: 'toolu_1', name: 'look', input: { n: 2 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'done', cache_control: { type: 'ephemeral' } },
        ],
      },
    ])
    expect(readJournalOf(session)).toContainEqual(
      expect.objectContaining({ usage: expect.objectContaining({ cached_input_tokens: 30, cache_write_tokens: 5 }) }),
    )
  })

  test('says why an answer ended: limit, refusal, overload, cut, wrong key', async () => {
    const { baseURL } = await modelServer(
      stream(says('Part', 'max_tokens')),
      stream(says('', 'refusal')),
      stream([start, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }]),
      stream(says('Half'), 420),
      json({ type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }, 401),
    )
    const session = chatSession({ baseURL, api: 'anthropic' })
    const last = async () => (await sendLine(session, 'Go')).at(-1)
    expect(await sendLine(session, 'Go')).toContainEqual(expect.objectContaining({ kind: 'notice', code: 'cut' }))
    expect(await last()).toMatchObject({ how: 'refused' })
    expect(await last()).toMatchObject({ reason: expect.stringMatching(/Overloaded .*529/) })
    expect(await last()).toMatchObject({ reason: expect.stringMatching(/broke|closed the connection/) })
    expect(await last()).toMatchObject({ reason: expect.stringMatching(/invalid x-api-key/) })
  })

  test('an overloaded server is asked again', async () => {
    const overloaded = stream([start, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }])
    const { baseURL } = await modelServer(overloaded, stream(says('Here.')))
    const events = await sendLine(chatSession({ baseURL, api: 'anthropic', retries: 1 }), 'Go')
    expect([kinds(events).includes('retry'), answerText(events)]).toEqual([true, 'Here.'])
  })

  test('translates thinking, schema, instructions, images and documents for each generation of models', () => {
    const ask = (model: string, more: object = {}) =>
      DIALECTS.anthropic.toBody({ model, messages: [{ role: 'user', content: 'Hi' }], ...more })
    expect(ask('claude-sonnet-4-5', { reasoning_effort: 'low', temperature: 1 })).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 2048 },
    })
    expect(ask('claude-sonnet-4-5', { reasoning_effort: 'low', temperature: 1 })).not.toHaveProperty('temperature')
    expect(ask('claude-opus-5', { reasoning_effort: 'high' })).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    })
    expect(ask('claude-opus-5', { reasoning_effort: 'none' })).toMatchObject({ thinking: { type: 'disabled' } })
    expect(ask('claude-3-5-haiku-latest')).toMatchObject({ max_tokens: 4096 })
    const format = { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } }
    expect(ask('claude-opus-5', { response_format: format })).toMatchObject({
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
    })
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] },
      {
        role: 'user',
        content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } }],
      },
      { role: 'assistant', content: ' \n' },
      { role: 'user', content: 'Well?' },
    ]
    const body = DIALECTS.anthropic.toBody({ model: 'claude-opus-5', messages })
    expect(body).toMatchObject({ system: 'Be brief.', messages: [{ role: 'user' }] })
    expect(JSON.stringify(body['messages'])).toMatch(
      /"type":"image".*"media_type":"image\/png".*"type":"document".*"title":"a.pdf"/,
    )
  })
})

describe('both', () => {
  test('any events, in any order, never throw', () => {
    const type = fc.constantFrom(
      'message_start',
      'content_block_start',
      'content_block_delta',
      'message_delta',
      'message_stop',
      'error',
      'response.created',
      'response.output_item.added',
      'response.output_item.done',
      'response.completed',
      'response.function_call_arguments.delta',
      'response.failed',
    )
    const item = fc.record(
      {
        type: fc.constantFrom(
          'tool_use',
          'function_call',
          'text',
          'thinking',
          'message',
          'reasoning',
          'text_delta',
          'input_json_delta',
        ),
        id: fc.anything(),
        text: fc.anything(),
        content: fc.anything(),
        input: fc.anything(),
        name: fc.string(),
      },
      { requiredKeys: [] },
    )
    const event = fc.record(
      {
        type,
        index: fc.integer({ min: 0, max: 2 }),
        output_index: fc.anything(),
        item,
        delta: fc.oneof(item, fc.string()),
        content_block: item,
        message: fc.anything(),
        response: fc.anything(),
        error: fc.anything(),
        usage: fc.anything(),
      },
      { requiredKeys: ['type'] },
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), fc.constantFrom('responses', 'anthropic'), (events, api) => {
        const decoder = DIALECTS[api].decoder('m')
        const accumulator = new DeltaAccumulator()
        for (const one of events) for (const chunk of decoder.add(one)) accumulator.add(chunk)
        DIALECTS[api].toBody({ model: 'm', messages: [{ ...accumulator.message() }] })
      }),
      { numRuns: 60 },
    )
  })

  test('an answer that is not streamed is the same', async () => {
    const chunks: readonly Event[] = [
      { type: 'response.output_text.delta', delta: 'Hi' },
      { type: 'response.completed', response: {} },
    ]
    const { baseURL } = await modelServer(stream(chunks))
    const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
    const answer = await openAITransport({ baseURL, api: 'responses' }).complete(request, new AbortController().signal)
    expect(answer).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }],
    })
  })

  test('the API is chosen per profile; each key goes only to its own server', async () => {
    const choose = (options: object, profiles: object = {}) =>
      chooseEndpoint({
        options,
        defaultProfile: null,
        profiles: new Map(Object.entries(profiles)),
        variables: { ANTHROPIC_API_KEY: 'a-key', OPENAI_API_KEY: 'o-key' },
      })
    expect(choose({ profile: 'anthropic' })).toMatchObject({ api: 'anthropic', apiKey: 'a-key' })
    expect(choose({ profile: 'openai' })).toMatchObject({ api: 'chat', apiKey: 'o-key' })
    expect(choose({ profile: 'work' }, { work: { server: 'openai', api: 'responses' } })).toMatchObject({
      api: 'responses',
      apiKey: 'o-key',
    })
    expect(
      choose({ profile: 'proxy' }, { proxy: { url: 'https://proxy.example/v1', api: 'anthropic' } }),
    ).toMatchObject({ apiKey: null })
    const server = await modelServer(json({ data: [{ id: 'claude-x', max_input_tokens: 1_000_000 }] }))
    const endpoint = { ...choose({ profile: 'anthropic' }), baseURL: server.baseURL }
    expect(await listModels(endpoint, createAskJson(endpoint))).toEqual([{ id: 'claude-x', window: 1_000_000 }])
    expect(server.asked[0]?.headers).toMatchObject({ 'x-api-key': 'a-key' })
    expect(server.asked[0]?.headers).not.toHaveProperty('authorization')
  })
})

/** Failures of server and network: the result is a value, and the conversation can continue. */
import { describe, expect, test } from 'vitest'
import { validate } from '../../../src/openai.ts'
import { DIALECTS, type Dialect, replyIn } from '../../support/dialects.ts'
import {
  dataLine,
  events,
  eventText,
  hangUp,
  json,
  modelServer,
  type Reply,
  raw,
  silence,
} from '../../support/model-server.ts'
import { collectEvents, historyText, startChat } from './test-chat.ts'

const openai = DIALECTS[0] as Dialect
const fine = replyIn(openai, { text: 'Fine. 元気 🎉' })
const busy = (headers: { readonly [name: string]: string }): Reply =>
  json({ error: { message: 'slow down', code: 'rate_limit_exceeded' } }, 429, headers)
const broken = json({ error: { message: 'out of memory', type: 'server_error' } }, 500)

describe('retrying', () => {
  test.each<[what: string, reply: Reply, wait: number]>([
    ['429 with seconds', busy({ 'retry-after': '2' }), 2000],
    ['429 with milliseconds', busy({ 'retry-after-ms': '150', 'retry-after': '9' }), 150],
    ['429 with a date that has passed', busy({ 'retry-after': 'Thu, 01 Jan 1970 00:00:07 GMT' }), 0],
    ['429 without a hint', busy({}), 500],
    ['500', broken, 500],
    ['503 that is no JSON', raw('<h1>Service Unavailable</h1>', 'text/html', 503), 500],
    ['400 where the server says that it passes', json({ error: 'warming up' }, 400, { 'x-should-retry': 'true' }), 500],
    ['a connection that is closed without a word', hangUp, 500],
  ])('after %s', async (_, reply, wait) => {
    for (const stream of [false, true]) {
      const { chat, waits } = await startChat([reply, fine])
      const result = await chat.prompt('How are you?', { stream })
      expect([result.success, historyText(chat)]).toEqual([true, 'user How are you? / assistant Fine. 元気 🎉'])
      expect(waits).toEqual([wait])
      expect(chat.lastErrors).toEqual([])
    }
  })

  test('reports it and discards the pieces so far', async () => {
    const cut = replyIn(openai, { text: 'Fine, thank you.' }, { cutAt: 420 })
    const { chat } = await startChat([cut, fine])
    const reported = await collectEvents(chat.stream('How are you?'))
    const retry = reported.findIndex(({ kind }) => kind === 'retry')
    expect(reported[retry]).toMatchObject({ attempt: 1, waitMs: 500, error: { kind: 'connection' } })
    expect(reported.slice(0, retry).length).toBeGreaterThan(0)
    expect(historyText(chat)).toBe('user How are you? / assistant Fine. 元気 🎉')
  })

  test('ends after two times, waiting longer each time', async () => {
    const { chat, server, waits } = await startChat([broken, broken, broken, fine])
    const result = await chat.prompt('How are you?')
    expect(result).toMatchObject({
      success: false,
      errors: [{ kind: 'status', status: 500, message: 'out of memory', type: 'server_error' }],
    })
    expect([waits, server.asked.length]).toEqual([[500, 1000], 3])
    expect(chat.lastErrors).toBe(result.errors)
    expect(historyText(chat)).toBe('user How are you?')
  })

  test.each<[what: string, reply: Reply, error: object]>([
    ['a wait that is too long', busy({ 'retry-after': '3600' }), { status: 429, retryAfterMs: 3_600_000 }],
    ['no quota', json({ error: { message: 'pay', code: 'insufficient_quota' } }, 429), { code: 'insufficient_quota' }],
    ['a bad request', json({ error: { message: 'no model m', param: 'model' } }, 400), { status: 400, param: 'model' }],
    [
      '500 where the server says that it stays',
      json({}, 500, { 'x-should-retry': 'false', 'x-request-id': 'r1' }),
      { requestID: 'r1' },
    ],
  ])('is not attempted after %s', async (_, reply, error) => {
    const { chat, server } = await startChat([reply, fine])
    expect(await chat.prompt('How are you?')).toMatchObject({ success: false, errors: [error] })
    expect(server.asked.length).toBe(1)
  })
})

describe('a connection that breaks at any byte', () => {
  // A small stream contains every kind of break: inside a word, a character, a line, and between lines.
  const chunks = [{ choices: [{ delta: { content: 'é🎉' } }] }, { choices: [{ delta: {}, finish_reason: 'stop' }] }]
  const bytes = Buffer.byteLength(chunks.map((chunk) => dataLine(JSON.stringify(chunk))).join(''))

  test('is noticed', async () => {
    const cuts = Array.from({ length: bytes }, (_, cutAt) => events(chunks, { cutAt, packet: 11 }))
    const { chat, server } = await startChat([...cuts, fine], { maxRetries: bytes })
    await chat.prompt('How are you?', { stream: true })
    expect([server.asked.length, historyText(chat)]).toEqual([bytes + 1, 'user How are you? / assistant Fine. 元気 🎉'])
  })

  test('is noticed even if it looks like an end, unless the answer was complete', async () => {
    const cuts = Array.from({ length: bytes }, (_, cutAt) => events(chunks, { cutAt, packet: 11, untilClose: true }))
    const { chat, server } = await startChat(cuts, { maxRetries: bytes })
    await chat.prompt('How are you?', { stream: true })
    // Only the two newlines of the last line are missing.
    expect([server.asked.length, historyText(chat)]).toEqual([bytes - 1, 'user How are you? / assistant é🎉'])
  })
})

describe('characters split by packets', () => {
  test.each([1, 2, 3])('of %i bytes', async (packet) => {
    const { chat } = await startChat([replyIn(openai, { text: 'a é 漢 👩‍👩‍👧 𠮷' }, { packet })])
    await chat.prompt('Say it.', { stream: true })
    expect(historyText(chat)).toBe('user Say it. / assistant a é 漢 👩‍👩‍👧 𠮷')
  })
})

describe('a slow server', () => {
  test.each<[what: string, reply: Reply]>([
    ['says nothing', silence()],
    ['drips', silence(true)],
  ])('and %s', async (_, reply) => {
    for (const stream of [false, true]) {
      const { chat } = await startChat([reply], { maxRetries: 0 }, { timeoutMs: 40 })
      expect(await chat.prompt('Hello?', { stream })).toMatchObject({ success: false, errors: [{ kind: 'timeout' }] })
      expect(validate(chat.messages)).toEqual([])
    }
  })
})

test('a server that stops in the middle', async () => {
  const pausing: Reply = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(dataLine(JSON.stringify({ choices: [{ delta: { content: 'So far' } }] })))
  }
  const { chat } = await startChat([pausing], { maxRetries: 0 }, { timeoutMs: 40 })
  const result = await chat.prompt('Hello?', { stream: true })
  expect(result).toMatchObject({ success: false, errors: [{ kind: 'timeout' }] })
  expect(historyText(chat)).toBe('user Hello?')
})

describe('an endless answer', () => {
  /** Streams until the client disconnects. */
  const forever =
    (text: string, type = 'text/event-stream', status = 200): Reply =>
    async (_, response) => {
      response.writeHead(status, { 'content-type': type })
      const open = new Promise((done) => response.once('close', done))
      while (!response.destroyed)
        if (!response.write(text)) await Promise.race([open, new Promise((done) => response.once('drain', done))])
    }
  const words = 'word '.repeat(100_000)

  test.each<[what: string, reply: Reply, kind: string, message: RegExp]>([
    ['of words', forever(dataLine(JSON.stringify({ choices: [{ delta: { content: words } }] }))), 'garbage', /longer/],
    [
      'of arguments',
      forever(
        dataLine(
          JSON.stringify({
            choices: [{ delta: { tool_calls: [{ index: 0, function: { name: 'f', arguments: words } }] } }],
          }),
        ),
      ),
      'garbage',
      /longer/,
    ],
    ['without the end of a line', forever(words), 'garbage', /too large/],
    ['of an error', forever(words, 'text/plain', 400), 'garbage', /too large/],
  ])('%s', async (_, reply, kind, message) => {
    const { chat } = await startChat([reply, fine], { maxRetries: 0 }, { timeoutMs: 20_000 })
    const result = await chat.prompt('Talk.', { stream: true })
    expect(result).toMatchObject({ success: false, errors: [{ kind, message: expect.stringMatching(message) }] })
    expect((await chat.resume({ stream: true })).success).toBe(true)
    expect(validate(chat.messages)).toEqual([])
  })
})

describe('garbage', () => {
  const html = '<!doctype html>\n<html><body>Sign in</body></html>'

  test.each<[what: string, reply: Reply, kind: string, message: RegExp]>([
    ['a page', raw(html, 'text/html'), 'garbage', /JSON/],
    ['half an answer', raw('{"choices":[{"message":{"content":"Fi', 'application/json'), 'garbage', /JSON/],
    ['nothing', raw('', 'application/json'), 'garbage', /JSON/],
    ['an empty object', json({}), 'garbage', /no answer/],
    ['a list', json([]), 'garbage', /no answer/],
    ['null', json(null), 'garbage', /no answer/],
    ['choices that are none', json({ choices: [1, null, 'x'] }), 'garbage', /no answer/],
    ['an error under the status of a success', json({ error: { message: 'model is loading' } }), 'status', /loading/],
    ['an error in the words of others', json({ detail: 'Not Found' }, 404), 'status', /Not Found/],
    ['an error of an old vLLM', json({ object: 'error', message: 'too long', code: 400 }, 400), 'status', /too long/],
    ['bytes', raw(Buffer.from([0xff, 0xfe, 0, 1]), 'application/octet-stream'), 'garbage', /JSON/],
  ])('%s instead of an answer', async (_, reply, kind, message) => {
    const { chat } = await startChat([reply, fine], { maxRetries: 0 })
    const result = await chat.prompt('How are you?')
    expect(result).toMatchObject({ success: false, errors: [{ kind, message: expect.stringMatching(message) }] })
    expect(historyText(chat)).toBe('user How are you?')
    expect((await chat.resume()).success).toBe(true)
    expect(historyText(chat)).toBe('user How are you? / assistant Fine. 元気 🎉')
  })

  test.each<[what: string, reply: Reply, kind: string]>([
    ['a page', raw(html, 'text/html'), 'connection'],
    ['a stream of nothing', eventText(''), 'connection'],
    ['only its end', events([]), 'garbage'],
    ['a chunk that is no JSON', eventText(`${dataLine('{"choices":[{"delta":')}${dataLine('[DONE]')}`), 'garbage'],
    ['a chunk that is no JSON among others', eventText(`${dataLine('{oops')}${dataLine('{"choices":[]}')}`), 'garbage'],
    [
      'an error in the middle',
      events([{ choices: [{ delta: { content: 'Fi' } }] }, { error: { message: 'oom', code: 500 } }]),
      'status',
    ],
  ])('%s instead of a stream', async (_, reply, kind) => {
    const { chat } = await startChat([reply, fine], { maxRetries: 0 })
    const result = await chat.prompt('How are you?', { stream: true })
    expect(result).toMatchObject({ success: false, errors: [{ kind }] })
    expect(historyText(chat)).toBe('user How are you?')
    expect((await chat.resume({ stream: true })).success).toBe(true)
  })

  test('a complete answer instead of a stream, or plain text, is accepted', async () => {
    const complete = { choices: [{ message: { role: 'assistant', content: 'Whole.' } }] }
    const { chat } = await startChat([json(complete), raw(JSON.stringify(complete))])
    await chat.prompt('One', { stream: true })
    await chat.prompt('Two')
    expect(historyText(chat)).toBe('user One / assistant Whole. / user Two / assistant Whole.')
  })
})

test('an unreachable server', async () => {
  const { baseURL } = await modelServer()
  const { chat } = await startChat([], { maxRetries: 0 }, { baseURL: baseURL.replace(/:\d+/, ':1') })
  expect(await chat.prompt('Hello?')).toMatchObject({ success: false, errors: [{ kind: 'connection' }] })
})

test('partial text before a failure is in the result; the history ends with the prompt', async () => {
  const half = events([{ choices: [{ delta: { content: 'Half an ' } }] }, { error: { message: 'oom' } }])
  const { chat } = await startChat([half])
  const result = await chat.prompt('Hello?', { stream: true })
  expect(result.success ? undefined : result.partial?.text).toBe('Half an ')
  expect(historyText(chat)).toBe('user Hello?')
})

test('a failed turn leaves no trace on request', async () => {
  const call = replyIn(openai, { calls: [{ id: 'c1', name: 'now', arguments: '{}' }] })
  const { chat } = await startChat([fine, call, json({ error: 'no' }, 400)], { rollbackOnFailure: true })
  chat.registerTool({ name: 'now' }, () => 'noon')
  await chat.prompt('How are you?')
  expect(await chat.prompt('What time is it?')).toMatchObject({ success: false, completions: [{ id: 'chatcmpl-1' }] })
  expect(historyText(chat)).toBe('user How are you? / assistant Fine. 元気 🎉')
  expect(chat.lastErrors).toMatchObject([{ status: 400, message: 'no' }])
})

test('a key is sent only to its server', async () => {
  const { chat, server } = await startChat([fine], {}, { headers: { 'x-team': 'ours' } })
  await chat.prompt('Hello?')
  expect(server.asked[0]?.headers).toMatchObject({ authorization: 'Bearer none', 'x-team': 'ours' })
  const keyed = await startChat([fine], {}, { apiKey: 'k1' })
  await keyed.chat.prompt('Hello?')
  expect(keyed.server.asked[0]?.headers.authorization).toBe('Bearer k1')
})

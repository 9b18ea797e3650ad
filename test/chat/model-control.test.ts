/** How the user controls the model: instruction, sampling, schema, templates, attachments, fallbacks, limits, keys. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { pickModel } from '../../src/chat/commands/model.ts'
import { requestParameters } from '../../src/chat/endpoint/model-options.ts'
import { checkSchema } from '../../src/lib/json/schema-check.ts'
import { LIST_PRICES } from '../../src/model/prices.ts'
import { tempFolder } from '../support/codex-log.ts'
import { answer, calls } from '../support/model-chunks.ts'
import { chatServer, json, listingServer } from '../support/model-server.ts'
import { answerText, chatSession, endingOf, fakeTool, outputText, sendLine } from './support/chat-session.ts'
import { chatHome, fumiChat, fumiRun } from './support/fumi-chat.ts'
import { openTestChat } from './support/open-chat.ts'

const lastPrompt = (body: { readonly messages?: readonly { readonly [key: string]: unknown }[] } | undefined): string =>
  JSON.stringify(body?.messages?.at(-1)?.['content'] ?? '')

describe('one prompt', () => {
  test('sends instruction, sampling, effort, limit, template, piped text and attachments', async () => {
    const server = await chatServer(answer('Fine.'))
    const place = chatHome()
    writeFileSync(join(place.cwd, 'notes.txt'), 'Kettle at noon.')
    writeFileSync(join(place.cwd, 'system.md'), 'Be strict.')
    const args = [
      '--base-url',
      server.baseURL,
      '--model',
      'm',
      '-p',
      '-t',
      'review',
      '-a',
      'notes.txt',
      '--system',
      '@system.md',
    ]
    const run = await fumiChat(
      [...args, '--temperature', '0.2', '--reasoning-effort', 'low', '--max-output', '99', 'Look for races.'],
      place,
      'diff --git a b\n',
    )
    expect(run).toMatchObject({ code: 0, out: 'Fine.\n' })
    const body = server.asked[0]?.body
    expect(body).toMatchObject({
      temperature: 0.2,
      reasoning_effort: 'low',
      max_completion_tokens: 99,
      messages: expect.arrayContaining([{ role: 'system', content: 'Be strict.' }]),
    })
    expect(lastPrompt(body)).toMatch(/Review this change[\s\S]*Look for races\.[\s\S]*diff --git/)
    expect(lastPrompt(body)).toContain('Kettle at noon.')
  })

  test('an answer that does not fit the schema is asked for again; only one that fits is printed', async () => {
    const server = await chatServer(answer('It is tea.'), answer('```json\n{"name":"tea"}\n```'))
    const place = chatHome()
    const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
    writeFileSync(join(place.cwd, 'tea.json'), JSON.stringify(schema))
    const args = ['--base-url', server.baseURL, '--model', 'm', '-p', '--schema', 'tea.json']
    const run = await fumiChat([...args, 'What?'], place)
    expect(run).toMatchObject({ code: 0, out: '{"name":"tea"}\n', err: expect.stringContaining('it is not JSON') })
    expect(server.asked[0]?.body).toMatchObject({ response_format: { type: 'json_schema', json_schema: { schema } } })
    expect(lastPrompt(server.asked[1]?.body)).toContain('does not fit the required JSON Schema')
    server.say(answer('{}'), answer('{"name":1}'), answer('[]'))
    const failed = await fumiChat([...args, 'Again?'], place)
    expect(failed).toMatchObject({ code: 15, out: '' })
    expect(failed.err).toMatch(/must have "name"[\s\S]*name must be string, but is number[\s\S]*must be object/)
  })

  test('wrong options say what to do', async () => {
    const place = chatHome()
    const run = (...args: readonly string[]) =>
      fumiChat(['--base-url', 'http://127.0.0.1:1/v1', '--model', 'm', '-p', ...args], place)
    expect(await run('--schema', 'none.json', 'Hi')).toMatchObject({
      code: 4,
      err: expect.stringContaining('none.json'),
    })
    writeFileSync(join(place.cwd, 'list.json'), '[]')
    expect(await run('--schema', 'list.json', 'Hi')).toMatchObject({
      code: 2,
      err: expect.stringContaining('must contain a JSON object'),
    })
    expect(await run('-t', 'nosuch', 'Hi')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/Available: .*review/),
    })
    expect(await run('-a', 'gone.png', 'Hi')).toMatchObject({ code: 4, err: expect.stringContaining('gone.png') })
  })
})

test('limits are named as each server knows them', () => {
  const limit = (server: 'openai' | 'ollama', api: 'chat' | 'anthropic') =>
    requestParameters({ maxOutput: 5 }, { server, api })
  expect(limit('openai', 'chat')).toEqual({ max_completion_tokens: 5 })
  expect(limit('ollama', 'chat')).toEqual({ max_tokens: 5 })
})

describe('a model that cannot answer', () => {
  test('is replaced by the next one of the list, which answers the same prompt', async () => {
    const server = await chatServer(
      json({ error: { message: 'Overloaded' } }, 503),
      json({ error: { message: 'gone' } }, 404),
      answer('Here.'),
    )
    const session = chatSession({ baseURL: server.baseURL })
    session.setup.server = { ...session.setup.server, fallback: ['second', 'third'] }
    const events = await sendLine(session, 'Hello')
    expect([endingOf(events), answerText(events)]).toEqual(['answered', 'Here.'])
    expect(server.asked.map(({ body }) => body['model'])).toEqual(['test-model', 'second', 'third'])
    expect(events.filter(({ kind }) => kind === 'notice')).toHaveLength(2)
    expect(session.state.model_info?.model_id).toBe('third')
  })

  test('is not replaced when the key is wrong', async () => {
    const server = await chatServer(json({ error: { message: 'No' } }, 401))
    const session = chatSession({ baseURL: server.baseURL })
    session.setup.server = { ...session.setup.server, fallback: ['second'] }
    expect(endingOf(await sendLine(session, 'Hello'))).toBe('failed')
    expect(server.asked).toHaveLength(1)
  })
})

describe('/model', () => {
  test('lists with numbers and picks by number, name or part', async () => {
    const models = [{ id: 'gpt-5', max_model_len: 400_000 }, { id: 'qwen3:8b' }, { id: 'qwen3:32b' }]
    const server = await listingServer(models, [])
    const { session } = await openTestChat({ server, cwd: tempFolder(), model: 'gpt-5' })
    expect(outputText(await sendLine(session, '/model'))).toMatch(
      /\* 1 {2}gpt-5 {2}400,000\n {2}2 {2}qwen3:8b\n[\s\S]*Type \/model <number>/,
    )
    await sendLine(session, '/model 3')
    expect(session.setup.server.model).toBe('qwen3:32b')
    expect(outputText(await sendLine(session, '/model qwen'))).toMatch(/qwen3:8b\n.*qwen3:32b/)
    expect(session.setup.server.model).toBe('qwen3:32b')
    await sendLine(session, '/model 8B')
    expect(session.setup.server.model).toBe('qwen3:8b')
  })

  test.each([
    ['2', 'b'],
    ['B', 'b'],
    ['unlisted', 'unlisted'],
    ['9', '9'],
  ])('%s picks %s', (word, picked) => expect(pickModel(word, ['a', 'b', 'a2'])).toEqual(picked))
})

describe('limits of a chat', () => {
  const spendingSession = (baseURL: string, limits: object) => {
    const session = chatSession({
      baseURL,
      tools: [fakeTool({ name: 'look' })],
      trusted: ['look'],
      limits: { maxRequests: 50, maxTokens: null, ...limits },
      prices: LIST_PRICES,
    })
    session.setup.server = { ...session.setup.server, model: 'gpt-4o' }
    return session
  }
  const used = { input: 100_000, output: 10_000 }

  test('tokens and cost stop it, and /usage shows them', async () => {
    const { baseURL } = await chatServer(calls([{ name: 'look', args: {} }], '', used), answer('Done.', used))
    const session = spendingSession(baseURL, { maxSessionTokens: 105_000 })
    const events = await sendLine(session, 'Look')
    expect([endingOf(events), outputText(events)]).toEqual([
      'limit',
      expect.stringMatching(/110,000 tokens; the limit is 105,000.*--max-session-tokens/),
    ])
    const shown = outputText(await sendLine(session, '/usage'))
    expect(shown).toMatch(/1 request, 100,000 in, 10,000 out, \$0\.3500/)
    expect(shown).toMatch(/requests 1\/50 · chat tokens 110,000\/105,000/)
    const costly = spendingSession((await chatServer(calls([{ name: 'look', args: {} }], '', used))).baseURL, {
      maxCost: 0.3,
    })
    expect(outputText(await sendLine(costly, 'Look'))).toMatch(/has cost \$0\.3500; the limit is \$0\.3000/)
  })
})

describe('fumi login', () => {
  test('stores the key for its owner only, never prints it, and says whether the server accepts it', async () => {
    const place = chatHome()
    const key = ['sk', 'test', 'abc'].join('-')
    const server = await listingServer([{ id: 'm' }], [])
    await fumiRun(['config', 'profiles.work.url', server.baseURL], place)
    const run = await fumiRun(['login', 'work'], place, `${key}\n`)
    expect(run).toMatchObject({
      code: 0,
      out: expect.stringMatching(/Stored in .*config\.json\.\nwork accepts it: 1 model\./),
    })
    expect(run.out + run.err).not.toContain(key)
    const file = join(place.home, 'config.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).toContain(key)
    expect((await fumiRun(['login', 'work', '--remove'], place)).code).toBe(0)
    expect(readFileSync(file, 'utf8')).not.toContain(key)
    expect(await fumiRun(['login', 'nosuch'], place, 'x')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Available:'),
    })
    expect(await fumiRun(['login', 'work'], place, '')).toMatchObject({
      code: 2,
      err: expect.stringContaining('No key given'),
    })
  })
})

describe('a JSON Schema', () => {
  const schema = {
    type: 'object',
    required: ['id', 'tags'],
    additionalProperties: false,
    properties: {
      id: { type: 'integer', minimum: 1 },
      tags: { type: 'array', items: { $ref: '#/$defs/tag' }, maxItems: 2 },
      kind: { enum: ['a', 'b'] },
      or: { anyOf: [{ type: 'string', pattern: '^x' }, { type: 'null' }] },
    },
    $defs: { tag: { type: 'string', minLength: 2 } },
  }
  test.each([
    [{ id: 1, tags: ['ab'] }, []],
    [{ id: 0.5, tags: [] }, ['id must be integer, but is number']],
    [
      { id: 0, tags: ['a', 'bc', 'de'] },
      ['id must be at least 1', 'tags must have 2 items or fewer', 'tags[0] must have 2 characters or more'],
    ],
    [{ id: 1, tags: [], kind: 'c', more: 1 }, ['kind must be one of "a", "b"', ' must not have "more"']],
    [{ id: 1, tags: [], or: 'y' }, ['or fits none of the alternatives']],
    [null, [' must be object, but is null']],
  ])('%j', (value, problems) => {
    const found = checkSchema(value, schema).map(({ path, reason }) => `${path} ${reason}`)
    expect(found.sort()).toEqual([...problems].sort())
  })
})

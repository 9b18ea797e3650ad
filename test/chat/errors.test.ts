/** What a user reads when the model server fails: the cause and the next step. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { explainChatError } from '../../src/chat/endpoint/explain-error.ts'
import type { ChatError } from '../../src/openai/chat/transport.ts'
import { answer, breaks, refusal, stalls } from '../support/model-chunks.ts'
import { chatServer, events, hangUp, json, modelServer, raw } from '../support/model-server.ts'
import {
  answerText,
  chatSession,
  endingOf,
  eventKinds,
  outputText,
  readJournalOf,
  sendLine,
} from './support/chat-session.ts'
import { chatHome, fumiChat } from './support/fumi-chat.ts'

const OLLAMA = { name: 'ollama', baseURL: 'http://127.0.0.1:11434/v1', keyFrom: { kind: 'none' } } as const
const explain = (error: Partial<ChatError>, more: object = {}): string =>
  explainChatError({ kind: 'status', message: 'no', ...error }, { place: OLLAMA, ...more }).en

describe('the explanation of an error', () => {
  test.each([
    [{ kind: 'connection', code: 'ECONNREFUSED' }, /127\.0\.0\.1:11434 \(connection refused\)\. .*ollama serve/],
    [{ kind: 'connection', code: 'ENOTFOUND' }, /cannot be resolved\. Check the URL/],
    [{ kind: 'connection', code: 'EHOSTUNREACH' }, /Cannot reach .*Check the URL and the network\. .*\/retry/],
    [{ kind: 'connection', code: 'SELF_SIGNED_CERT_IN_CHAIN' }, /certificate .* NODE_EXTRA_CA_CERTS/],
    [{ kind: 'timeout' }, /sent nothing for too long .*\/retry/],
    [{ kind: 'garbage' }, /not a chat completion.*\/v1/],
    [{ status: 401 }, /rejected the request without a key: no\. Set the key: fumi login ollama\./],
    [{ status: 402 }, /no quota left.*billing/],
    [{ status: 429, code: 'insufficient_quota' }, /no quota left.*fumi login ollama/],
    [{ status: 429, retryAfterMs: 90_000 }, /Rate limit.*\/retry in 90 s/],
    [{ status: 404 }, /\/model for the models/],
    [{ status: 503 }, /503\)\. Type \/retry/],
    [{ status: 400 }, /Change the prompt or the model/],
  ] as const)('%j', (error, text) => expect(explain(error)).toMatch(text))

  test.each([
    { kind: 'timeout' },
    { kind: 'connection', code: 'ECONNRESET' },
    { status: 400 },
    { status: 404 },
    { status: 429 },
    { status: 429, retryAfterMs: 90_000 },
    { status: 503 },
  ] as const)('in a script names no command of a chat: %j', (error) => {
    for (const hasPartial of [false, true]) {
      const context = { place: OLLAMA, model: 'm', hasPartial, isTurn: false }
      const { en, ja } = explainChatError({ kind: 'status', message: 'no', ...error }, context)
      expect(en + ja).not.toMatch(/(?<!-)\/(?:retry|model)/)
      expect(en).toMatch(/^[^ ].*\.$/)
      expect(ja).toMatch(/。$/)
    }
  })

  test('without a profile, says where a key can be', () => {
    const place = { name: null, baseURL: 'http://127.0.0.1:9/v1', keyFrom: { kind: 'none' } }
    expect(explain({ status: 401 }, { place })).toMatch(/Set OPENAI_API_KEY, or store the key in a profile/)
  })

  test('names the key that was rejected, and never prints it', () => {
    const at = (keyFrom: object): string => explain({ status: 401 }, { place: { ...OLLAMA, name: 'work', keyFrom } })
    expect(at({ kind: 'environment', variable: 'OPENAI_API_KEY' })).toMatch(
      /the key in OPENAI_API_KEY.*Set a valid key/,
    )
    expect(at({ kind: 'profile', variable: 'WORK_KEY' })).toMatch(/WORK_KEY \(profile work\)/)
    expect(at({ kind: 'profile', variable: null })).toMatch(/the key of profile work.*fumi login work/)
  })
})

/** The address of a server that has just ended. */
async function closedURL(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return `http://127.0.0.1:${port}/v1`
}

describe('a failed turn', () => {
  test('keeps what arrived before the connection broke, and /retry asks again', async () => {
    const { baseURL, asked } = await modelServer(breaks('Half of'), answer('All of it.'))
    const session = chatSession({ baseURL })
    const first = await sendLine(session, 'Tell me')
    expect(first.at(-1)).toMatchObject({
      how: 'failed',
      reason: expect.stringMatching(/broke before .*is saved.*\/retry/),
    })
    expect(session.state.history.at(-1)?.assistant).toMatchObject({ Response: { content: 'Half of' } })
    expect(answerText(await sendLine(session, '/retry'))).toBe('All of it.')
    expect(session.state.history.length).toBe(1)
    expect(asked.at(-1)?.body.messages?.at(-1)).toMatchObject({
      role: 'user',
      content: expect.stringContaining('Tell me'),
    })
    expect(outputText(await sendLine(session, '/rewind branches'))).toContain('Tell me')
  })

  test('a retry says in words that the connection broke', async () => {
    const { baseURL } = await modelServer(hangUp, answer('Here.'))
    const sent = await sendLine(chatSession({ baseURL, retries: 1 }), 'Hello')
    expect(sent).toContainEqual(expect.objectContaining({ kind: 'retry', reason: 'the connection broke' }))
    expect(answerText(sent)).toBe('Here.')
  })

  test('after Ctrl-C, /retry asks again and the stopped answer stays as a branch', async () => {
    const { baseURL } = await modelServer(stalls('Once upon'), answer('A short one.'))
    const session = chatSession({ baseURL })
    await sendLine(session, 'A story', (event) => event.kind === 'delta' && session.interrupt())
    expect(answerText(await sendLine(session, '/retry'))).toBe('A short one.')
    expect(outputText(await sendLine(session, '/rewind branches'))).toContain('A story')
    expect(outputText(await sendLine(chatSession({}), '/retry'))).toMatch(/no prompt to send again/)
  })

  test('a web page of a proxy is one line', async () => {
    const page = `<!DOCTYPE html><title>502 Bad\nGateway</title><body>${'x'.repeat(5000)}`
    const { baseURL } = await modelServer(raw(page, 'text/html', 502))
    const ended = (await sendLine(chatSession({ baseURL }), 'Hello')).at(-1)
    expect(ended).toMatchObject({ reason: expect.stringMatching(/a web page instead of an answer: 502 Bad Gateway/) })
    expect(JSON.stringify(ended)).not.toContain('<html')
  })

  test('an empty answer and a content filter are said', async () => {
    const filtered = events([{ choices: [{ index: 0, delta: {}, finish_reason: 'content_filter' }] }])
    const { baseURL } = await modelServer(answer(''), filtered, refusal('No.'))
    const session = chatSession({ baseURL })
    expect(await sendLine(session, 'Say nothing')).toContainEqual(expect.objectContaining({ code: 'empty_answer' }))
    const refused = { how: 'refused', reason: expect.stringMatching(/filter.*\/model/) }
    expect((await sendLine(session, 'Say it')).at(-1)).toMatchObject(refused)
    expect((await sendLine(session, 'Say it')).at(-1)).toMatchObject(refused)
  })

  test('a server that closes the connection, and one that is not there', async () => {
    const { baseURL } = await modelServer(hangUp)
    expect((await sendLine(chatSession({ baseURL }), 'Hello')).at(-1)).toMatchObject({
      reason: expect.stringMatching(/closed the connection|Cannot reach|broke/),
    })
    const gone = await fumiChat(['--base-url', await closedURL(), '--no-interactive', 'Hi'], chatHome())
    expect(gone).toMatchObject({ code: 10, err: expect.stringMatching(/connection refused.*Start the server/s) })
  })

  test('a port to which no request can be sent is named, with the next step', async () => {
    const ended = (await sendLine(chatSession({ baseURL: 'http://127.0.0.1:1/v1' }), 'Hello')).at(-1)
    const reason = expect.stringMatching(/^The port of .*\. Start .* another port, or check --base-url\.$/)
    expect(ended).toMatchObject({ how: 'failed', reason })
  })

  test('a rejected key names where it came from', async () => {
    const server = await chatServer(json({ error: { message: 'Incorrect API key' } }, 401))
    const variables = { OPENAI_API_KEY: ['sk', 'wrong'].join('-') }
    const run = await fumiChat(
      ['--base-url', server.baseURL, '--no-interactive', 'Hi'],
      chatHome(),
      '',
      undefined,
      variables,
    )
    expect(run).toMatchObject({ code: 10, err: expect.stringContaining('rejected the key in OPENAI_API_KEY') })
    expect(run.err).not.toContain('wrong')
  })
})

describe('reasoning', () => {
  const thinks = (thought: string, text: string) =>
    events([
      { choices: [{ index: 0, delta: { reasoning_content: thought } }] },
      { choices: [{ index: 0, delta: { content: text } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ])

  test('is kept in the journal, and /reasoning prints it', async () => {
    const { baseURL } = await modelServer(thinks('Let me see.', 'Yes.'))
    const session = chatSession({ baseURL })
    expect(outputText(await sendLine(session, '/reasoning'))).toMatch(/no reasoning/)
    expect(eventKinds(await sendLine(session, 'Is it?'))).toContain('reasoning')
    expect(readJournalOf(session)).toContainEqual(expect.objectContaining({ event: 'reasoning', text: 'Let me see.' }))
    expect(outputText(await sendLine(session, '/reasoning'))).toBe('Let me see.\n')
    await sendLine(session, '/reasoning show')
    expect(session.setup.reasoning).toBe('show')
  })
})

describe('/edit', () => {
  test('sends a changed prompt; the old exchange stays as a branch', async () => {
    const { baseURL, asked } = await modelServer(answer('Green.'), answer('Black.'))
    const session = chatSession({ baseURL })
    expect(outputText(await sendLine(session, '/edit'))).toMatch(/no prompt to change/)
    await sendLine(session, 'Which green tea?')
    expect(await sendLine(session, '/edit')).toContainEqual({ kind: 'edit', text: '/edit Which green tea?' })
    const edited = await sendLine(session, '/edit Which black tea?')
    expect(endingOf(edited)).toBe('answered')
    expect(asked.at(-1)?.body.messages?.at(-1)).toMatchObject({
      content: expect.stringContaining('Which black tea?'),
    })
    expect(session.state.history.length).toBe(1)
  })
})

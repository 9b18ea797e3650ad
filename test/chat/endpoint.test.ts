/** Chooses the server, the data it receives, and the size of its window. */
import { describe, expect, test } from 'vitest'
import { chooseEndpoint, type Endpoint, type EndpointChoice } from '../../src/chat/endpoint/endpoint.ts'
import {
  type AskJson,
  contextWindowNotice,
  knownContextWindow,
  listModels,
  resolveContextWindow,
} from '../../src/chat/endpoint/models.ts'

const choose = (given: Partial<EndpointChoice>): Endpoint =>
  chooseEndpoint({ options: {}, defaultProfile: null, profiles: new Map(), variables: {}, ...given })

const KEY = { OPENAI_API_KEY: 'sk-1' }
const URL = 'https://models.example/v1/'

describe('the server', () => {
  test('comes from --base-url, then --profile, then the environment, then the default profile', () => {
    const profiles = new Map([['mine', { url: 'http://mine/v1', model: 'p' }]])
    const variables = { FUMI_BASE_URL: 'http://environment/v1', FUMI_MODEL: 'e' }
    expect(choose({ options: { baseURL: URL, model: 'o' }, variables })).toMatchObject({
      baseURL: 'https://models.example/v1',
      model: 'o',
    })
    const empty = new Map<string, object>([...profiles, ['bare', {}]])
    const asked = (profile: string) =>
      choose({ options: { profile }, profiles: empty, defaultProfile: 'mine', variables })
    expect(asked('mine')).toMatchObject({ baseURL: 'http://mine/v1', model: 'p', name: 'mine' })
    expect(asked('ollama')).toMatchObject({ baseURL: 'http://127.0.0.1:11434/v1', model: 'e', server: 'ollama' })
    expect(asked('bare')).toMatchObject({ baseURL: 'http://environment/v1', model: 'e', name: 'bare' })
    expect(
      choose({ options: { profile: 'mine', baseURL: URL, model: 'o' }, profiles, variables: { ...variables, ...KEY } }),
    ).toMatchObject({ baseURL: 'https://models.example/v1', model: 'o', apiKey: 'sk-1' })
    expect(choose({ options: { profile: 'mine' }, profiles, variables: { ...variables, ...KEY } }).apiKey).toBeNull()
    expect(choose({ profiles, defaultProfile: 'mine', variables })).toMatchObject({ name: null, model: 'e' })
    expect(choose({ variables })).toMatchObject({ baseURL: 'http://environment/v1', model: 'e' })
    expect(choose({ profiles, defaultProfile: 'mine' })).toMatchObject({
      baseURL: 'http://mine/v1',
      model: 'p',
      name: 'mine',
    })
    expect(choose({ variables: KEY })).toMatchObject({ baseURL: 'https://api.openai.com/v1', server: 'openai' })
  })

  test('is recognized by its name or its port', () => {
    expect(choose({ options: { profile: 'lmstudio' } })).toMatchObject({
      server: 'lmstudio',
      baseURL: 'http://127.0.0.1:1234/v1',
    })
    expect(choose({ options: { baseURL: 'http://localhost:11434/v1' } }).server).toBe('ollama')
    expect(choose({ options: { baseURL: 'http://elsewhere:11434/v1' } }).server).toBe('openai')
  })

  test('must be named, and must be an address', () => {
    expect(() => choose({})).toThrow(/No server specified/)
    expect(() => choose({ options: { baseURL: 'localhost:11434' } })).toThrow(/is not a server URL/)
    expect(() => choose({ options: { profile: 'nobody' } })).toThrow(/Unknown profile "nobody"/)
  })
})

describe('the key', () => {
  const profiles = new Map([
    ['plain', { url: 'http://a/v1' }],
    ['own', { url: 'http://a/v1', key: 'k' }],
    ['named', { url: 'http://a/v1', key: '$OPENAI_API_KEY' }],
    ['missing', { url: 'http://a/v1', key: '$NOT_SET' }],
  ])
  const keyOf = (profile: string) => choose({ options: { profile }, profiles, variables: KEY }).apiKey

  test('of OpenAI is sent to OpenAI and to an explicit address, never to that of a profile', () => {
    expect(choose({ variables: KEY }).apiKey).toBe('sk-1')
    expect(choose({ options: { baseURL: URL }, variables: KEY }).apiKey).toBe('sk-1')
    expect([keyOf('plain'), keyOf('ollama'), keyOf('own'), keyOf('named')]).toEqual([null, null, 'k', 'sk-1'])
    expect(() => keyOf('missing')).toThrow(/\$NOT_SET is not set/)
  })
})

describe('the window', () => {
  const endpoint = (profile: string, window: number | null = null): Endpoint => ({
    ...choose({ options: { profile } }),
    window,
  })
  const answering =
    (answers: { readonly [path: string]: unknown }): AskJson =>
    async (url) => {
      const found = Object.entries(answers).find(([path]) => url.endsWith(path))
      if (!found) throw new Error('status 404')
      return found[1]
    }

  test.each([
    ['vllm', { '/v1/models': { data: [{ id: 'x', max_model_len: 1000 }] } }, 1000],
    ['llamacpp', { '/props': { default_generation_settings: { n_ctx: 2000 } } }, 2000],
    ['ollama', { '/api/show': { model_info: { 'qwen3.context_length': 3000 } } }, 3000],
    [
      'ollama',
      { '/api/show': { parameters: 'temperature 1\nnum_ctx  512', model_info: { 'a.context_length': 3000 } } },
      512,
    ],
    ['lmstudio', { '/api/v0/models/x': { max_context_length: 4000, loaded_context_length: 1024 } }, 1024],
  ])('is the value reported by %s', async (profile, answers, tokens) => {
    expect(await resolveContextWindow(endpoint(profile), 'x', answering(answers))).toEqual({ tokens, from: 'server' })
  })

  test('comes from the profile, then the table, then 200,000 with a warning', async () => {
    const nobody = answering({})
    expect(await resolveContextWindow(endpoint('vllm', 77), 'x', nobody)).toEqual({ tokens: 77, from: 'profile' })
    expect(await resolveContextWindow(endpoint('vllm'), 'org/gpt-4o-mini', nobody)).toEqual({
      tokens: 128_000,
      from: 'table',
    })
    const usual = await resolveContextWindow(endpoint('vllm'), 'x', nobody)
    expect(usual).toEqual({ tokens: 200_000, from: 'usual' })
    expect(contextWindowNotice(usual, 'x')?.en).toMatch(/assuming 200,000 tokens/)
    expect(knownContextWindow('gpt-4.1-mini')).toBe(1_047_576)
    expect(['o1', 'o1-mini-2024-09-12', 'gpt-5.4-mini', 'Gemma3:1b', 'nobody-1'].map(knownContextWindow)).toEqual([
      200_000,
      128_000,
      400_000,
      32_768,
      undefined,
    ])
  })

  test('a list of models may have any of the usual forms', async () => {
    const ids = async (answer: unknown) => (await listModels(endpoint('vllm'), async () => answer)).map(({ id }) => id)
    expect(await ids({ data: [{ id: 'a' }, { no: 1 }] })).toEqual(['a'])
    expect(await ids({ models: [{ name: 'b' }] })).toEqual(['b'])
    await expect(ids(Promise.reject(new Error('status 401')))).rejects.toMatchObject({
      code: 'server_failed',
      message: expect.stringContaining('fumi login'),
    })
    await expect(ids(Promise.reject(new Error('fetch failed')))).rejects.toMatchObject({ code: 'server_failed' })
  })
})

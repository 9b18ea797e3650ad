/** Who may access the server, and the security headers of every reply. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRateBucket } from '../../src/server/guard/check-request.ts'
import { readToken, rotateToken, TokenFile } from '../../src/server/guard/sign-in.ts'
import { tempFolder } from '../support/codex-log.ts'
import { HOST, type Reply, serve, type TestServer } from './test-server.ts'

describe('the token', () => {
  test('is created once, private, and rotated on request', () => {
    const folder = join(tempFolder(), 'data')
    const token = readToken(folder)
    expect(token).toMatch(/^[\w-]{43}$/)
    expect(readToken(folder)).toBe(token)
    if (process.platform !== 'win32') expect(statSync(join(folder, 'token')).mode & 0o777).toBe(0o600)
    const next = rotateToken(folder)
    expect(next).not.toBe(token)
    expect(readToken(folder)).toBe(next)
  })

  test('that is invalid is replaced', () => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'token'), '\n')
    expect(readToken(folder)).toMatch(/^[\w-]{43}$/)
  })

  test('a server takes the new one', async () => {
    const folder = tempFolder()
    const service = new TokenFile(folder)
    const { token } = service
    const next = rotateToken(folder)
    await expect.poll(() => service.accepts(next)).toBe(true)
    expect(service.accepts(token)).toBe(false)
    expect(service.accepts('')).toBe(false)
  })
})

describe('a guarded server', () => {
  const folder = tempFolder()
  const tokens = new TokenFile(folder)
  let served: TestServer
  const page = join(folder, 'page')
  beforeAll(() => {
    mkdirSync(join(page, 'assets'), { recursive: true })
    writeFileSync(join(page, 'index.html'), '<!doctype html><title>page</title>')
    writeFileSync(join(page, 'assets', 'app-1.js'), `export const text = '${'x'.repeat(5000)}'`)
    served = serve({}, { tokens, page, rate: { burst: 1e6, perSecond: 1e6 } })
  })
  afterAll(() => served.close())
  const status = async (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<number> =>
    (await served.ask(path, { headers, method })).status
  const bearer = { authorization: `Bearer ${tokens.token}` }

  test('refuses requests without the token', async () => {
    for (const path of [
      '/',
      '/api/sessions',
      '/api/live',
      '/api/openapi.json',
      '/assets/app-1.js',
      '/api/sessions/x/messages',
    ])
      expect([path, await status(path)]).toEqual([path, 401])
    expect(await status('/api/sync', {}, 'POST')).toBe(401)
    expect(await status('/api/sessions', bearer)).toBe(200)
    expect(await status('/api/sessions', { authorization: `Bearer ${tokens.token}x` })).toBe(401)
    expect(await status(`/api/sessions?token=${tokens.token}`)).toBe(401)
    expect(await (await served.ask('/api/health')).json()).toEqual({ data: { status: 'ok' }, meta: {} })
  })

  test('guessing is rate limited', async () => {
    const guessed = serve({}, { tokens })
    const statuses = new Set<number>()
    for (let at = 0; at < 40; at++)
      statuses.add((await guessed.ask('/api/sessions', { headers: { authorization: `Bearer guess-${at}` } })).status)
    expect(statuses).toEqual(new Set([401, 429]))
    expect((await guessed.ask('/api/sessions', { headers: bearer })).status).toBe(200)
    await guessed.close()
  })

  test.each([
    ['another name', { host: 'evil.example:4680' }],
    ['another port', { host: 'localhost:80' }],
    ['no port', { host: 'localhost' }],
    ['a name that begins like ours', { host: 'localhost.evil.example:4680' }],
    ['a name with ours before an @', { host: 'localhost:4680@evil.example' }],
    ['an address of another machine', { host: '10.0.0.1:4680' }],
    ['another origin', { origin: 'http://evil.example' }],
    ['an origin on another port', { origin: 'http://localhost:3000' }],
    ['no origin at all', { origin: 'null' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a site beside us', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }],
  ])('refuses %s from any client', async (_, headers) => {
    expect(await status('/api/sessions', { ...bearer, ...headers })).toBe(403)
    expect(await status('/api/health', headers)).toBe(403)
  })

  test.each([
    ['our names', { host: '127.0.0.1:4680' }],
    ['the other loopback', { host: '[::1]:4680' }],
    ['our own page', { origin: `http://${HOST}`, 'sec-fetch-site': 'same-origin' }],
  ])('answers %s', async (_, headers) => {
    expect(await status('/api/sessions', { ...bearer, ...headers })).toBe(200)
  })

  test('a link on another site may open the page, but not reach the API', async () => {
    const clicked = { ...bearer, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    expect(await status('/', clicked)).toBe(200)
    expect(await status('/api/sessions', clicked)).toBe(403)
  })

  test('requests that a form can send change nothing', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
      expect(await status('/api/sync', { ...bearer, 'content-type': type }, 'POST')).toBe(403)
  })

  test('bodies are small', async () => {
    const response = await served.ask('/api/sessions/x/mark', {
      method: 'PUT',
      headers: { ...bearer, 'content-type': 'application/json', 'content-length': '1000000' },
      body: JSON.stringify({ note: 'x'.repeat(999_000) }),
    })
    expect(response.status).toBe(413)
    expect(((await response.json()) as Reply).errors[0].code).toBe('body_too_large')
  })

  test('every answer is safe to show', async () => {
    for (const path of ['/', '/api/sessions', '/api/nothing', '/assets/app-1.js']) {
      const { headers } = await served.ask(path, { headers: bearer })
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("script-src 'self';")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
    }
    expect((await served.ask('/api/sessions', { headers: bearer })).headers.get('cache-control')).toBe('no-store')
  })

  test('serves the page files, compressed and cached, and nothing else', async () => {
    const script = await served.ask('/assets/app-1.js', { headers: { ...bearer, 'accept-encoding': 'gzip' } })
    expect(script.headers.get('content-encoding')).toBe('gzip')
    expect(Number(script.headers.get('content-length'))).toBeLessThan(1000)
    expect(script.headers.get('cache-control')).toContain('immutable')
    const index = await served.ask('/sessions/any', { headers: bearer })
    expect(await index.text()).toBe(readFileSync(join(page, 'index.html'), 'utf8'))
    const again = await served.ask('/', { headers: { ...bearer, 'if-none-match': index.headers.get('etag') ?? '' } })
    expect(again.status).toBe(304)
    for (const path of [
      '/../token',
      '/%2e%2e/token',
      '/assets/../../token',
      '/token.txt',
      '/assets/%2e%2e%2f%2e%2e%2ftoken.x',
    ])
      expect(await (await served.ask(path, { headers: bearer })).text()).not.toContain(tokens.token)
  })
})

test('requests are counted', async () => {
  const served = serve({}, { rate: { burst: 3, perSecond: 0.001 } })
  const statuses: number[] = []
  for (let at = 0; at < 5; at++) statuses.push((await served.ask('/api/health')).status)
  expect(statuses).toEqual([200, 200, 200, 429, 429])
  await served.close()
})

test('each client has its own rate limit that refills', () => {
  let now = 0
  const { take } = createRateBucket({ burst: 2, perSecond: 1 }, () => now)
  expect([take('a'), take('a'), take('a'), take('b')]).toEqual([true, true, false, true])
  now = 1000
  expect([take('a'), take('a')]).toEqual([true, false])
})

test.each([
  ['over TLS', true, 443],
  ['without', false, 80],
])('a server at the default port, %s, accepts a host without a port', async (_, secure, port) => {
  const served = serve({}, { secure, port: () => port })
  const status = async (host: string) => (await served.ask('/api/health', { headers: { host } })).status
  expect([await status('localhost'), await status(`localhost:${port}`)]).toEqual([200, 200])
  expect(await status(`localhost:${port === 443 ? 80 : 443}`)).toBe(403)
  await served.close()
})

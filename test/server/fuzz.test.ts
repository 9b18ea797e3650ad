/** For any request, the server answers in its envelope and never with a bug. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CHILD, KETTLE, OWN_SESSION, sampleServer } from './sample-server.ts'
import { idOf } from './test-server.ts'

const { served } = sampleServer()

interface Endpoint {
  readonly method: string
  readonly path: string
  readonly queries: readonly string[]
}

async function endpoints(): Promise<readonly Endpoint[]> {
  const { paths } = await served().get('/api/openapi.json')
  const all = Object.entries(paths as Record<string, Record<string, { parameters?: { in: string; name: string }[] }>>)
  return all.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [] }]) => ({
      method: method.toUpperCase(),
      path,
      queries: parameters.filter((one) => one.in === 'query').map(({ name }) => name),
    })),
  )
}

const unusual = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e999',
    'NaN',
    '9007199254740993',
    'null',
    '../../etc/passwd',
    '..%2f',
    '%00',
    '\0',
    '*',
    '"',
    '(',
    '__proto__',
  ),
  fc.constantFrom(
    '2026-02-30',
    'today',
    '7d',
    '99999d',
    '/(a+)+$/',
    'a OR',
    'agent:',
    'has:error',
    '検索',
    '\ud800',
    'x'.repeat(5_000),
  ),
  fc.integer().map(String),
)
const known = fc.constantFrom(KETTLE, CHILD, OWN_SESSION, 'codex:', 'nobody:1', '2026-02-03T00:15:00.000Z#1')
const value = fc.oneof({ weight: 2, arbitrary: unusual }, { weight: 1, arbitrary: known })
const body = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc.string({ unit: 'binary', maxLength: 50 }),
  fc
    .dictionary(
      fc.constantFrom('to', 'name', 'text', 'tags', 'starred', 'note', 'session', 'model', 'profile', 'cwd', 'form'),
      fc.jsonValue(),
    )
    .map((fields) => JSON.stringify(fields)),
)
const header = fc.tuple(
  fc.constantFrom(
    'accept',
    'range',
    'if-none-match',
    'last-event-id',
    'accept-language',
    'accept-encoding',
    'cookie',
    'authorization',
  ),
  fc.string({ maxLength: 40 }).filter((text) => /^[\x20-\x7e]*$/.test(text)),
)

test('every request gets a reply in the envelope, never an internal error', async () => {
  const all = await endpoints()
  expect(all.length).toBeGreaterThan(25)
  const request = fc.record({
    endpoint: fc.constantFrom(...all),
    parts: fc.array(value, { minLength: 3, maxLength: 3 }),
    query: fc.array(fc.tuple(fc.nat(20), value), { maxLength: 4 }),
    body,
    headers: fc.array(header, { maxLength: 3 }),
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ endpoint: { method, path, queries }, parts, query, body, headers }) => {
      let at = 0
      const place = path.replaceAll(/\{\w+\}/g, () => idOf(wellFormed(parts[at++] ?? '')) || 'x')
      const search = new URLSearchParams()
      for (const [n, text] of query) search.append(queries[n % queries.length] ?? 'unknown', text)
      const response = await served().ask(`${place}?${search}`, {
        method,
        headers: { ...Object.fromEntries(headers), ...(method !== 'GET' && { 'content-type': 'application/json' }) },
        ...(method !== 'GET' && method !== 'HEAD' && { body }),
      })
      expect(response.status).toBeLessThan(500)
      // Event streams end when the client disconnects.
      if (response.headers.get('content-type')?.startsWith('text/event-stream')) return response.body?.cancel()
      const text = await response.text()
      if (response.headers.get('content-type')?.startsWith('application/json') !== true) {
        expect(response.ok || response.status === 304).toBe(true)
        return
      }
      const reply = JSON.parse(text) as object
      if (response.ok)
        expect(Object.keys(reply).sort()).toEqual('openapi' in reply ? expect.anything() : ['data', 'meta'])
      else expect(reply).toMatchObject({ errors: [{ status: response.status, detail: expect.any(String) }] })
    }),
    // More cases in fuzz runs: starting a server is slow, requests are fast.
    { numRuns: process.env['FUMI_SEED'] === undefined ? 400 : 4000 },
  )
}, 600_000)

const wellFormed = (text: string): string => text.replaceAll(/\p{Surrogate}/gu, '\ufffd')

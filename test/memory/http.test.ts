/** The path /mcp of the server with the official client: its own token, many clients, progress. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, describe, expect, test } from 'vitest'
import { readToken, revokeMemoryToken, rotateToken } from '../../src/server/guard/sign-in.ts'
import { listen } from '../../src/server/listen.ts'
import { testHome } from '../support/test-home.ts'
import { decision, elsewhere, failure, idOf, record } from './recorded-sessions.ts'

const open: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

async function started() {
  const home = testHome()
  record(home, decision, failure, elsewhere)
  await home.app.sync()
  const server = await listen(home.app, { port: 0, page: '', version: '1' })
  open.push(() => home.app.close(), server.close)
  return { ...home, url: new URL('/mcp', server.url), base: server.url }
}

async function connect(url: URL, token: string): Promise<Client> {
  const client = new Client({ name: 'test-client', version: '1' })
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }) as never)
  open.push(() => client.close())
  return client
}

const textOf = (result: unknown): string => (result as { content: readonly { text: string }[] }).content[0]?.text ?? ''

describe('/mcp', () => {
  test('answers the official client, over all projects', async () => {
    const { app, url } = await started()
    const client = await connect(url, readToken(app.directory, 'memory'))
    expect((await client.listTools()).tools).toHaveLength(6)
    const answer = textOf(await client.callTool({ name: 'search', arguments: { query: 'lighthouse cache' } }))
    expect(answer).toMatch(/^Best matches in all projects/)
    expect(answer).toContain('Postgres')
    const seen: number[] = []
    await client.callTool({ name: 'read', arguments: { session: `codex/${idOf(1)}` } }, undefined, {
      onprogress: ({ progress }) => seen.push(progress),
    })
    expect(seen.length).toBeGreaterThan(0)
    const stop = new AbortController()
    const cancelled = client.callTool({ name: 'list', arguments: {} }, undefined, { signal: stop.signal })
    stop.abort()
    await expect(cancelled).rejects.toThrow(/abort/i)
    expect((await client.callTool({ name: 'search', arguments: {} })).isError).toBe(true)
  })

  test('its token opens nothing else, can be replaced, and can be revoked', async () => {
    const { app, url, base } = await started()
    const token = readToken(app.directory, 'memory')
    const ask = (path: string, bearer: string | undefined, init: RequestInit = {}) =>
      fetch(new URL(path, base), { ...init, headers: { ...(bearer && { authorization: `Bearer ${bearer}` }) } })
    for (const path of ['/api/sessions', '/api/search?q=x', '/api/live', '/'])
      expect([path, (await ask(path, token)).status]).toEqual([path, 401])
    expect((await ask('/mcp', undefined, { method: 'POST' })).status).toBe(401)
    expect((await ask('/mcp', 'wrong-token-wrong-token', { method: 'POST' })).status).toBe(401)
    await connect(url, token)
    const fresh = rotateToken(app.directory, 'memory')
    await expect(connect(url, token)).rejects.toThrow()
    await connect(url, fresh)
    expect(revokeMemoryToken(app.directory)).toBe(true)
    await expect(connect(url, fresh)).rejects.toThrow()
    expect(revokeMemoryToken(app.directory)).toBe(false)
  })

  test('serves many clients, and ends their sessions', async () => {
    const { app, url, base } = await started()
    const token = readToken(app.directory, 'memory')
    const clients = await Promise.all(Array.from({ length: 20 }, () => connect(url, token)))
    const answers = await Promise.all(
      clients.map((client) => client.callTool({ name: 'search', arguments: { query: 'lantern-core' } })),
    )
    for (const answer of answers) expect(textOf(answer)).toContain('lantern-core')
    const send = (session: string, method = 'POST') =>
      fetch(new URL('/mcp', base), {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'mcp-session-id': session },
        ...(method === 'POST' && { body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }),
      })
    expect((await send('unknown')).status).toBe(404)
    expect((await send('unknown', 'DELETE')).status).toBe(404)
    expect((await send('unknown', 'GET')).status).toBe(405)
  })

  test('refuses other sites and bodies that are too large', async () => {
    const { app, base } = await started()
    const token = readToken(app.directory, 'memory')
    const send = (headers: Record<string, string>, body: string) =>
      fetch(new URL('/mcp', base), {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body,
      })
    expect((await send({ origin: 'https://evil.example' }, '{}')).status).toBe(403)
    expect((await send({}, `"${'x'.repeat(300_000)}"`)).status).toBe(413)
    expect((await send({}, 'no json')).status).toBe(400)
  })
})

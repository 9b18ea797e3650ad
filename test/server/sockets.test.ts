/** The server on a real port: live changes, disconnecting clients, TLS, foreign host names. */
import { execFileSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { readEventData } from '../../src/lib/sse.ts'
import type { LiveEvent } from '../../src/model/api/machine.ts'
import { type ListenOptions, listen, type RunningListener } from '../../src/server/listen.ts'
import { assistant, shortSession, tempFolder, text } from '../support/codex-log.ts'
import { rollout, testHome } from '../support/test-home.ts'
import type { Reply } from './test-server.ts'

const open: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

async function started(
  options: Partial<ListenOptions> = {},
  made = testHome(),
): Promise<RunningListener & typeof made> {
  const server = await listen(made.app, { port: 0, page: '', version: '1', auth: false, ...options })
  open.push(() => made.app.close(), server.close)
  return { ...made, ...server }
}

interface Live {
  next(kind: LiveEvent['kind']): Promise<Reply>
  lastId(): string
  stop(): void
}

/** Events as a browser receives them. */
async function live(url: string, last?: string): Promise<Live> {
  const stop = new AbortController()
  open.push(() => stop.abort())
  const response = await fetch(new URL('/api/live', url), {
    signal: stop.signal,
    ...(last !== undefined && { headers: { 'last-event-id': last } }),
  })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  let id = ''
  async function* noted(): AsyncGenerator<Uint8Array> {
    const decoder = new TextDecoder()
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
      for (const [, found = ''] of decoder.decode(piece).matchAll(/^id: (.+)$/gm)) id = found
      yield piece
    }
  }
  const events = readEventData(noted())
  return {
    lastId: () => id,
    stop: () => stop.abort(),
    async next(kind) {
      for (;;) {
        const { value, done } = await events.next()
        if (done) throw new Error(`no ${kind} came`)
        const event = JSON.parse(value) as LiveEvent
        if (event.kind === kind) return event
      }
    },
  }
}

describe('live', () => {
  test('an append is reported, and a reconnecting client gets missed events', async () => {
    const made = testHome()
    const path = made.write(rollout('live'), text(shortSession()))
    const { url } = await started({}, made)
    const first = await live(url)
    expect(await first.next('hello')).toMatchObject({ reset: true, epoch: expect.any(String) })
    await expect.poll(async () => (await reply(url, '/api/sync')).data.status).toBe('idle')
    appendFileSync(path, text([assistant(20, 'One more word')]))
    const change = await first.next('change')
    const [session] = (await reply(url, '/api/sessions')).data
    expect(change).toMatchObject({ session: session.id })
    // The first change may still concern earlier data.
    const last = `/api/sessions/${encodeURIComponent(session.id)}/messages?before=end&limit=1`
    const lastWords = async (): Promise<string> => (await reply(url, last)).data[0].segments[0]?.text
    await expect.poll(lastWords).toBe('One more word')
    const before = (await reply(url, '/api/sessions')).data[0].revision
    const seen = first.lastId()
    first.stop()
    appendFileSync(path, text([assistant(21, 'While nobody looked')]))
    await expect.poll(async () => (await reply(url, '/api/sessions')).data[0].revision).toBeGreaterThan(before)
    const second = await live(url, seen)
    expect(await second.next('hello')).toMatchObject({ reset: false })
    expect(await second.next('change')).toMatchObject({ session: session.id })
    const third = await live(url, 'other-1')
    expect(await third.next('hello')).toMatchObject({ reset: true })
  })

  test('annotations are reported', async () => {
    const made = testHome()
    made.write(rollout('marked'), text(shortSession()))
    await made.app.sync()
    const { url } = await started({ idle: true }, made)
    const client = await live(url)
    await client.next('hello')
    const [{ id }] = (await reply(url, '/api/sessions')).data
    await fetch(new URL(`/api/sessions/${encodeURIComponent(id)}/mark`, url), {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{"starred":true}',
    })
    expect(await client.next('mark')).toMatchObject({ session: id })
  })

  test('changes of another process are reported, and its watching is taken over when it ends', async () => {
    const made = testHome()
    const path = made.write(rollout('other'), text(shortSession()))
    const other = testHome({}, made.folder)
    const watch = await other.app.watch()
    if (watch.kind !== 'watching') throw new Error('somebody else holds the lock')
    await watch.ready
    const { url } = await started({ pollEvery: 20, retryEvery: 50 }, made)
    expect((await reply(url, '/api/health')).data.watching).toBe('elsewhere')
    const client = await live(url)
    await client.next('hello')
    appendFileSync(path, text([assistant(20, 'Written elsewhere')]))
    await client.next('change')
    expect((await reply(url, '/api/sessions')).data[0].revision).toBeGreaterThan(0)
    await watch.close()
    other.app.close()
    await expect.poll(async () => (await reply(url, '/api/health')).data.watching).toBe('here')
  })

  test('a thousand clients that disconnect leave nothing behind', async () => {
    const { port, clients, url } = await started({ idle: true, rate: { burst: 1e6, perSecond: 1e6 } })
    for (let round = 0; round < 5; round++) {
      const sockets = await Promise.all(Array.from({ length: 200 }, () => listening(port)))
      expect(clients()).toBe(200)
      for (const [at, socket] of sockets.entries()) at % 2 ? socket.destroy() : socket.resetAndDestroy()
      await expect.poll(clients).toBe(0)
    }
    expect((await reply(url, '/api/health')).data.live_clients).toBe(0)
  })
})

/** A client of the live stream that has received its first event. */
function listening(port: number): Promise<Socket> {
  return new Promise((done, failed) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`GET /api/live HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`),
    )
    socket.once('error', failed)
    let text = ''
    socket.on('data', (piece) => {
      text += String(piece)
      if (text.includes('event: hello')) done(socket)
    })
  })
}

async function reply(url: string, path: string): Promise<Reply> {
  const response = await fetch(new URL(path, url))
  expect(response.status).toBe(200)
  return response.json()
}

describe('the port', () => {
  test('is the next free one if it is taken', async () => {
    const first = await started({ idle: true })
    const second = await started({ idle: true, port: first.port })
    expect(second.port).toBeGreaterThan(first.port)
    expect((await reply(second.url, '/api/health')).data.status).toBe('ok')
  })

  test('rejects other host names, whatever the address', async () => {
    const { port } = await started({ idle: true })
    for (const [host, status] of [
      ['evil.example', 403],
      [`evil.example:${port}`, 403],
      [`localhost:${port}`, 200],
    ] as const)
      expect([host, await statusOf(port, host)]).toEqual([host, status])
  })

  test('is not opened to others without the token, nor with half of a certificate', async () => {
    const { app } = testHome()
    const options = { port: 0, page: '', version: '1', idle: true }
    await expect(listen(app, { ...options, host: '0.0.0.0', auth: false })).rejects.toThrow('--no-auth')
    await expect(listen(app, { ...options, cert: 'x' })).rejects.toThrow('--key')
    await expect(listen(app, { ...options, cert: 'none', key: 'none' })).rejects.toThrow('cannot be read')
  })

  test('speaks TLS with a certificate', async () => {
    const folder = tempFolder()
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    if (!testMachine(cert, key)) return console.log('skipped: there is no openssl to make a certificate with')
    const { url, link, port } = await started({ idle: true, auth: true, cert, key })
    expect(url).toBe(`https://localhost:${port}/`)
    const entered = await new Promise<Reply>((done, failed) => {
      const headers = { 'content-type': 'application/json' }
      request(new URL('/login', url), { method: 'POST', headers, rejectUnauthorized: false }, (response) => {
        response.resume()
        done({ status: response.statusCode, cookie: response.headers['set-cookie']?.[0] })
      })
        .once('error', failed)
        .end(JSON.stringify({ code: new URL(link()).hash.slice(1) }))
    })
    expect(entered.status).toBe(200)
    expect(entered.cookie).toContain('Secure')
  })
})

function testMachine(cert: string, key: string): boolean {
  try {
    const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost`
    execFileSync('openssl', [...words.split(' '), '-out', cert, '-keyout', key], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function statusOf(port: number, host: string): Promise<number> {
  return new Promise((done, failed) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`GET /api/health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
    )
    socket.once('error', failed)
    socket.once('data', (piece) => {
      socket.destroy()
      done(Number(/^HTTP\/1\.1 (\d+)/.exec(String(piece))?.[1]))
    })
  })
}

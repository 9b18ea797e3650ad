/** Clients that do not read are disconnected, their pending data is bounded, and all others receive everything. */
import { connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ChatEvent } from '../../src/model/api/chat.ts'
import type { LiveEvent } from '../../src/model/api/machine.ts'
import { EventLog } from '../../src/server/chat/event-log.ts'
import { listen } from '../../src/server/listen.ts'
import { EventBus, MISSED_EVENTS } from '../../src/sync/event-bus.ts'
import { assistant, header, text, user } from '../support/codex-log.ts'
import { events } from '../support/model-server.ts'
import { rollout, testHome } from '../support/test-home.ts'
import { EventListener, openChat, post, startChatServer } from './chat/chat-server.ts'

/** Sends a request and never reads the reply. */
async function stalled(port: number, path: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.pause()
  socket.on('error', () => {})
  await new Promise<void>((done) => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`, () => done())
  })
  return socket
}

/** A client that does not read notices the disconnection when it writes. */
async function dropped(socket: Socket): Promise<void> {
  const isClosed = (): boolean => {
    if (!socket.destroyed) socket.write('\r\n')
    return socket.destroyed
  }
  await expect.poll(isClosed, { timeout: 30_000, interval: 1500 }).toBe(true)
}

describe('a client that never reads', () => {
  test('of a chat is disconnected, while another gets every event', async () => {
    const piece = 'word '.repeat(100_000)
    const pieces = 14
    const chunk = { choices: [{ index: 0, delta: { content: piece } }] }
    const last = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
    const { url, port } = await startChatServer([events([...Array.from({ length: pieces }, () => chunk), last])], {
      stall: 300,
    })
    const { id } = await openChat(url)
    const silent = await stalled(port, `/api/chat/${id}/events`)
    const listener = await EventListener.to(url, id)
    expect((await post(url, `/api/chat/${id}/say`, { text: 'Talk.' })).status).toBe(202)
    await listener.end()
    expect(listener.words.length).toBe(piece.length * pieces)
    await dropped(silent)
  })

  test('of a large export is disconnected', async () => {
    const made = testHome()
    const long = 'a line of an answer\n'.repeat(5000)
    made.write(
      rollout('long'),
      text([header(), user(1, 'Go.'), ...Array.from({ length: 200 }, (_, n) => assistant(n + 2, `${n} ${long}`))]),
    )
    await made.app.sync()
    const server = await listen(made.app, { port: 0, page: '', version: '1', auth: false, idle: true, stall: 300 })
    onTestFinished(() => made.app.close())
    onTestFinished(server.close)
    const [session] = ((await (await fetch(`${server.url}api/sessions`)).json()) as { data: { id: string }[] }).data
    const path = `/api/sessions/${encodeURIComponent(session?.id ?? '')}/export?format=json&redact=false`
    const silent = await stalled(server.port, path)
    await dropped(silent)
    const complete = await (await fetch(new URL(path, server.url))).text()
    expect(complete.length).toBeGreaterThan(200 * long.length)
  })
})

describe('the queue of a client', () => {
  const change = (n: number): LiveEvent => ({ kind: 'change', session: `codex:${n}` as never, revision: n })

  test('of the live stream has one event per session, and a reset beyond a thousand', async () => {
    const eventBus = new EventBus()
    const stop = new AbortController()
    const slow = eventBus.subscribe({ signal: stop.signal, pause: 60_000, limit: 1000 })
    eventBus.publish([change(0)])
    expect((await slow.next()).value).toEqual(change(0))
    for (let n = 0; n < 3000; n++) eventBus.publish([change(n % 500)])
    for (let n = 0; n < 500; n++) expect((await slow.next()).value).toMatchObject({ kind: 'change' })
    for (let n = 1; n <= 1001; n++) eventBus.publish([change(n)])
    eventBus.publish([change(2000)])
    expect((await slow.next()).value).toBe(MISSED_EVENTS)
    expect((await slow.next()).value).toEqual(change(2000))
    stop.abort()
    await slow.return(undefined)
    expect(eventBus.subscribers).toBe(0)
  })

  test('of a chat is bounded, and a client that got everything continues without a reset', () => {
    const log = new EventLog({ events: 100, length: 10_000 })
    const reported: ChatEvent[] = []
    let [epoch, at] = [log.epoch, 0]
    const hear = (): void => {
      if (epoch !== log.epoch) {
        at = log.positionOf(epoch, at) ?? Number.NaN
        epoch = log.epoch
      }
      for (let event = log.at(at); event; event = log.at(++at)) reported.push(event)
    }
    const pushed: ChatEvent[] = []
    const push = (event: ChatEvent): void => {
      pushed.push(event)
      log.push(event)
      hear()
      expect(log.length).toBeLessThanOrEqual(101)
    }
    for (let n = 0; n < 400; n++) push({ kind: 'delta', text: `${n} ` })
    // Adjacent pieces are merged, so a new client receives the complete answer.
    const words = Array.from({ length: log.length }, (_, n) => log.at(n))
      .map((event) => (event?.kind === 'delta' ? event.text : ''))
      .join('')
    expect(words).toBe(Array.from({ length: 400 }, (_, n) => `${n} `).join(''))
    for (let n = 0; n < 50; n++) {
      push({ kind: 'tool_output', id: `t${n}`, text: 'x'.repeat(500) })
      push({ kind: 'tool_done', id: `t${n}`, name: 'x', status: 'success', output: 'y'.repeat(500), ms: 1 })
    }
    expect(reported).toEqual(pushed)
    expect(log.at(0)).toMatchObject({ kind: 'notice', code: 'events_dropped' })
    const size = JSON.stringify(Array.from({ length: log.length }, (_, n) => log.at(n))).length
    expect(size).toBeLessThan(15_000)
    expect(log.positionOf('another', 5)).toBeUndefined()
  })
})

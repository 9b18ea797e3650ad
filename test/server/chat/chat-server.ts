/** A server with a model behind it, and clients that chat over real sockets. */
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { readEventData } from '../../../src/lib/sse.ts'
import type { ChatEvent, ChatState } from '../../../src/model/api/chat.ts'
import { type ListenOptions, listen, type RunningListener } from '../../../src/server/listen.ts'
import { chatServer, type ModelServer, type Reply } from '../../support/model-server.ts'
import { type TestHome, testHome } from '../../support/test-home.ts'

export interface ChatServer extends RunningListener, TestHome {
  readonly model: ModelServer
  /** Directory of the chats. */
  readonly cwd: string
}

/** @param replies replies of the model, in order */
export async function startChatServer(
  replies: readonly Reply[] = [],
  options: Partial<ListenOptions> = {},
  made: TestHome = testHome(),
): Promise<ChatServer> {
  const model = await chatServer(...replies)
  const cwd = join(realpathSync(made.folder), 'project')
  mkdirSync(cwd, { recursive: true })
  mkdirSync(made.app.directory, { recursive: true })
  const profiles = { here: { url: model.baseURL, model: 'm', key: 'sk-never-told' } }
  writeFileSync(join(made.app.directory, 'config.json'), JSON.stringify({ profile: 'here', profiles }))
  await made.app.sync()
  const server = await listen(made.app, { port: 0, page: '', version: '1', auth: false, idle: true, cwd, ...options })
  onTestFinished(() => made.app.close())
  onTestFinished(server.close)
  return { ...made, ...server, model, cwd }
}

// biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of the reply it requested
export type PostResult = { readonly status: number; readonly body: any }

export async function post(url: string, path: string, body: object = {}): Promise<PostResult> {
  const response = await fetch(new URL(path, url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

export async function openChat(url: string, body: object = {}): Promise<ChatState> {
  const reply = await post(url, '/api/chat', body)
  expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200 })
  return reply.body.data
}

export class EventListener {
  /** All events received. */
  readonly received: ChatEvent[] = []
  last = ''
  readonly #stop = new AbortController()
  readonly #events: AsyncGenerator<string>

  private constructor(response: Response, stop: AbortController) {
    this.#stop = stop
    this.#events = readEventData(this.#noted(response))
  }

  static async to(url: string, id: string, since?: string): Promise<EventListener> {
    const stop = new AbortController()
    onTestFinished(() => stop.abort())
    const response = await fetch(new URL(`/api/chat/${id}/events`, url), {
      signal: stop.signal,
      ...(since !== undefined && { headers: { 'last-event-id': since } }),
    })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    return new EventListener(response, stop)
  }

  async *#noted(response: Response): AsyncGenerator<Uint8Array> {
    const decoder = new TextDecoder()
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
      for (const [, found = ''] of decoder.decode(piece).matchAll(/^id: (.+)$/gm)) this.last = found
      yield piece
    }
  }

  /** The next event of this kind. */
  async next<Kind extends ChatEvent['kind']>(kind: Kind): Promise<Extract<ChatEvent, { kind: Kind }>> {
    for (;;) {
      const { value, done } = await this.#events.next()
      if (done) throw new Error(`no ${kind} came`)
      const event = JSON.parse(value) as ChatEvent
      this.received.push(event)
      if (event.kind === kind) return event as Extract<ChatEvent, { kind: Kind }>
    }
  }

  /** Resolves when the turn has ended and the conversation is idle. */
  async end(): Promise<Extract<ChatEvent, { kind: 'ended' }>> {
    const ended = await this.next('ended')
    await this.rest()
    return ended
  }

  async rest(): Promise<ChatState> {
    for (;;) {
      const { state } = await this.next('state')
      if (!state.running) return state
    }
  }

  /** Text of all answers received. */
  get words(): string {
    return this.received.map((event) => (event.kind === 'delta' ? event.text : '')).join('')
  }

  stop(): void {
    this.#stop.abort()
  }
}

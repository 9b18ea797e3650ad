/** A server with the samples, and with a log that contains everything a reply may contain. */
import { afterAll, beforeAll, expect } from 'vitest'
import { assistant, call, header, line, result, text, user } from '../support/codex-log.ts'
import { rollout } from '../support/test-home.ts'
import { type Reply, samples, serve, type TestServer } from './test-server.ts'

export const KETTLE = 'codex:019c22d1-6a00-7000-8000-000000000001'
export const PARENT = 'codex:019c6ad8-8260-7000-8000-000000000003'
export const CHILD = 'codex:019c6ad8-b140-7000-8000-000000000004'
export const ENCRYPTED_TEXT = 'gAAAAABsealed-words-that-nobody-may-see'
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
export const LONG_OUTPUT = 'a long line of output\n'.repeat(20_000)
export const OWN_SESSION = 'codex:019c0000-0000-7000-8000-000000000001'

const ownLog = text([
  header(),
  user(1, 'Look at **this**, <b>please</b>.'),
  line(2, 'response_item', {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` }],
  }),
  line(3, 'response_item', { type: 'reasoning', summary: [], encrypted_content: ENCRYPTED_TEXT }),
  call(4, 'call_1', { command: ['bash', '-lc', 'seq 1'] }),
  result(5, 'call_1', LONG_OUTPUT),
  call(6, 'call_2', { command: ['bash', '-lc', 'sleep 1'] }),
  assistant(7, 'Done: `ok`.'),
  `{"damaged","encrypted_content":"${ENCRYPTED_TEXT}`,
])

export interface SampleServer {
  served(): TestServer
  get(path: string, shape?: string): Promise<Reply>
  problem(path: string, init?: RequestInit): Promise<Reply>
}

/** One per test file. */
export function sampleServer(): SampleServer {
  let served: TestServer
  beforeAll(async () => {
    served = serve({ ...samples(), [rollout('own', 'sessions/2026/02/04')]: ownLog })
    await served.app.sync()
  })
  afterAll(() => served.close())
  return {
    served: () => served,
    get: (path, shape) => served.get(path, shape),
    async problem(path, init) {
      const response = await served.ask(path, init)
      const { errors } = (await response.json()) as Reply
      expect(errors[0].status).toBe(response.status)
      return errors[0]
    },
  }
}

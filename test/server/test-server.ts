/** A separate server and app for each test. It opens no port. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { buildServer, type ServerOptions } from '../../src/server/build-server.ts'
import { type TestHome, testHome } from '../support/test-home.ts'
import { shapeProblems } from './check-shape.ts'

export interface TestServer extends TestHome {
  /** The parsed reply, checked against its shape in the API description. */
  get<T = Reply>(path: string, shape?: string): Promise<T>
  ask(path: string, init?: RequestInit): Promise<Response>
  close(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of the reply it requested
export type Reply = any

export const HOST = 'localhost:4680'

export function serve(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  options: Partial<ServerOptions> = {},
): TestServer {
  const made = testHome()
  for (const [path, content] of Object.entries(files)) made.write(path, content)
  const server = buildServer(made.app, {
    host: 'localhost',
    port: () => 4680,
    tokens: undefined,
    secure: false,
    page: join(made.folder, 'no-page'),
    version: '1.2.3',
    idle: true,
    ...options,
  })
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> =>
    server.api.request(path, { ...init, headers: { host: HOST, ...(init.headers as Record<string, string>) } })
  return {
    ...made,
    ask,
    async get<T>(path: string, shape?: string) {
      const response = await ask(path)
      const reply = (await response.json()) as T
      expect({ path, status: response.status, reply: response.ok ? '' : reply }).toEqual({
        path,
        status: 200,
        reply: '',
      })
      if (shape) expect(shapeProblems(shape, reply)).toEqual([])
      return reply
    },
    async close() {
      await server.close()
      made.app.close()
    },
  }
}

export const idOf = (id: string): string => encodeURIComponent(id)

export const samples = (): Record<string, string> => {
  const folder = join(import.meta.dirname, '..', '..', 'samples', 'codex', 'sessions')
  const paths = [
    '2026/02/03/rollout-2026-02-03T09-15-00-019c22d1-6a00-7000-8000-000000000001.jsonl',
    '2026/02/17/rollout-2026-02-17T18-05-00-019c6ad8-8260-7000-8000-000000000003.jsonl',
    '2026/02/17/rollout-2026-02-17T18-05-12-019c6ad8-b140-7000-8000-000000000004.jsonl',
  ]
  return Object.fromEntries(paths.map((path) => [`.codex/sessions/${path}`, readFileSync(join(folder, path), 'utf8')]))
}

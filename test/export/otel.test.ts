/** Sessions as spans of OpenTelemetry: tokens add up, calls and sub-agents are in one trace, nothing is said by default. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exportOtel } from '../../src/export/otel.ts'
import { OutlineCollector } from '../../src/export/outline.ts'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import { onCleanup } from '../support/cleanup.ts'
import { header, text, tokens, user } from '../support/codex-log.ts'
import { fumiPath } from '../support/run-fumi.ts'
import { rollout, testHome } from '../support/test-home.ts'

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly {
    readonly key: string
    readonly value: { readonly stringValue?: string; readonly intValue?: string }
  }[]
}

const SAMPLES = join(import.meta.dirname, '../../samples/codex/sessions')

test('spans of every sample have the tokens of its session, valid ids and the trace of its parent', async () => {
  const home = testHome()
  cpSync(SAMPLES, join(home.folder, '.codex/sessions'), { recursive: true })
  await home.app.sync()
  const sessions = home.app.list({ children: 'all' }).sessions
  const traces = new Map<string, string>()
  const own = new Map<string, Span>()
  const ids = new Set<string>()
  for (const { id, usage, agent } of sessions) {
    const log = await home.app.logOf(id)
    const header = home.app.index.header(id)
    if (!log || !header) throw new Error('no log')
    const messages: NormalizedMessage[] = []
    for await (const batch of log.agent.read(log.source))
      for (const one of batch) if (one.kind === 'message') messages.push(one.message)
    const collector = new OutlineCollector()
    for (const message of messages) collector.add(message)
    const input = { session: header, agent, outline: collector.outline(), messages: toAsync(messages) }
    let out = ''
    for await (const piece of exportOtel(input, {})) out += piece
    const spans =
      (JSON.parse(out) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }).resourceSpans[0]?.scopeSpans[0]
        ?.spans ?? []
    const sum = (key: string): number =>
      spans
        .flatMap(({ attributes }) => attributes)
        .reduce((all, one) => (one.key === key ? all + Number(one.value.intValue) : all), 0)
    expect(sum('gen_ai.usage.input_tokens'), id).toBe(usage.input_tokens)
    expect(sum('gen_ai.usage.output_tokens'), id).toBe(usage.output_tokens)
    for (const span of spans) {
      expect(span.traceId).toMatch(/^[\da-f]{32}$/)
      expect(span.spanId).toMatch(/^[\da-f]{16}$/)
      expect(ids.has(span.spanId)).toBe(false)
      ids.add(span.spanId)
      expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true)
    }
    const [first] = spans
    if (!first) throw new Error('no span')
    traces.set(id, first.traceId)
    own.set(id, first)
    const prompt = header.first_prompt ?? ''
    expect(prompt.length).toBeGreaterThan(10)
    expect(out).not.toContain(JSON.stringify(prompt.slice(0, 40)).slice(1, -1))
  }
  const child = sessions.find(({ relation }) => relation === 'subagent')
  expect(child && traces.get(child.id)).toBe(child?.parent && traces.get(child.parent))
  expect(ids.has(own.get(child?.id ?? '')?.parentSpanId ?? '')).toBe(true)
})

test('the whole archive is sent to a collector, sub-agents of sub-agents in the trace of the first', async () => {
  const home = testHome()
  cpSync(SAMPLES, join(home.folder, '.codex/sessions'), { recursive: true })
  const nested = (id: string, parent: string) => [
    header({ id, cwd: '/w', source: { subagent: { thread_spawn: { parent_thread_id: parent, depth: 1 } } } }),
    user(1, 'Check the strings.'),
    tokens(2, 5, 5),
  ]
  const [child, grandchild] = ['019c6ad8-b140-7000-8000-000000000004', '019c6ad8-b140-7000-8000-000000000099']
  home.write(rollout(grandchild), text(nested(grandchild, child)))
  const requests: string[] = []
  const collector = createServer((request, response) => {
    let body = ''
    request.on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      requests.push(`${request.url} ${request.headers['x-key']} ${body}`)
      response.writeHead(requests.length === 2 ? 503 : 200).end('{}')
    })
  })
  await new Promise<void>((done) => collector.listen(0, '127.0.0.1', done))
  onCleanup(() => collector.close())
  const address = collector.address()
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/v1/traces`
  const run = async (): Promise<number | null> => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: home.folder, FUMI_HOME: join(home.folder, 'fumi') }
    const child = spawn(process.execPath, [fumiPath, 'export', 'all', '-o', url], {
      env: { ...env, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=secret%20key' },
      stdio: 'ignore',
    })
    return ((await once(child, 'exit')) as [number | null])[0]
  }
  // Refused once: the command says so, and sending again sends the same spans.
  expect(await run()).not.toBe(0)
  requests.splice(0, requests.length, '', '')
  expect(await run()).toBe(0)
  const sent = requests.slice(2)
  expect(sent.every((one) => one.startsWith('/v1/traces secret key {"resourceSpans"'))).toBe(true)
  await home.app.sync()
  expect(sent).toHaveLength(home.app.list({ children: 'all' }).total)
  const traceOf = (id: string): string | undefined =>
    /"traceId":"([^"]+)"/.exec(sent.find((one) => one.includes(`"stringValue":"codex:${id}"`)) ?? '')?.[1]
  expect(traceOf(grandchild)).toBeDefined()
  expect(traceOf(grandchild)).toBe(traceOf('019c6ad8-8260-7000-8000-000000000003'))
  expect(traceOf(child)).toBe(traceOf(grandchild))
})

async function* toAsync<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}

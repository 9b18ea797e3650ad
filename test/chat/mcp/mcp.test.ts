/** Real MCP servers over stdio and HTTP. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { HttpServerEntry, McpServerEntry, StdioServerEntry } from '../../../src/chat/agent-file/agent-file.ts'
import { toModelName } from '../../../src/chat/mcp/offer.ts'
import { McpServers } from '../../../src/chat/services.ts'
import type { ToolRunResult } from '../../../src/chat/tools/tool.ts'
import { buildToolSet } from '../../../src/chat/tools/tool-set.ts'
import type { JsonValue } from '../../../src/lib/json/lossless.ts'
import { tempFolder } from '../../support/codex-log.ts'
import { textIn } from '../tools/tool-project.ts'
import { startHttpToolServer } from './http-server.ts'

const SERVER = join(import.meta.dirname, 'tools-server.mjs')
const WAIT = 50_000
const cwd = tempFolder()
const running: McpServers[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((servers) => servers.stop()))
})

const stdio = (more: Partial<StdioServerEntry> = {}, ...args: readonly string[]): StdioServerEntry => ({
  type: 'stdio',
  command: process.execPath,
  args: [SERVER, ...args],
  env: new Map(),
  timeoutMs: 60_000,
  disabled: false,
  ...more,
})

async function started(entries: { readonly [name: string]: McpServerEntry }, aliases = new Map<string, string>()) {
  let onChange = (): void => {}
  const servers = new McpServers(new Map(Object.entries(entries)), { cwd, aliases, onChange: () => onChange() })
  running.push(servers)
  await servers.start(WAIT)
  const call = async (
    name: string,
    args: JsonValue = {},
    signal = new AbortController().signal,
  ): Promise<ToolRunResult> => {
    const checked = await buildToolSet({ builtIn: [], mcp: servers.tools() })
      .find(name)
      ?.check(args, { cwd, home: cwd })
    if (!checked?.ok) throw new Error(checked?.error ?? `no tool ${name}`)
    return checked.call.run({ cwd, home: cwd, signal })
  }
  const changed = () =>
    new Promise<void>((resolve) => {
      onChange = resolve
    })
  return { servers, call, changed }
}

describe('a server over stdio', () => {
  test('that reports changed tools endlessly is queried at intervals', async () => {
    const { call } = await started({ one: stdio({}, 'flooding') })
    expect(textIn(await call('flood'))).toContain('flooded')
    // All notifications arrived before this answer; without a pause, each would have caused a request for the list.
    const times = Number(/"text":"(\d+)"/.exec(JSON.stringify(await call('listed')).replaceAll('\\', ''))?.[1])
    expect(times).toBeGreaterThan(0)
    expect(times).toBeLessThan(20)
  })

  test('whose list does not end is skipped, and the others are used', async () => {
    const { servers } = await started({ bad: stdio({}, 'endless'), good: stdio() })
    const [bad, good] = servers.reports()
    expect(bad).toMatchObject({
      status: 'failed',
      tools: [],
      reason: { en: expect.stringContaining('the list has more than') },
    })
    expect(good).toMatchObject({ status: 'running' })
  })

  test('offers tools under valid names and reports those that cannot be offered', async () => {
    const { servers } = await started({ one: stdio() }, new Map([['@one/fail', 'fails']]))
    const [report] = servers.reports()
    expect(report).toMatchObject({ name: 'one', status: 'running', title: 'test-tools 3.2.1', reason: null })
    expect(report?.tools).toEqual(['echo', 'dropall', 'fails', 'broken', 'picture', 'slow', 'exit', 'grow', 'env'])
    expect(report?.omitted.map(({ reason }) => reason.en)).toEqual([
      'it has no description',
      expect.stringContaining('longer than 64 bytes'),
    ])
    expect(servers.tools()[1]).toMatchObject({ name: 'dropall', hostName: 'drop-all', origin: 'one' })
  })

  test('answers become results with complete JSON, images and errors', async () => {
    const { call } = await started({ one: stdio({ env: new Map([['GIVEN', 'yes']]) }, 'extra') })
    expect(await call('echo', { text: '会話' })).toMatchObject({
      status: 'Success',
      content: [{ Json: { content: [{ type: 'text', text: '会話' }], structuredContent: { said: '会話' } } }],
    })
    expect(textIn(await call('env'))).toContain(`yes ${cwd} extra`)
    expect(await call('fail')).toMatchObject({ status: 'Error', content: [{ Json: { isError: true } }] })
    const broken = await call('broken')
    expect([broken.status, textIn(broken)]).toEqual(['Error', expect.stringContaining('cannot broken')])
    expect(await call('picture')).toEqual({
      status: 'Success',
      content: [{ Text: 'look' }, { Text: 'See images data supplied' }],
      images: [{ format: 'Png', source: { Bytes: [137, 80, 78, 71, 13, 10, 26, 10] } }],
      changedFiles: [],
    })
    await expect(call('echo', 'text')).rejects.toThrow('must be an object')
  })

  test('a call shows the annotations of its server', async () => {
    const { servers } = await started({ one: stdio() })
    const levels = await Promise.all(
      servers
        .tools()
        .slice(0, 3)
        .map(async (tool) => {
          const checked = await tool.check({ text: 'x' }, { cwd, home: cwd })
          return checked.ok && [checked.call.need.level, checked.call.need.summary.en]
        }),
    )
    expect(levels).toEqual([
      ['read-only', '@one/echo {"text":"x"}'],
      ['dangerous', '@one/drop-all {"text":"x"}'],
      ['changes', '@one/fail {"text":"x"}'],
    ])
  })

  test('a call ends by timeout or abort, and the server is notified', async () => {
    const { servers, call } = await started({ one: stdio(), short: stdio({ timeoutMs: 3000 }) })
    const ending = new AbortController()
    const reported = async (text: string) => {
      while (!servers.reports()[0]?.stderr.includes(text)) await new Promise((go) => setTimeout(go, 10))
    }
    const slow = call('slow', {}, ending.signal)
    await reported('slow began')
    ending.abort()
    expect(textIn(await slow)).toBe('The user interrupted the tool execution.')
    await reported('slow was cancelled')
    const tool = servers.tools().find(({ origin, name }) => origin === 'short' && name === 'slow')
    const checked = await tool?.check({}, { cwd, home: cwd })
    if (!checked?.ok) throw new Error('refused')
    const late = await checked.call.run({ cwd, home: cwd, signal: new AbortController().signal })
    expect([late.status, textIn(late)]).toEqual(['Error', expect.stringMatching(/timed out/i)])
  })

  test('later tools are added; a server that ends removes its tools and reports why', async () => {
    const { servers, call, changed } = await started({ one: stdio() })
    const grown = changed()
    await call('grow')
    await grown
    expect(servers.tools()[0]?.name).toBe('grown')
    const gone = changed()
    expect(await call('exit')).toMatchObject({ status: 'Error' })
    await gone
    expect(servers.tools()).toEqual([])
    expect(servers.reports()[0]).toMatchObject({ status: 'failed', reason: { en: 'it exited: out of paper' } })
  })
})

test('servers start in parallel, and a broken one does not stop the others', async () => {
  const { servers } = await started({
    good: stdio(),
    crash: stdio({}, 'crash'),
    none: stdio({ command: join(cwd, 'no-such-program') }),
    mute: stdio({ timeoutMs: 1500 }, 'mute'),
    off: stdio({ disabled: true }),
    nowhere: { type: 'http', url: 'http://127.0.0.1:1/mcp', headers: new Map(), timeoutMs: 5000, disabled: false },
    odd: { type: 'http', url: 'not a url', headers: new Map(), timeoutMs: 5000, disabled: false },
    twin: stdio(),
  })
  expect(servers.reports().map(({ name, status, reason }) => [name, status, reason?.en ?? null])).toEqual([
    ['good', 'running', null],
    ['crash', 'failed', expect.stringContaining('no licence')],
    ['none', 'failed', expect.stringContaining('ENOENT')],
    ['mute', 'failed', expect.stringMatching(/timed out/i)],
    ['off', 'disabled', null],
    ['nowhere', 'failed', expect.any(String)],
    ['odd', 'failed', expect.stringMatching(/invalid url/i)],
    ['twin', 'running', null],
  ])
  const box = buildToolSet({ builtIn: [], mcp: servers.tools() })
  expect(box.find('echo')?.origin).toBe('good')
  expect(box.omitted[0]).toEqual({
    label: '@twin/echo',
    reason: expect.objectContaining({ en: expect.stringContaining('@good/echo') }),
  })
})

test('a slow server does not block, and can be stopped while it starts', async () => {
  rmSync(join(cwd, 'mute.pid'), { force: true })
  const servers = new McpServers(new Map([['mute', stdio({}, 'mute')]]), { cwd, aliases: new Map(), onChange() {} })
  expect(await servers.start(0)).toMatchObject([{ status: 'starting' }])
  while (!existsSync(join(cwd, 'mute.pid'))) await new Promise((go) => setTimeout(go, 10))
  const pid = Number(readFileSync(join(cwd, 'mute.pid'), 'utf8'))
  await servers.stop()
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  expect(servers.reports()).toMatchObject([{ status: 'stopped' }])
})

test('a server that never lists its tools can be stopped at once', async () => {
  const entry = stdio({ timeoutMs: 3_600_000 }, 'pondering')
  const servers = new McpServers(new Map([['slow', entry]]), { cwd, aliases: new Map(), onChange() {} })
  await servers.start(0)
  await expect.poll(() => servers.reports()[0]?.stderr).toContain('pondering')
  await servers.stop()
  expect(servers.reports()).toMatchObject([{ status: 'stopped' }])
})

describe('a server over HTTP', () => {
  const entry = (url: string, headers: readonly (readonly [string, string])[] = []): HttpServerEntry => ({
    type: 'http',
    url,
    headers: new Map(headers),
    timeoutMs: 20_000,
    disabled: false,
  })

  test('is called with its headers', async () => {
    const { url, seen, close } = await startHttpToolServer({ token: 'Bearer x' })
    const { servers, call } = await started({ web: entry(url, [['Authorization', 'Bearer x']]) })
    expect(servers.reports()[0]).toMatchObject({ type: 'http', status: 'running', title: 'test-tools 3.2.1' })
    expect(await call('echo', { text: 'far' })).toMatchObject({
      content: [{ Json: { structuredContent: { said: 'far' } } }],
    })
    expect(seen.every(({ authorization }) => authorization === 'Bearer x')).toBe(true)
    await close()
  })

  test('that requires a token reports it', async () => {
    const { url, close } = await startHttpToolServer({ token: 'Bearer x' })
    const { servers } = await started({ web: entry(url) })
    expect(servers.reports()[0]).toMatchObject({ status: 'failed', reason: { en: expect.stringContaining('token') } })
    await close()
  })
})

test('names for models', () => {
  const none = new Set<string>()
  expect(['get_it', 'get-it', '2do', 'a___b', '日本', '--'].map((name) => toModelName(name, none))).toEqual([
    'get_it',
    'getit',
    'a2do',
    'a___b',
    expect.stringMatching(/^a\d{3}$/),
    expect.stringMatching(/^a\d{3}$/),
  ])
  expect(toModelName('x-___-y', none)).toBe('xy')
  expect(toModelName('get-it', new Set(['getit']))).toBe('getit1')
  fc.assert(
    fc.property(fc.string(), (name) => {
      expect(toModelName(name, none)).toMatch(/^[a-zA-Z][a-zA-Z0-9_]*$/)
    }),
  )
})

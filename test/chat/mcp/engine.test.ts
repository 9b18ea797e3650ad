/** Tools of real MCP servers over stdio and HTTP, called by a model. */
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { ChatSessionEvent } from '../../../src/chat/events.ts'
import { fieldsOf, listOf, stringOf } from '../../../src/lib/unknown-values.ts'
import { untranslated } from '../../../src/model/phrase.ts'
import { tempFolder } from '../../support/codex-log.ts'
import { answer, calls } from '../../support/model-chunks.ts'
import { chatServer, type ModelRequest, type ModelServer } from '../../support/model-server.ts'
import { endingOf, outputText, sendLine } from '../support/chat-session.ts'
import { openTestChat } from '../support/open-chat.ts'
import { type HttpToolServer, startHttpToolServer } from './http-server.ts'

const open: HttpToolServer[] = []
afterAll(async () => {
  for (const one of open) await one.close()
})

const stdio = (...args: readonly string[]) => ({
  command: process.execPath,
  args: [join(import.meta.dirname, 'tools-server.mjs'), ...args],
})

async function http() {
  const one = await startHttpToolServer()
  open.push(one)
  return one
}

async function asking(server: ModelServer, mcpServers: object, more: object = {}) {
  const { session } = await openTestChat({ server, cwd: tempFolder(), agent: { mcpServers, ...more } })
  return session
}

const call = (name: string, args: object = {}) => calls([{ name, args }])

const results = ({ body }: ModelRequest) =>
  (body.messages ?? []).filter(({ role }) => role === 'tool').map((one) => one['content'])

const offered = (asked: ModelRequest | undefined) =>
  listOf(asked?.body['tools']).map((tool) => stringOf(fieldsOf(fieldsOf(tool)?.['function'])?.['name']))

const statuses = (events: readonly ChatSessionEvent[]) =>
  events.flatMap((event) => (event.kind === 'tool_done' ? [event.local.result.status] : []))

describe.each(['stdio', 'http'] as const)('over %s', (way) => {
  const entry = async (more: object = {}) =>
    way === 'stdio' ? { ...stdio(), ...more } : { type: 'http', url: (await http()).url, ...more }

  test('an answer, a failure, an exception and an image reach the model in call order', async () => {
    const server = await chatServer(
      calls([
        { id: 'a', name: 'echo', args: { text: '会話' } },
        { id: 'b', name: 'fail', args: {} },
        { id: 'c', name: 'broken', args: {} },
        { id: 'd', name: 'picture', args: {} },
      ]),
      answer('Seen.'),
    )
    const session = await asking(server, { far: await entry() })
    const events = await sendLine(session, 'Try them')
    expect([endingOf(events), statuses(events).sort()]).toEqual(['answered', ['Error', 'Error', 'Success', 'Success']])
    const [, second] = server.asked
    expect(second && results(second)).toEqual([
      expect.stringContaining('"said":"会話"'),
      expect.stringMatching(/^Error: .*"isError":true/),
      expect.stringMatching(/^Error: An error occurred processing the tool: \n.*cannot broken/),
      'look\nSee images data supplied',
    ])
    const shown = second?.body.messages?.at(-1)?.['content'] as readonly { readonly type: string }[]
    expect(shown.map(({ type }) => type)).toContain('image_url')
    expect([...session.state.tools.keys()]).toEqual(['native___', 'far'])
  })

  test('a call that hangs times out and the chat continues', async () => {
    const server = await chatServer(call('slow'), answer('Too slow.'))
    const session = await asking(server, { far: await entry({ timeout: way === 'stdio' ? 6000 : 1500 }) })
    const events = await sendLine(session, 'Wait for it')
    expect([endingOf(events), statuses(events)]).toEqual(['answered', ['Error']])
    expect(server.asked[1] && results(server.asked[1])).toEqual([expect.stringMatching(/^Error: [\s\S]*timed out/i)])
  })

  test('tools added later are offered with the next request', async () => {
    const server = await chatServer(call('grow'), answer('More now.'), answer('Yes.'))
    const session = await asking(server, { far: await entry() })
    await sendLine(session, 'Grow')
    await expect.poll(() => session.setup.names()).toContain('grown')
    await sendLine(session, 'And?')
    expect(offered(server.asked[0])).not.toContain('grown')
    expect(offered(server.asked[2])).toContain('grown')
  })
})

test('names are valid for models; aliases and clashes are reported', async () => {
  const server = await chatServer(call('dropall'), answer('Dropped.'))
  const session = await asking(
    server,
    { one: stdio(), two: stdio() },
    { toolAliases: { '@one/env': 'surroundings', '@two/echo': 'echo_two' } },
  )
  const events = await sendLine(session, 'Drop all')
  expect(offered(server.asked[0])).toEqual(
    expect.arrayContaining(['echo', 'dropall', 'surroundings', 'echo_two', 'fs_read']),
  )
  expect(new Set(offered(server.asked[0])).size).toBe(offered(server.asked[0]).length)
  expect(events.find((event) => event.kind === 'tool_asked')).toMatchObject({
    need: { summary: '@one/drop-all {}', level: 'dangerous' },
  })
  const list = outputText(await sendLine(session, '/tools'))
  expect(list).toMatch(/@one\/drop-all \(as dropall\)/)
  expect(list).toMatch(/@two\/drop-all {2}not available: .*@one\/drop-all/)
  expect(outputText(await sendLine(session, '/mcp one'))).toMatch(
    /@one\/silent {2}not available: it has no description/,
  )
})

test('/mcp shows each state, and the tools of a dead server disappear', async () => {
  const server = await chatServer(call('exit'), answer('It is gone.'), call('echo'), answer('Gone indeed.'))
  const session = await asking(server, {
    frail: stdio(),
    idle: { ...stdio(), disabled: true },
    crash: stdio('crash'),
  })
  const before = outputText(await sendLine(session, '/mcp'))
  expect(before).toMatch(/^frail {2}stdio, running, \d+ ms\n {2}echo/)
  expect(before).toMatch(/^idle {2}stdio, disabled$/m)
  expect(before).toMatch(/^crash {2}stdio, failed: .*no licence/m)
  const events = await sendLine(session, 'Leave')
  expect([endingOf(events), statuses(events)]).toEqual(['answered', ['Error']])
  await expect.poll(() => session.setup.names()).not.toContain('echo')
  expect(outputText(await sendLine(session, '/mcp frail'))).toMatch(/failed: it exited: out of paper/)
  const after = await sendLine(session, 'Again')
  expect(endingOf(after)).toBe('answered')
  expect(server.asked.at(-1) && results(server.asked.at(-1) as ModelRequest).at(-1)).toMatch(
    /^Error: There is no tool echo/,
  )
})

test('a restarted HTTP server is reconnected; a missing one is reported', async () => {
  const far = await http()
  const echo = call('echo', { text: 'again' })
  const server = await chatServer(echo, answer('Yes.'), echo, answer('No.'))
  const session = await asking(server, { far: { type: 'http', url: far.url } })
  await session.setup.services.ready()
  far.forget()
  expect(statuses(await sendLine(session, 'Ask'))).toEqual(['Success'])
  await far.close()
  const events = await sendLine(session, 'Ask again')
  expect([endingOf(events), statuses(events)]).toEqual(['answered', ['Error']])
})

test('a server that requires authentication reports what to do', async () => {
  const one = await startHttpToolServer({ token: 'Bearer x' })
  open.push(one)
  const server = await chatServer(answer('Hello.'))
  const session = await asking(server, { guarded: { type: 'http', url: one.url } })
  const events = await sendLine(session, 'Hello')
  expect(events.find((event) => event.kind === 'notice')).toMatchObject({
    code: 'mcp',
    text: expect.stringMatching(/guarded .*\(401\).*"Authorization": "Bearer …".*mcpServers/),
  })
})

describe('trust in a tool covers only that tool', () => {
  const mcpServers = { srv: stdio('wild') }
  const unusual = async () => {
    const server = await chatServer()
    const cwd = tempFolder()
    const { session } = await openTestChat({ server, cwd, agent: { mcpServers }, trustAll: false })
    await session.setup.services.ready()
    return { talk: session, server }
  }
  const decisions = ({ setup }: Awaited<ReturnType<typeof unusual>>['talk']): readonly string[] =>
    setup.toolSet.all
      .filter(({ origin }) => origin !== 'native___')
      .filter((tool) => setup.decide(tool, { level: 'changes', summary: untranslated('') }).kind === 'allow')
      .map(({ origin, hostName }) => `${origin} ${hostName}`)

  test('even if its server named it * or [a-z]', async () => {
    const { talk: session, server } = await unusual()
    for (const wild of ['*', 'e?ho', '[a-z]']) {
      const tool = session.setup.toolSet.all.find(({ origin, hostName }) => origin === 'srv' && hostName === wild)
      server.say(call(tool?.name ?? ''), answer('Done.'))
      await sendLine(session, 'Do it', (event) => (event.kind === 'consent_needed' ? 'trust' : undefined))
    }
    expect(decisions(session)).toEqual(['srv *', 'srv e?ho', 'srv [a-z]'])
    server.say(call('echo'), answer('Done.'))
    const events = await sendLine(session, 'And another', (event) =>
      event.kind === 'consent_needed' ? 'no' : undefined,
    )
    expect(events.some(({ kind }) => kind === 'consent_needed')).toBe(true)
  })

  test('also with /tools trust, where names take precedence over patterns', async () => {
    const { talk: session } = await unusual()
    await sendLine(session, '/tools trust @srv/*')
    expect(decisions(session)).toEqual(['srv *'])
    await sendLine(session, '/tools untrust @srv/*')
    expect(decisions(session)).toEqual([])
    await sendLine(session, '/tools trust @srv/ec*')
    expect(decisions(session)).toEqual(['srv echo'])
  })
})

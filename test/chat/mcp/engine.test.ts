/** Tools of MCP servers in a conversation: real servers over stdio and over HTTP, asked by a model. */
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { TalkEvent } from '../../../src/chat/turn/event.ts'
import { fieldsOf, listOf, stringOf } from '../../../src/lib/object.ts'
import { asIs } from '../../../src/model/phrase.ts'
import { tempFolder } from '../../support/log.ts'
import { answer, calls } from '../../support/model-chunks.ts'
import { type Asked, chatServer, type ModelServer } from '../../support/model-server.ts'
import { opened } from '../support/opened.ts'
import { ended, outputs, said } from '../support/talking.ts'
import { type Served, served } from './served.ts'

const open: Served[] = []
afterAll(async () => {
  for (const one of open) await one.close()
})

const stdio = (...args: readonly string[]) => ({
  command: process.execPath,
  args: [join(import.meta.dirname, 'tools-server.mjs'), ...args],
})

async function http() {
  const one = await served()
  open.push(one)
  return one
}

async function asking(server: ModelServer, mcpServers: object, more: object = {}) {
  const { talk } = await opened({ server, cwd: tempFolder(), agent: { mcpServers, ...more } })
  return talk
}

const call = (name: string, args: object = {}) => calls([{ name, args }])

const results = ({ body }: Asked) =>
  (body.messages ?? []).filter(({ role }) => role === 'tool').map((one) => one['content'])

const offered = (asked: Asked | undefined) =>
  listOf(asked?.body['tools']).map((tool) => stringOf(fieldsOf(fieldsOf(tool)?.['function'])?.['name']))

const statuses = (events: readonly TalkEvent[]) =>
  events.flatMap((event) => (event.kind === 'tool_done' ? [event.result.status] : []))

describe.each(['stdio', 'http'] as const)('over %s', (way) => {
  const entry = async (more: object = {}) =>
    way === 'stdio' ? { ...stdio(), ...more } : { type: 'http', url: (await http()).url, ...more }

  test('an answer, a failure, an exception and a picture reach the model in the order of its calls', async () => {
    const server = await chatServer(
      calls([
        { id: 'a', name: 'echo', args: { text: '会話' } },
        { id: 'b', name: 'fail', args: {} },
        { id: 'c', name: 'broken', args: {} },
        { id: 'd', name: 'picture', args: {} },
      ]),
      answer('Seen.'),
    )
    const talk = await asking(server, { far: await entry() })
    const events = await said(talk, 'Try them')
    expect([ended(events), statuses(events).sort()]).toEqual(['answered', ['Error', 'Error', 'Success', 'Success']])
    const [, second] = server.asked
    expect(second && results(second)).toEqual([
      expect.stringContaining('"said":"会話"'),
      expect.stringMatching(/^Error: .*"isError":true/),
      expect.stringMatching(/^Error: An error occurred processing the tool: \n.*cannot broken/),
      'look\nSee images data supplied',
    ])
    const shown = second?.body.messages?.at(-1)?.['content'] as readonly { readonly type: string }[]
    expect(shown.map(({ type }) => type)).toContain('image_url')
    expect([...talk.state.tools.keys()]).toEqual(['native___', 'far'])
  })

  test('a call that hangs ends with its time, and the conversation goes on', async () => {
    const server = await chatServer(call('slow'), answer('Too slow.'))
    const talk = await asking(server, { far: await entry({ timeout: way === 'stdio' ? 6000 : 1500 }) })
    const events = await said(talk, 'Wait for it')
    expect([ended(events), statuses(events)]).toEqual(['answered', ['Error']])
    expect(server.asked[1] && results(server.asked[1])).toEqual([expect.stringMatching(/^Error: [\s\S]*timed out/i)])
  })

  test('tools that come later are offered with the next request', async () => {
    const server = await chatServer(call('grow'), answer('More now.'), answer('Yes.'))
    const talk = await asking(server, { far: await entry() })
    await said(talk, 'Grow')
    await expect.poll(() => talk.rig.names()).toContain('grown')
    await said(talk, 'And?')
    expect(offered(server.asked[0])).not.toContain('grown')
    expect(offered(server.asked[2])).toContain('grown')
  })
})

test('names are those that models can say; aliases and clashes are told', async () => {
  const server = await chatServer(call('dropall'), answer('Dropped.'))
  const talk = await asking(
    server,
    { one: stdio(), two: stdio() },
    { toolAliases: { '@one/env': 'surroundings', '@two/echo': 'echo_two' } },
  )
  const events = await said(talk, 'Drop all')
  expect(offered(server.asked[0])).toEqual(
    expect.arrayContaining(['echo', 'dropall', 'surroundings', 'echo_two', 'fs_read']),
  )
  expect(new Set(offered(server.asked[0])).size).toBe(offered(server.asked[0]).length)
  expect(events.find((event) => event.kind === 'tool_asked')).toMatchObject({
    need: { summary: { en: '@one/drop-all {}' }, level: 'dangerous' },
  })
  const list = outputs(await said(talk, '/tools'))
  expect(list).toMatch(/@one\/drop-all \(as dropall\)/)
  expect(list).toMatch(/@two\/drop-all {2}not offered: .*@one\/drop-all/)
  expect(outputs(await said(talk, '/mcp one'))).toMatch(/@one\/silent {2}not offered: it has no description/)
})

test('/mcp tells each state, and a server that dies takes its tools along', async () => {
  const server = await chatServer(call('exit'), answer('It is gone.'), call('echo'), answer('Gone indeed.'))
  const talk = await asking(server, {
    frail: stdio(),
    idle: { ...stdio(), disabled: true },
    crash: stdio('crash'),
  })
  const before = outputs(await said(talk, '/mcp'))
  expect(before).toMatch(/^frail {2}stdio, running, \d+ ms\n {2}echo/)
  expect(before).toMatch(/^idle {2}stdio, disabled$/m)
  expect(before).toMatch(/^crash {2}stdio, failed: .*no licence/m)
  const events = await said(talk, 'Leave')
  expect([ended(events), statuses(events)]).toEqual(['answered', ['Error']])
  await expect.poll(() => talk.rig.names()).not.toContain('echo')
  expect(outputs(await said(talk, '/mcp frail'))).toMatch(/failed: it ended by itself: out of paper/)
  const after = await said(talk, 'Again')
  expect(ended(after)).toBe('answered')
  expect(server.asked.at(-1) && results(server.asked.at(-1) as Asked).at(-1)).toMatch(/^Error: There is no tool echo/)
})

test('a server over HTTP that was started anew is met again; one that is gone is told', async () => {
  const far = await http()
  const echo = call('echo', { text: 'again' })
  const server = await chatServer(echo, answer('Yes.'), echo, answer('No.'))
  const talk = await asking(server, { far: { type: 'http', url: far.url } })
  await talk.rig.help.ready()
  far.forget()
  expect(statuses(await said(talk, 'Ask'))).toEqual(['Success'])
  await far.close()
  const events = await said(talk, 'Ask again')
  expect([ended(events), statuses(events)]).toEqual(['answered', ['Error']])
})

test('a server that wants to know who asks says what to do', async () => {
  const one = await served({ token: 'Bearer x' })
  open.push(one)
  const server = await chatServer(answer('Hello.'))
  const talk = await asking(server, { guarded: { type: 'http', url: one.url } })
  const events = await said(talk, 'Hello')
  expect(events.find((event) => event.kind === 'notice')).toMatchObject({
    code: 'mcp',
    text: expect.stringMatching(/guarded .*\(401\).*"Authorization": "Bearer …".*mcpServers/),
  })
})

describe('trust in a tool is for that tool alone', () => {
  const mcpServers = { srv: stdio('wild') }
  const odd = async () => {
    const server = await chatServer()
    const cwd = tempFolder()
    const { talk } = await opened({ server, cwd, agent: { mcpServers }, trustAll: false })
    await talk.rig.help.ready()
    return { talk, server }
  }
  const decisions = ({ rig }: Awaited<ReturnType<typeof odd>>['talk']): readonly string[] =>
    rig.box.all
      .filter(({ origin }) => origin !== 'native___')
      .filter((tool) => rig.decide(tool, { level: 'changes', summary: asIs('') }).kind === 'allow')
      .map(({ origin, hostName }) => `${origin} ${hostName}`)

  test('even where its server named it * or [a-z]', async () => {
    const { talk, server } = await odd()
    for (const wild of ['*', 'e?ho', '[a-z]']) {
      const tool = talk.rig.box.all.find(({ origin, hostName }) => origin === 'srv' && hostName === wild)
      server.say(call(tool?.name ?? ''), answer('Done.'))
      await said(talk, 'Do it', (event) => (event.kind === 'consent_needed' ? 'trust' : undefined))
    }
    expect(decisions(talk)).toEqual(['srv *', 'srv e?ho', 'srv [a-z]'])
    server.say(call('echo'), answer('Done.'))
    const events = await said(talk, 'And another', (event) => (event.kind === 'consent_needed' ? 'no' : undefined))
    expect(events.some(({ kind }) => kind === 'consent_needed')).toBe(true)
  })

  test('also by /tools trust, where a name goes before a pattern', async () => {
    const { talk } = await odd()
    await said(talk, '/tools trust @srv/*')
    expect(decisions(talk)).toEqual(['srv *'])
    await said(talk, '/tools untrust @srv/*')
    expect(decisions(talk)).toEqual([])
    await said(talk, '/tools trust @srv/ec*')
    expect(decisions(talk)).toEqual(['srv echo'])
  })
})

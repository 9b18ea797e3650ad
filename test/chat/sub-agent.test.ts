/** `delegate`: sub-agents in conversations of their own, read-only, bounded, in parallel, listed under their parent. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { normalize } from '../../src/normalize.ts'
import { tempFolder } from '../support/codex-log.ts'
import { answer, type Call, calls } from '../support/model-chunks.ts'
import { chatServer, type ModelRequest, type Reply, silence } from '../support/model-server.ts'
import { fumi } from '../support/run-fumi.ts'
import { answerText, collectEvents, endingOf, readJournalOf, sendLine } from './support/chat-session.ts'
import { openTestChat } from './support/open-chat.ts'

const delegate = (task: string, id: string): Call => ({ id, name: 'delegate', args: { task, name: `look for ${id}` } })

/** Texts of all messages of a request. */
const said = ({ body }: ModelRequest): string => JSON.stringify(body.messages)

const offered = ({ body }: ModelRequest): readonly string[] =>
  (body['tools'] as readonly { readonly function: { readonly name: string } }[]).map((tool) => tool.function.name)

/** Each sub-agent reads the file that its task names, then answers with what it says. */
const readsItsFile: Reply = (asked, response) => {
  const name = /Read (\w+\.md)/.exec(said(asked))?.[1] ?? ''
  const isRead = said(asked).includes('"role":"tool"')
  const read = { name: 'fs_read', args: { operations: [{ mode: 'Line', path: name }] } }
  return (isRead ? answer(`${name} was read.`, { input: 50, output: 5 }) : calls([read]))(asked, response)
}

test('two sub-agents read in parallel, each with its own context, and their answers go back', async () => {
  const cwd = tempFolder()
  const data = tempFolder()
  writeFileSync(join(cwd, 'tide.md'), 'high at noon\n')
  writeFileSync(join(cwd, 'moon.md'), 'full\n')
  const server = await chatServer(
    calls([delegate('Read tide.md', 'tide'), delegate('Read moon.md', 'moon')], 'I ask two.'),
    ...[readsItsFile, readsItsFile, readsItsFile, readsItsFile],
    answer('Both are known.'),
  )
  const { session, close } = await openTestChat({ server, cwd, data, trustAll: false })
  const events = await sendLine(session, 'What is the secret word of the parent? Look at both.')
  expect(endingOf(events)).toBe('answered')
  expect(answerText(events)).toContain('Both are known.')
  const children = server.asked.slice(1, 5)
  for (const asked of children) {
    expect(said(asked)).not.toContain('secret word')
    expect(offered(asked).toSorted()).toEqual(['fs_read', 'glob', 'grep'])
  }
  const last = server.asked.at(-1)
  expect(last && said(last)).toContain('tide.md was read.')
  expect(last && said(last)).toContain('moon.md was read.')
  // Both began before either was done.
  const order = events.flatMap((event) => (event.kind.startsWith('tool_') ? [event.kind] : []))
  expect(order.lastIndexOf('tool_started')).toBeLessThan(order.indexOf('tool_done'))
  // Their tokens belong to the turn.
  expect(session.setup.spending.turn.usage.input_tokens).toBeGreaterThanOrEqual(100)
  await close()

  const list = JSON.parse(fumi(['list', '--json', '--children'], { env: { FUMI_HOME: data } }).out).sessions
  const parent = session.state.conversation_id
  const found = list.filter((one: { relation: string | null }) => one.relation === 'subagent')
  expect(found.map((one: { parent: string }) => one.parent)).toEqual([`fumibako:${parent}`, `fumibako:${parent}`])
  expect(found.map((one: { title: string }) => one.title).toSorted()).toEqual(['Read moon.md', 'Read tide.md'])

  // The last conversation of the directory is the one that delegates.
  const resumed = await openTestChat({ server, cwd, data, resume: null })
  expect(resumed.session.state.conversation_id).toBe(parent)
})

test('a sub-agent cannot change, run or read what needs permission, and says so', async () => {
  const cwd = tempFolder()
  const outside = tempFolder()
  writeFileSync(join(outside, 'key.txt'), 'hidden\n')
  const tries = [
    { id: 'w', name: 'fs_write', args: { command: 'create', path: 'x.txt', file_text: 'x' } },
    { id: 'd', name: 'delegate', args: { task: 'again' } },
    { id: 'r', name: 'fs_read', args: { operations: [{ mode: 'Line', path: join(outside, 'key.txt') }] } },
  ]
  const server = await chatServer(
    calls([delegate('Try.', 'one')]),
    calls(tries),
    answer('I could not.'),
    answer('It could not.'),
  )
  const { session } = await openTestChat({ server, cwd, trustAll: false })
  const events = await sendLine(session, 'Ask it.')
  expect(events.some(({ kind }) => kind === 'consent_needed')).toBe(false)
  const results = server.asked[2] ? said(server.asked[2]) : ''
  expect(results).toContain('There is no tool fs_write')
  expect(results).toContain('There is no tool delegate')
  expect(results).toContain('a sub-agent only reads')
  expect(results).not.toContain('hidden')
  expect(answerText(events)).toBe('It could not.')
})

test('a sub-agent stops after its requests, and what it said goes back', async () => {
  const cwd = tempFolder()
  mkdirSync(join(cwd, 'a'))
  let count = 0
  const again: Reply = (asked, response) =>
    calls([{ name: 'glob', args: { pattern: `${count++}*` } }], 'Still looking.')(asked, response)
  const server = await chatServer(
    calls([delegate('Look for ever.', 'one')]),
    ...Array(20).fill(again),
    answer('Enough.'),
  )
  const { session } = await openTestChat({ server, cwd })
  const events = await sendLine(session, 'Ask it.')
  expect(server.asked.length).toBe(22)
  const last = server.asked.at(-1)
  expect(last && said(last)).toContain('Stopped after 20 requests')
  expect(last && said(last)).toContain('Still looking.')
  expect(endingOf(events)).toBe('answered')
})

test('sub-agents that run together share what the turn may still use', async () => {
  const cwd = tempFolder()
  let count = 0
  const again: Reply = (asked, response) =>
    calls([{ name: 'glob', args: { pattern: `${count++}*` } }], 'Looking.', { input: 900, output: 100 })(
      asked,
      response,
    )
  const server = await chatServer(
    calls(
      ['one', 'two', 'three', 'four'].map((id) => delegate('Look for ever.', id)),
      'I ask four.',
      { input: 10, output: 10 },
    ),
    ...Array(60).fill(again),
  )
  const { session } = await openTestChat({ server, cwd, limits: { maxRequests: 50, maxTokens: 6000 } })
  await sendLine(session, 'Ask them.')
  // Six requests reach the limit, and three others may be under way then. Apart, the four would send 24.
  expect(count).toBeGreaterThanOrEqual(6)
  expect(count).toBeLessThanOrEqual(9)
})

test('an interrupt stops the sub-agent too, and its log is complete', async () => {
  const cwd = tempFolder()
  const server = await chatServer(calls([delegate('Wait.', 'one')]), silence(true))
  const { session } = await openTestChat({ server, cwd })
  const events = await collectEvents(session, session.send('Ask it.'), (event) => {
    if (event.kind !== 'tool_started') return
    const isAsked = expect.poll(() => server.asked.length).toBe(2)
    isAsked.finally(() => session.interrupt())
  })
  expect(endingOf(events)).toBe('interrupted')
  const journal = readJournalOf(session)
  expect(journal.some(({ event }) => event === 'interrupted')).toBe(true)
  const messages = []
  for await (const message of normalize(session.writer.journal.path)) messages.push(message)
  expect(messages.length).toBeGreaterThan(0)
})

/** Prompts of MCP servers, sent with `@name` and `/prompts get`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parsePromptMessages } from '../../../src/chat/mcp/offer.ts'
import type { ChatSession } from '../../../src/chat/session.ts'
import { createCompleter } from '../../../src/cli/chat/input/completions.ts'
import { promptOf } from '../../../src/conversation/message-text.ts'
import { tempFolder } from '../../support/codex-log.ts'
import { answer } from '../../support/model-chunks.ts'
import { chatServer } from '../../support/model-server.ts'
import { endingOf, outputText, sendLine } from '../support/chat-session.ts'
import { openTestChat } from '../support/open-chat.ts'

const SERVER = { command: process.execPath, args: [join(import.meta.dirname, 'tools-server.mjs')] }

const reported = ({ state }: ChatSession) => state.history.toArray().map(({ user }) => promptOf(user))

async function withServers(...names: readonly string[]) {
  const server = await chatServer(...Array.from({ length: 5 }, (_, at) => answer(`Answer ${at + 1}.`)))
  const cwd = tempFolder()
  const mcpServers = Object.fromEntries(names.map((name) => [name, SERVER]))
  const { session } = await openTestChat({ server, cwd, agent: { mcpServers } })
  return { server, cwd, talk: session }
}

test('are listed with their servers and sent with their arguments', async () => {
  const { server, cwd, talk: session } = await withServers('wise')
  writeFileSync(join(cwd, 'secret.txt'), 'a secret of this machine')
  await sendLine(session, '/prompts create hello Mine goes first.')
  expect(outputText(await sendLine(session, '/prompts'))).toBe(
    [
      '@hello  (fumibako)  Mine goes first.',
      '@explain <topic> [manner]  (MCP server wise)  Explains something.',
      '@wise/hello  (MCP server wise)',
      '@sketch  (MCP server wise)  Shows a picture',
      '@unfinished  (MCP server wise)',
      '@impossible  (MCP server wise)\n',
    ].join('\n'),
  )
  expect(outputText(await sendLine(session, '/prompts details explain'))).toMatch(
    /topic {2}what\n {2}manner \(optional\)/,
  )

  expect(endingOf(await sendLine(session, '@explain "the moon" very brief'))).toBe('answered')
  expect(reported(session)).toEqual(['I want to understand something.', 'Explain the moon\n\nand be very brief'])
  const sent = server.asked[0]?.body.messages?.slice(-3)
  expect(sent?.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  expect(sent?.[1]?.['content']).toBe('What is it?')

  await sendLine(session, '/prompts get explain rain')
  expect(reported(session).at(-1)).toBe('Explain rain\n\nas you like, see @secret.txt')
  expect(JSON.stringify(server.asked[1]?.body)).not.toContain('a secret of this machine')

  await sendLine(session, '@wise/hello and wave')
  expect(reported(session).at(-1)).toBe('Say hello.\n\nand wave')
  await sendLine(session, '@hello')
  expect(reported(session).at(-1)).toBe('Mine goes first.')
  await sendLine(session, '@sketch')
  expect(reported(session).at(-1)).toBe('a note')
  expect(session.state.history.at(-1)?.user.images).toHaveLength(1)
  expect(outputText(await sendLine(session, '/transcript'))).toContain('> @explain "the moon" very brief')
})

test('that cannot be sent are reported, and nothing is sent', async () => {
  const { server, talk: session } = await withServers('one', 'two')
  for (const [line, reason] of [
    ['@explain it', 'several servers have a prompt explain. Type @one/explain or @two/explain.'],
    ['@one/explain', 'missing topic. Usage: @explain <topic> [manner]'],
    ['@two/impossible', expect.stringContaining('out of ink')],
    ['/prompts get one/unfinished', expect.stringContaining('does not end with a question')],
    ['/prompts get nothing', 'Unknown prompt nothing. Type /prompts for a list.'],
  ]) {
    const events = await sendLine(session, String(line))
    expect(events.find((event) => event.kind === 'error')).toMatchObject({ text: reason })
  }
  expect([server.asked.length, session.state.history.length, session.state.next_message]).toEqual([0, 0, null])
  expect(endingOf(await sendLine(session, '@nobody knows this'))).toBe('answered')
  expect(reported(session)).toEqual(['@nobody knows this'])
})

test('are completed, also those added later', async () => {
  const { talk: session } = await withServers('wise')
  await session.setup.services.ready()
  const complete = createCompleter(session)
  const offers = (text: string) => complete({ text, at: text.length }).all.map((one) => one.text)
  expect(offers('@ex')).toEqual(['@explain'])
  expect(offers('/prompts get s')).toEqual(['sketch'])
  const grow = await session.setup.toolSet.find('grow')?.check({}, session.setup.workspace)
  if (!grow?.ok) throw new Error('no tool grow')
  await grow.call.run({ ...session.setup.workspace, signal: new AbortController().signal })
  await expect.poll(() => offers('@la')).toEqual(['@later'])
  expect(outputText(await sendLine(session, '/mcp wise'))).toContain('  @later')
})

test('adjacent messages of one role are merged; a missing final prompt is an error', () => {
  const message = (role: string, text: string) => ({ role, content: { type: 'text', text } })
  expect(parsePromptMessages([message('assistant', 'Ask!'), message('user', 'a'), message('user', 'b')])).toEqual({
    before: [{ user: '', assistant: 'Ask!' }],
    text: 'a\n\nb',
    images: [],
  })
  expect(parsePromptMessages([])).toMatchObject({ en: 'it does not end with a question' })
})

test('resources of a server are listed, completed and attached by name', async () => {
  const server = await chatServer(answer('Read.'), answer('Seen.'))
  const library = { ...SERVER, args: [...SERVER.args, 'library'] }
  const { session } = await openTestChat({ server, cwd: tempFolder(), agent: { mcpServers: { shelf: library } } })
  expect(outputText(await sendLine(session, '/mcp'))).toContain('  @shelf:shelf://tea\n  @shelf:shelf://sketch')
  const complete = createCompleter(session)
  const choices = (text: string) => complete({ text, at: text.length }).all.map((one) => one.text)
  expect(choices('Read @shelf:')).toContain('@shelf:shelf://tea')
  expect([choices('Explain @di'), choices('As in @ses')]).toEqual([['@diff'], ['@session:']])

  await sendLine(session, 'Read @shelf:shelf://tea.')
  expect(JSON.stringify(server.asked[0]?.body.messages?.at(-1))).toContain('Boil the water.')
  const events = await sendLine(
    session,
    'What is on @shelf:shelf://sketch and @shelf:shelf://gone and @shelf:none://x ?',
  )
  expect(JSON.stringify(server.asked[1]?.body.messages?.at(-1))).toContain('data:image/png;base64,')
  const notes = events.flatMap((event) => (event.kind === 'notice' ? [event.text] : []))
  expect(notes).toContainEqual(expect.stringMatching(/@shelf:shelf:\/\/gone: .*lent to somebody/))
  expect(notes).toContainEqual(expect.stringMatching(/@shelf:none:\/\/x: no such resource.*\/mcp shelf/))
})

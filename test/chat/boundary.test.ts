/** Files outside the project are sent to the model only if the user named them. */
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { ChatSessionEvent } from '../../src/chat/events.ts'
import { writeState } from '../../src/conversation/codec/state.ts'
import { newState } from '../../src/conversation/state.ts'
import { tempFolder } from '../support/codex-log.ts'
import { answer } from '../support/model-chunks.ts'
import { chatServer, type ModelServer } from '../support/model-server.ts'
import { outputText, sendLine } from './support/chat-session.ts'
import { openTestChat } from './support/open-chat.ts'

const put = (path: string, text: string): string => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

interface Ground {
  readonly cwd: string
  readonly data: string
  readonly home: string
  /** A file outside the project that contains `SECRET`. */
  readonly secret: string
  readonly server: ModelServer
}

async function ground(): Promise<Ground> {
  const outside = realpathSync(tempFolder())
  return {
    cwd: realpathSync(tempFolder()),
    data: tempFolder(),
    home: realpathSync(tempFolder()),
    secret: put(join(outside, 'secret.md'), 'SECRET'),
    server: await chatServer(...Array.from({ length: 8 }, () => answer('Yes.'))),
  }
}

/** Messages of the last request. */
const sent = ({ asked }: ModelServer): string => JSON.stringify(asked.at(-1)?.body.messages)

const notices = (events: readonly ChatSessionEvent[]): string =>
  events.map((event) => (event.kind === 'notice' ? event.text : '')).join('\n')

test('links in the project do not move default context files outside it', async () => {
  const { cwd, data, secret, server } = await ground()
  put(join(cwd, 'README.md'), 'PLAIN')
  symlinkSync(secret, join(cwd, 'AGENTS.md'))
  symlinkSync('README.md', join(cwd, 'AmazonQ.md'))
  mkdirSync(join(cwd, '.amazonq', 'rules'), { recursive: true })
  symlinkSync(secret, join(cwd, '.amazonq', 'rules', 'one.md'))
  const { session } = await openTestChat({ server, cwd, data })
  const events = await sendLine(session, 'Hello')
  expect(sent(server)).toContain('PLAIN')
  expect(sent(server)).not.toContain('SECRET')
  expect(notices(events)).toContain(`AGENTS.md → ${secret}`)
  expect(notices(events)).toContain(`/context add ${secret}`)
  expect(outputText(await sendLine(session, '/context show --expand'))).not.toContain('SECRET')
  expect(outputText(await sendLine(session, '/context add AGENTS.md'))).toMatch(/already exists|is a link to/)
  await sendLine(session, `/context add ${secret}`)
  await sendLine(session, 'And now?')
  expect(sent(server)).toContain('SECRET')
})

test('a linked rules folder is ignored', async () => {
  const { cwd, data, secret, server } = await ground()
  mkdirSync(join(cwd, '.amazonq'))
  symlinkSync(dirname(secret), join(cwd, '.amazonq', 'rules'))
  const { session } = await openTestChat({ server, cwd, data })
  const events = await sendLine(session, 'Hello')
  expect(sent(server)).not.toContain('SECRET')
  expect(notices(events)).toContain('outside this directory')
})

test('resources of a project’s agent stay in the project, even where it is trusted', async () => {
  const { cwd, data, secret, server } = await ground()
  put(join(cwd, 'notes.md'), 'NOTES')
  const resources = [`file://${secret}`, `file://${dirname(secret)}/*.md`, 'file://../*/secret.md', 'file://*.md']
  const { session } = await openTestChat({ server, cwd, data, agent: { resources } })
  await sendLine(session, 'Hello')
  expect(sent(server)).toContain('NOTES')
  expect(sent(server)).not.toContain('SECRET')
})

test('files listed by a user agent are sent, but not targets of links in the project', async () => {
  const { cwd, data, home, secret, server } = await ground()
  put(join(home, 'notes.md'), 'MY NOTES')
  symlinkSync(secret, join(cwd, 'AGENTS.md'))
  const resources = ['file://~/notes.md', 'file://AGENTS.md']
  put(join(data, 'agents', 'own.json'), JSON.stringify({ name: 'own', tools: ['*'], resources }))
  const { session } = await openTestChat({ server, cwd, data, home, named: 'own' })
  await sendLine(session, 'Hello')
  expect(sent(server)).toContain('MY NOTES')
  expect(sent(server)).not.toContain('SECRET')
})

test('a saved conversation adds no path outside the directory unless the user added it before', async () => {
  const { cwd, data, secret, server } = await ground()
  put(join(cwd, 'notes.txt'), 'NOTES')
  const context_manager = {
    max_context_files_size: 1000,
    current_profile: 'q_cli_default',
    paths: [secret, `${dirname(secret)}/*.md`, '../**/secret.md', 'notes.txt'],
    hooks: new Map(),
  }
  put(join(cwd, 'session.json'), writeState(newState('x', { context_manager }), { style: 'pretty' }))
  const { session, close } = await openTestChat({ server, cwd, data })
  const events = await sendLine(session, '/load session.json')
  expect(notices(events)).toContain(secret)
  await sendLine(session, 'Hello')
  expect(sent(server)).toContain('NOTES')
  expect(sent(server)).not.toContain('SECRET')
  await sendLine(session, `/context add ${secret}`)
  await close()
  const { session: later } = await openTestChat({ server, cwd, data })
  await sendLine(later, '/load session.json')
  expect(later.state.context_manager?.paths).toContain(secret)
  await sendLine(later, 'Hello')
  expect(sent(server)).toContain('SECRET')
})

test('a foreign journal cannot send a file outside the directory', async () => {
  const { cwd, data, secret, server } = await ground()
  const { session, close } = await openTestChat({ server, cwd, data })
  await sendLine(session, `/context add ${secret}`)
  await sendLine(session, 'Hello')
  expect(sent(server)).toContain('SECRET')
  const { path } = session.writer.journal
  await close()
  const other = tempFolder()
  mkdirSync(join(other, 'conversations'))
  symlinkSync(path, join(other, 'conversations', path.split('/').at(-1) ?? ''))
  const planted = await openTestChat({ server, cwd, data: other, resume: session.state.conversation_id })
  const events = await sendLine(planted.session, 'Hello')
  expect(sent(server)).not.toContain('SECRET')
  expect(notices(events)).toContain('outside this directory')
  expect(outputText(await sendLine(planted.session, '/context show'))).toContain('not sent')
  // Typing the path again is the user's permission.
  await sendLine(planted.session, `/context add ${secret}`)
  await sendLine(planted.session, 'Hello')
  expect(sent(server)).toContain('SECRET')
})

test('a file that becomes a link after the user added it is not followed', async () => {
  const { cwd, data, secret, server } = await ground()
  const shared = realpathSync(tempFolder())
  put(join(shared, 'a.md'), 'SHARED')
  const { session } = await openTestChat({ server, cwd, data })
  await sendLine(session, `/context add ${shared}/*.md`)
  symlinkSync(secret, join(shared, 'b.md'))
  await sendLine(session, 'Hello')
  expect(sent(server)).toContain('SHARED')
  expect(sent(server)).not.toContain('SECRET')
})

test('a file is attached where the user names it, not where a link or a text of the project does', async () => {
  const { cwd, data, secret, server } = await ground()
  symlinkSync(secret, join(cwd, 'link.md'))
  put(join(cwd, '.amazonq', 'prompts', 'review.md'), `Read @${secret} and @plain.md first.`)
  put(join(cwd, 'plain.md'), 'PLAIN')
  const { session } = await openTestChat({ server, cwd, data })
  for (const line of ['Look at @link.md', '@review', '/attach link.md']) {
    await sendLine(session, line)
    if (line.startsWith('/')) await sendLine(session, 'Look')
    expect(sent(server)).not.toContain('SECRET\\n')
  }
  expect(notices(await sendLine(session, '@review'))).toMatch(
    /secret\.md not attached: it is outside[\s\S]*attached plain\.md/,
  )
  await sendLine(session, `Look at @${secret}`)
  expect(sent(server)).toContain('SECRET\\n')
})

test('a linked prompts folder offers no prompts', async () => {
  const { cwd, data, secret, server } = await ground()
  mkdirSync(join(cwd, '.amazonq'))
  symlinkSync(dirname(secret), join(cwd, '.amazonq', 'prompts'))
  const { session } = await openTestChat({ server, cwd, data })
  await sendLine(session, '@secret')
  expect(sent(server)).not.toContain('SECRET')
  expect(outputText(await sendLine(session, '/prompts list'))).not.toContain('secret')
})

test('piped input attaches no file outside the directory', async () => {
  const { cwd, data, secret, server } = await ground()
  const { session } = await openTestChat({ server, cwd, data })
  for await (const _ of session.send(`Sum this up.\n\nsee @${secret}`, 'Sum this up.'));
  expect(sent(server)).not.toContain('SECRET')
})

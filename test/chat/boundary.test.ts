/** Files outside of the project reach the model only where the user named them. */
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { TalkEvent } from '../../src/chat/turn/event.ts'
import { writeState } from '../../src/conversation/codec/write.ts'
import { newState } from '../../src/conversation/state.ts'
import { tempFolder } from '../support/log.ts'
import { answer } from '../support/model-chunks.ts'
import { chatServer, type ModelServer } from '../support/model-server.ts'
import { opened } from './support/opened.ts'
import { outputs, said } from './support/talking.ts'

const put = (path: string, text: string): string => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

interface Ground {
  readonly cwd: string
  readonly data: string
  readonly home: string
  /** A file outside of the project, whose text is `SECRET`. */
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

/** What the model got with its last request. */
const sent = ({ asked }: ModelServer): string => JSON.stringify(asked.at(-1)?.body.messages)

const notices = (events: readonly TalkEvent[]): string =>
  events.map((event) => (event.kind === 'notice' ? event.text : '')).join('\n')

test('links in the project do not lead the usual context files out of it', async () => {
  const { cwd, data, secret, server } = await ground()
  put(join(cwd, 'README.md'), 'PLAIN')
  symlinkSync(secret, join(cwd, 'AGENTS.md'))
  symlinkSync('README.md', join(cwd, 'AmazonQ.md'))
  mkdirSync(join(cwd, '.amazonq', 'rules'), { recursive: true })
  symlinkSync(secret, join(cwd, '.amazonq', 'rules', 'one.md'))
  const { talk } = await opened({ server, cwd, data })
  const events = await said(talk, 'Hello')
  expect(sent(server)).toContain('PLAIN')
  expect(sent(server)).not.toContain('SECRET')
  expect(notices(events)).toContain(`AGENTS.md → ${secret}`)
  expect(notices(events)).toContain(`/context add ${secret}`)
  expect(outputs(await said(talk, '/context show --expand'))).not.toContain('SECRET')
  expect(outputs(await said(talk, '/context add AGENTS.md'))).toMatch(/already exists|is a link to/)
  await said(talk, `/context add ${secret}`)
  await said(talk, 'And now?')
  expect(sent(server)).toContain('SECRET')
})

test('a folder of rules that is a link stays outside', async () => {
  const { cwd, data, secret, server } = await ground()
  mkdirSync(join(cwd, '.amazonq'))
  symlinkSync(dirname(secret), join(cwd, '.amazonq', 'rules'))
  const { talk } = await opened({ server, cwd, data })
  const events = await said(talk, 'Hello')
  expect(sent(server)).not.toContain('SECRET')
  expect(notices(events)).toContain('outside of this directory')
})

test('resources of a project’s agent stay in the project, even where it is trusted', async () => {
  const { cwd, data, secret, server } = await ground()
  put(join(cwd, 'notes.md'), 'NOTES')
  const resources = [`file://${secret}`, `file://${dirname(secret)}/*.md`, 'file://../*/secret.md', 'file://*.md']
  const { talk } = await opened({ server, cwd, data, agent: { resources } })
  await said(talk, 'Hello')
  expect(sent(server)).toContain('NOTES')
  expect(sent(server)).not.toContain('SECRET')
})

test('what the user’s own agent lists is sent, but not what a link of the project makes of it', async () => {
  const { cwd, data, home, secret, server } = await ground()
  put(join(home, 'notes.md'), 'MY NOTES')
  symlinkSync(secret, join(cwd, 'AGENTS.md'))
  const resources = ['file://~/notes.md', 'file://AGENTS.md']
  put(join(data, 'agents', 'own.json'), JSON.stringify({ name: 'own', tools: ['*'], resources }))
  const { talk } = await opened({ server, cwd, data, home, named: 'own' })
  await said(talk, 'Hello')
  expect(sent(server)).toContain('MY NOTES')
  expect(sent(server)).not.toContain('SECRET')
})

test('a saved conversation adopts no path outside of the directory, unless the user typed it before', async () => {
  const { cwd, data, secret, server } = await ground()
  put(join(cwd, 'notes.txt'), 'NOTES')
  const context_manager = {
    max_context_files_size: 1000,
    current_profile: 'q_cli_default',
    paths: [secret, `${dirname(secret)}/*.md`, '../**/secret.md', 'notes.txt'],
    hooks: new Map(),
  }
  put(join(cwd, 'session.json'), writeState(newState('x', { context_manager }), { style: 'pretty' }))
  const { talk, close } = await opened({ server, cwd, data })
  const events = await said(talk, '/load session.json')
  expect(notices(events)).toContain(secret)
  await said(talk, 'Hello')
  expect(sent(server)).toContain('NOTES')
  expect(sent(server)).not.toContain('SECRET')
  await said(talk, `/context add ${secret}`)
  await close()
  const { talk: later } = await opened({ server, cwd, data })
  await said(later, '/load session.json')
  expect(later.state.context_manager?.paths).toContain(secret)
  await said(later, 'Hello')
  expect(sent(server)).toContain('SECRET')
})

test('a journal from elsewhere that lists a file outside of the directory does not send it', async () => {
  const { cwd, data, secret, server } = await ground()
  const { talk, close } = await opened({ server, cwd, data })
  await said(talk, `/context add ${secret}`)
  await said(talk, 'Hello')
  expect(sent(server)).toContain('SECRET')
  const { path } = talk.desk.journal
  await close()
  const other = tempFolder()
  mkdirSync(join(other, 'conversations'))
  symlinkSync(path, join(other, 'conversations', path.split('/').at(-1) ?? ''))
  const planted = await opened({ server, cwd, data: other, resume: talk.state.conversation_id })
  const events = await said(planted.talk, 'Hello')
  expect(sent(server)).not.toContain('SECRET')
  expect(notices(events)).toContain('outside of this directory')
  expect(outputs(await said(planted.talk, '/context show'))).toContain('not sent')
  // Typed again, it is the user's word.
  await said(planted.talk, `/context add ${secret}`)
  await said(planted.talk, 'Hello')
  expect(sent(server)).toContain('SECRET')
})

test('a file that the user added is not what its link leads to later', async () => {
  const { cwd, data, secret, server } = await ground()
  const shared = realpathSync(tempFolder())
  put(join(shared, 'a.md'), 'SHARED')
  const { talk } = await opened({ server, cwd, data })
  await said(talk, `/context add ${shared}/*.md`)
  symlinkSync(secret, join(shared, 'b.md'))
  await said(talk, 'Hello')
  expect(sent(server)).toContain('SHARED')
  expect(sent(server)).not.toContain('SECRET')
})

test('a file is attached where the user names it, not where a link or a text of the project does', async () => {
  const { cwd, data, secret, server } = await ground()
  symlinkSync(secret, join(cwd, 'link.md'))
  put(join(cwd, '.amazonq', 'prompts', 'review.md'), `Read @${secret} and @plain.md first.`)
  put(join(cwd, 'plain.md'), 'PLAIN')
  const { talk } = await opened({ server, cwd, data })
  for (const line of ['Look at @link.md', '@review', '/attach link.md']) {
    await said(talk, line)
    if (line.startsWith('/')) await said(talk, 'Look')
    expect(sent(server)).not.toContain('SECRET\\n')
  }
  expect(notices(await said(talk, '@review'))).toMatch(
    /secret\.md is left out: it is outside[\s\S]*plain\.md goes along/,
  )
  await said(talk, `Look at @${secret}`)
  expect(sent(server)).toContain('SECRET\\n')
})

test('a folder of prompts that is a link elsewhere offers no texts', async () => {
  const { cwd, data, secret, server } = await ground()
  mkdirSync(join(cwd, '.amazonq'))
  symlinkSync(dirname(secret), join(cwd, '.amazonq', 'prompts'))
  const { talk } = await opened({ server, cwd, data })
  await said(talk, '@secret')
  expect(sent(server)).not.toContain('SECRET')
  expect(outputs(await said(talk, '/prompts list'))).not.toContain('secret')
})

test('what was piped in names no file outside of the directory', async () => {
  const { cwd, data, secret, server } = await ground()
  const { talk } = await opened({ server, cwd, data })
  for await (const _ of talk.say(`Sum this up.\n\nsee @${secret}`, 'Sum this up.'));
  expect(sent(server)).not.toContain('SECRET')
})

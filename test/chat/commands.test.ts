/** The commands of a conversation: what each changes, and that the journal tells it. */
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CHAT_COMMANDS, parseCommand } from '../../src/chat/commands/command-list.ts'
import { serializeState } from '../../src/chat/commands/save-load.ts'
import type { ChatSession } from '../../src/chat/session.ts'
import { readState } from '../../src/conversation/codec/read-state.ts'
import { promptOf } from '../../src/conversation/render.ts'
import { answer } from '../support/model-chunks.ts'
import { modelServer } from '../support/model-server.ts'
import {
  type ChatSessionOptions,
  chatSession,
  eventKinds,
  fakeTool,
  outputText,
  sendLine,
} from './support/chat-session.ts'

async function talked(lines: readonly string[], options: ChatSessionOptions = {}): Promise<ChatSession> {
  const server = await modelServer(
    ...lines.map((line) => answer(`answer to ${line}`)),
    answer('more'),
    answer('yet more'),
  )
  const talk = chatSession({ ...server, ...options })
  for (const line of lines) await sendLine(talk, line)
  return talk
}

const prompts = ({ state }: ChatSession): readonly (string | undefined)[] =>
  state.history.toArray().map(({ user }) => promptOf(user))

test('input with a leading slash is a command unless it looks like a path', () => {
  expect(parseCommand('/help')).toBeDefined()
  expect(parseCommand('/nothing of the kind')).toBeDefined()
  expect(parseCommand('!ls')).toBeDefined()
  for (const line of ['/etc/passwd is what?', '/notes.md', 'hello /help']) expect(parseCommand(line)).toBeUndefined()
})

test('/help names every command, and a command by itself', async () => {
  const talk = chatSession(await modelServer())
  const all = outputText(await sendLine(talk, '/help'))
  for (const { name } of CHAT_COMMANDS) expect(all).toContain(`/${name}`)
  expect(outputText(await sendLine(talk, '/help tangent'))).toMatch(/^\/tangent \[name\]/)
  expect(eventKinds(await sendLine(talk, '/unheard-of'))).toEqual(['error'])
  expect(outputText(await sendLine(talk, '/mdoel'))).toBe(
    'there is no command /mdoel; is it /model? /help lists them all.',
  )
  expect(outputText(await sendLine(talk, '/check'))).toMatch(/is it \/checkpoint\?/)
})

describe('/tangent', () => {
  test('leaves no trace', async () => {
    const talk = await talked(['main'])
    const before = prompts(talk)
    await sendLine(talk, '/tangent colours')
    expect(talk.tangent()).toMatchObject({ name: 'colours', seconds: 0 })
    await sendLine(talk, 'aside')
    expect(outputText(await sendLine(talk, '/tangent list'))).toMatch(/^colours {2}<- here, for \d+ seconds?/)
    expect(eventKinds(await sendLine(talk, '/tangent'))).toContain('moved')
    expect(prompts(talk)).toEqual(before)
    expect(talk.tangent()).toBeUndefined()
  })

  test('tail keeps the last exchange', async () => {
    const talk = await talked(['main'])
    for (const line of ['/tangent', 'one', 'two', '/tangent tail']) await sendLine(talk, line)
    expect(prompts(talk)).toEqual(['main', 'two'])
  })

  test('compact returns with a summary, also from a nested tangent', async () => {
    const talk = await talked(['main'])
    for (const line of ['/tangent outer', '/tangent inner', 'deep']) await sendLine(talk, line)
    expect(outputText(await sendLine(talk, '/tangent list'))).toMatch(/^outer\n {2}inner/)
    await sendLine(talk, '/tangent compact')
    expect(prompts(talk).at(-1)).toMatch(/side conversation "inner" has ended/)
    expect(talk.tangent()?.name).toBe('outer')
    await sendLine(talk, '/tangent')
    expect(prompts(talk)).toEqual(['main'])
  })

  test('cannot be left where none is open', async () => {
    const talk = await talked([])
    for (const line of ['/tangent tail', '/tangent compact'])
      expect(eventKinds(await sendLine(talk, line))).toEqual(['error'])
  })
})

describe('/rewind', () => {
  test('goes back, keeps the abandoned branch, and can switch to it', async () => {
    const talk = await talked(['one', 'two', 'three'])
    expect(outputText(await sendLine(talk, '/rewind'))).toMatch(/1 {2}one\n +2 {2}two\n +3 {2}three/)
    await sendLine(talk, '/rewind 1 first try')
    expect(prompts(talk)).toEqual(['one'])
    expect(outputText(await sendLine(talk, '/rewind branches'))).toMatch(/after exchange 1, 2 exchanges: first try/)
    await sendLine(talk, '/rewind branch 1')
    expect(prompts(talk)).toEqual(['one', 'two', 'three'])
    expect(eventKinds(await sendLine(talk, '/rewind 9'))).toEqual(['error'])
  })

  test('last forgets the last exchange', async () => {
    const talk = await talked(['one', 'two'])
    await sendLine(talk, '/rewind last')
    expect(prompts(talk)).toEqual(['one'])
    expect(outputText(await sendLine(talk, '/rewind branches'))).toMatch(/no branches/)
  })
})

describe('/save and /load', () => {
  test('write what the original reads, and read it again', async () => {
    const talk = await talked(['one', 'two'])
    const { cwd } = talk.setup.workspace
    await sendLine(talk, '/save talk.json')
    const saved = readFileSync(join(cwd, 'talk.json'), 'utf8')
    expect(readState(saved, { mode: 'strict' })).toMatchObject({ ok: true })
    expect(eventKinds(await sendLine(talk, '/save talk.json'))).toEqual(['error'])
    await sendLine(talk, '/clear')
    expect(prompts(talk)).toEqual([])
    expect(eventKinds(await sendLine(talk, '/load talk'))).toContain('moved')
    expect(prompts(talk)).toEqual(['one', 'two'])
    await sendLine(talk, '/save talk.json -f')
    expect(readState(serializeState(talk.state), { mode: 'strict' })).toMatchObject({ ok: true })
  })

  test('report a file that is not a conversation and a missing file', async () => {
    const talk = await talked([])
    writeFileSync(join(talk.setup.workspace.cwd, 'x.json'), '{"conversation_id": 1}')
    expect(outputText(await sendLine(talk, '/load x'))).toMatch(/is no saved conversation/)
    expect(outputText(await sendLine(talk, '/load y'))).toMatch(/no file is at y/)
  })

  test('report why a file cannot be written, and the chat continues', async () => {
    const talk = await talked([])
    writeFileSync(join(talk.setup.workspace.cwd, 'notes'), '')
    const [event] = await sendLine(talk, '/save notes/talk.json')
    expect(event).toMatchObject({
      kind: 'error',
      text: expect.stringMatching(/talk\.json cannot be written \(\w+\): there is a file where its folder should be/),
      ja: expect.stringContaining('に書き込めません'),
    })
    writeFileSync(join(talk.commandContext.data, 'prompts'), '')
    expect(eventKinds(await sendLine(talk, '/prompts create short Be brief.'))).toEqual(['error'])
  })
})

describe('/context', () => {
  test('adds, lists with sizes and removes files, which are sent with the request', async () => {
    const server = await modelServer(answer('ok'))
    const talk = chatSession(server)
    const { cwd } = talk.setup.workspace
    writeFileSync(join(cwd, 'rules.md'), 'Always be brief. '.repeat(20))
    mkdirSync(join(cwd, 'docs'))
    writeFileSync(join(cwd, 'docs', 'a.md'), 'A page.')
    expect(outputText(await sendLine(talk, '/context add rules.md docs/*.md'))).toMatch(/Added 2 rules/)
    expect(outputText(await sendLine(talk, '/context add rules.md'))).toMatch(/Rule 'rules.md' already exists/)
    expect(outputText(await sendLine(talk, '/context add missing.md'))).toMatch(/no file is at missing.md/)
    expect(outputText(await sendLine(talk, '/context show'))).toMatch(
      /rules\.md {2}~90 tokens[\s\S]*a\.md[\s\S]*of 75,000 tokens/,
    )
    expect(outputText(await sendLine(talk, '/context show --expand'))).toContain('Always be brief.')
    const sent = outputText(await sendLine(talk, '/context show --sent'))
    await sendLine(talk, 'Hello')
    const real = server.asked[0]?.body.messages?.[0]?.['content']
    expect(real).toContain('Always be brief.')
    expect(sent).toContain(JSON.stringify(real))
    expect(talk.state.context_message_length).toBeGreaterThan(300)
    await sendLine(talk, '/context remove docs/*.md')
    expect(talk.state.context_manager?.paths).toEqual(['rules.md'])
    await sendLine(talk, '/context clear')
    expect(talk.state.context_manager?.paths).toEqual([])
  })

  test('drops files beyond three quarters of the window and warns once', async () => {
    const server = await modelServer(answer('1'), answer('2'))
    const talk = chatSession({ ...server, window: 4000, paths: ['*.md'] })
    writeFileSync(join(talk.setup.workspace.cwd, 'big.md'), 'x'.repeat(20_000))
    writeFileSync(join(talk.setup.workspace.cwd, 'small.md'), 'small one')
    writeFileSync(join(talk.setup.workspace.cwd, 'binary.md'), Buffer.from([0xff, 0xfe, 0x00]))
    const first = await sendLine(talk, 'Hello')
    expect(first.filter(({ kind }) => kind === 'notice')).toMatchObject([
      { code: 'context_dropped' },
      { code: 'context_unreadable' },
    ])
    expect(JSON.stringify(server.asked[0]?.body.messages)).toContain('small one')
    expect(eventKinds(await sendLine(talk, 'Again'))).not.toContain('notice')
  })
})

test('/tools lists, trusts and untrusts tools', async () => {
  const talk = chatSession({
    ...(await modelServer()),
    tools: [fakeTool({ name: 'write' }), fakeTool({ name: 'read' })],
  })
  expect(outputText(await sendLine(talk, '/tools'))).toMatch(/write {2}asks/)
  expect(outputText(await sendLine(talk, '/tools trust write'))).toMatch(/write {2}trusted[\s\S]*read {2}asks/)
  expect(outputText(await sendLine(talk, '/tools trust nothing'))).toMatch(/no tool nothing/)
  expect(outputText(await sendLine(talk, '/tools untrust write'))).toMatch(/write {2}asks/)
  await sendLine(talk, '/tools trust-all')
  expect(outputText(await sendLine(talk, '/tools'))).not.toMatch(/asks/)
  expect(outputText(await sendLine(talk, '/tools reset'))).toMatch(/write {2}asks/)
  expect(JSON.parse(outputText(await sendLine(talk, '/tools schema')))).toHaveLength(2)
})

test('a file that is far too large is rejected by size without reading it', async () => {
  const talk = chatSession({ ...(await modelServer(answer('Ok.'))), paths: ['*.md'] })
  const path = join(talk.setup.workspace.cwd, 'film.md')
  writeFileSync(path, '')
  // More than can be read at once.
  truncateSync(path, 3 * 2 ** 30)
  const notices = (await sendLine(talk, 'See @film.md')).filter((event) => event.kind === 'notice')
  expect(notices).toMatchObject([
    { text: 'film.md is left out: it has more than 32 MB' },
    { code: 'context_dropped', text: `No room for ${path}.` },
  ])
})

test('a rule that matches more files than the limit is reported', async () => {
  const talk = chatSession({ ...(await modelServer(answer('Ok.'))), paths: ['many/*'] })
  const folder = join(talk.setup.workspace.cwd, 'many')
  mkdirSync(folder)
  for (let n = 0; n <= 1000; n++) writeFileSync(join(folder, `${n}.txt`), 'x')
  const notices = (await sendLine(talk, 'Hello')).filter((event) => event.kind === 'notice')
  expect(notices).toMatchObject([
    { code: 'context_dropped', text: 'Only the first 1,000 files are looked at: many/*.' },
  ])
})

test('/attach and @path attach images, documents and texts', async () => {
  const server = await modelServer(answer('Nice.'), answer('Ok.'))
  const talk = chatSession(server)
  const { cwd } = talk.setup.workspace
  writeFileSync(
    join(cwd, 'pixel.png'),
    Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
      'base64',
    ),
  )
  writeFileSync(join(cwd, 'notes.txt'), 'Remember the milk.')
  writeFileSync(join(cwd, 'paper.pdf'), '%PDF-1.4\n%a paper')
  writeFileSync(join(cwd, 'thing.bin'), Buffer.from([0xff, 0x00, 0xff]))
  await sendLine(talk, '/attach paper.pdf')
  const events = await sendLine(talk, 'Look at @pixel.png and @notes.txt and @thing.bin')
  expect(
    events.filter((event) => event.kind === 'notice').map((event) => event.kind === 'notice' && event.text),
  ).toEqual([
    'paper.pdf goes along (17 bytes)',
    'pixel.png goes along (70 bytes)',
    'notes.txt goes along (18 bytes)',
    'thing.bin is left out: it is no image, no PDF and no text',
  ])
  const content = server.asked[0]?.body.messages?.at(-1)?.['content'] as readonly { type: string; text?: string }[]
  expect(content.map(({ type }) => type)).toEqual(['text', 'image_url', 'file'])
  expect(content[0]?.text).toContain('Remember the milk.')
  expect(talk.state.history.at(0)?.user.images).toHaveLength(1)
  expect(readState(serializeState(talk.state), { mode: 'strict' })).toMatchObject({ ok: true })
})

test('content that a server does not accept is omitted with a notice', async () => {
  const server = await modelServer(answer('Ok.'))
  const talk = chatSession({ ...server, profile: 'ollama' })
  writeFileSync(join(talk.setup.workspace.cwd, 'paper.pdf'), '%PDF-1.4\n')
  const events = await sendLine(talk, 'Read @paper.pdf')
  expect(events.find((event) => event.kind === 'notice' && event.code === 'left_out')).toBeDefined()
  expect(typeof server.asked[0]?.body.messages?.at(-1)?.['content']).toBe('string')
})

test('/prompts saves texts, and @name sends them', async () => {
  const server = await modelServer(answer('Ok.'))
  const talk = chatSession(server)
  await sendLine(talk, '/prompts create review Review the change carefully.')
  expect(outputText(await sendLine(talk, '/prompts list'))).toMatch(/@review {2}\(fumibako\) {2}Review the change/)
  await sendLine(talk, '@review only the tests')
  expect(talk.state.history.length).toBe(1)
  expect(prompts(talk)).toEqual(['Review the change carefully.\n\nonly the tests'])
  await sendLine(talk, '/prompts remove review')
  expect(existsSync(join(talk.commandContext.data, 'prompts', 'review.md'))).toBe(false)
})

test('/reply quotes the last answer, /usage and /transcript report, /quit ends', async () => {
  const talk = await talked(['one'])
  expect(await sendLine(talk, '/reply')).toEqual([{ kind: 'edit', text: '> answer to one\n\n' }])
  expect(outputText(await sendLine(talk, '/usage'))).toMatch(
    /\| the model \| ~0 \| 0 % \|[\s\S]*^0 % of 100,000 tokens \(test-model\)/m,
  )
  expect(outputText(await sendLine(talk, '/transcript'))).toMatch(
    /> one\nanswer to one\n\[Tool uses: none\]\n> \/reply/,
  )
  expect(await sendLine(talk, '/quit')).toEqual([{ kind: 'quit' }])
})

test('/agent lists, shows and swaps', async () => {
  const server = await modelServer(answer('Arr.'))
  const talk = chatSession(server)
  const folder = join(talk.setup.workspace.cwd, '.amazonq', 'cli-agents')
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'pirate.json'),
    '{"name": "pirate", "prompt": "Talk like a pirate.", "resources": ["file://ship.md"]}',
  )
  writeFileSync(join(folder, 'broken.json'), '{"name": 1}')
  expect(outputText(await sendLine(talk, '/agent list'))).toMatch(/\* q_cli_default[\s\S]*broken\.json/)
  expect(outputText(await sendLine(talk, '/agent show pirate'))).toMatch(/instruction: Talk like a pirate/)
  await sendLine(talk, '/agent swap pirate')
  expect(talk.state.context_manager).toMatchObject({ current_profile: 'pirate', paths: ['ship.md'] })
  await sendLine(talk, 'Hello')
  expect(server.asked[0]?.body.messages?.[0]?.['content']).toContain('Follow this instruction: Talk like a pirate.')
  expect(eventKinds(await sendLine(talk, '/agent swap nobody'))).toEqual(['error'])
})

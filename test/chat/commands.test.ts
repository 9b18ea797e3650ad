/** Chat commands: what each one changes, and what the journal records. */
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CHAT_COMMANDS, parseCommand } from '../../src/chat/commands/command-list.ts'
import { serializeState } from '../../src/chat/commands/save-load.ts'
import type { ChatSession } from '../../src/chat/session.ts'
import { readState } from '../../src/conversation/codec/state.ts'
import { promptOf } from '../../src/conversation/message-text.ts'
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
  const session = chatSession({ ...server, ...options })
  for (const line of lines) await sendLine(session, line)
  return session
}

const prompts = ({ state }: ChatSession): readonly (string | undefined)[] =>
  state.history.toArray().map(({ user }) => promptOf(user))

test('every command has a test that types it', () => {
  const folder = join(import.meta.dirname, '..')
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /^(?:chat|cli|web|server)\/.*\.test\.ts$/.test(path.replaceAll('\\', '/')))
    .map((path) => readFileSync(join(folder, path), 'utf8'))
  const isTyped = ({ name }: { readonly name: string }) =>
    sources.some((source) => new RegExp(`['"\`]/${name}(?![\\w/.-])`).test(source))
  expect(CHAT_COMMANDS.filter((command) => !isTyped(command)).map(({ name }) => name)).toEqual([])
})

test('input with a leading slash is a command unless it looks like a path', () => {
  expect(parseCommand('/help')).toBeDefined()
  expect(parseCommand('/nothing of the kind')).toBeDefined()
  expect(parseCommand('!ls')).toBeDefined()
  for (const line of ['/etc/passwd is what?', '/notes.md', 'hello /help']) expect(parseCommand(line)).toBeUndefined()
})

test('/help lists every command, and describes a single one', async () => {
  const session = chatSession(await modelServer())
  const all = outputText(await sendLine(session, '/help'))
  for (const { name } of CHAT_COMMANDS) expect(all).toContain(`/${name}`)
  expect(outputText(await sendLine(session, '/help tangent'))).toMatch(/^\/tangent \[name\]/)
  expect(eventKinds(await sendLine(session, '/unheard-of'))).toEqual(['error'])
  expect(outputText(await sendLine(session, '/mdoel'))).toBe(
    'Unknown command /mdoel. Did you mean /model? Type /help for a list.',
  )
  expect(outputText(await sendLine(session, '/check'))).toMatch(/Did you mean \/checkpoint\?/)
})

describe('/tangent', () => {
  test('leaves no trace', async () => {
    const session = await talked(['main'])
    const before = prompts(session)
    await sendLine(session, '/tangent colours')
    expect(session.tangent()).toMatchObject({ name: 'colours', seconds: 0 })
    await sendLine(session, 'aside')
    expect(outputText(await sendLine(session, '/tangent list'))).toMatch(/^colours {2}<- here, for \d+ seconds?/)
    expect(eventKinds(await sendLine(session, '/tangent'))).toContain('moved')
    expect(prompts(session)).toEqual(before)
    expect(session.tangent()).toBeUndefined()
  })

  test('tail keeps the last exchange', async () => {
    const session = await talked(['main'])
    for (const line of ['/tangent', 'one', 'two', '/tangent tail']) await sendLine(session, line)
    expect(prompts(session)).toEqual(['main', 'two'])
  })

  test('compact returns with a summary, also from a nested tangent', async () => {
    const session = await talked(['main'])
    for (const line of ['/tangent outer', '/tangent inner', 'deep']) await sendLine(session, line)
    expect(outputText(await sendLine(session, '/tangent list'))).toMatch(/^outer\n {2}inner/)
    await sendLine(session, '/tangent compact')
    expect(prompts(session).at(-1)).toMatch(/side conversation "inner" has ended/)
    expect(session.tangent()?.name).toBe('outer')
    await sendLine(session, '/tangent')
    expect(prompts(session)).toEqual(['main'])
  })

  test('cannot be left if none is open', async () => {
    const session = await talked([])
    for (const line of ['/tangent tail', '/tangent compact'])
      expect(eventKinds(await sendLine(session, line))).toEqual(['error'])
  })
})

describe('/rewind', () => {
  test('rewinds, keeps the abandoned branch, and can switch to it', async () => {
    const session = await talked(['one', 'two', 'three'])
    expect(outputText(await sendLine(session, '/rewind'))).toMatch(/1 {2}one\n +2 {2}two\n +3 {2}three/)
    await sendLine(session, '/rewind 1 first try')
    expect(prompts(session)).toEqual(['one'])
    expect(outputText(await sendLine(session, '/rewind branches'))).toMatch(/after exchange 1, 2 exchanges: first try/)
    await sendLine(session, '/rewind branch 1')
    expect(prompts(session)).toEqual(['one', 'two', 'three'])
    expect(eventKinds(await sendLine(session, '/rewind 9'))).toEqual(['error'])
  })

  test('last deletes the last exchange', async () => {
    const session = await talked(['one', 'two'])
    await sendLine(session, '/rewind last')
    expect(prompts(session)).toEqual(['one'])
    expect(outputText(await sendLine(session, '/rewind branches'))).toMatch(/No branches/)
  })
})

describe('/save and /load', () => {
  test('write what Amazon Q CLI reads, and read it back', async () => {
    const session = await talked(['one', 'two'])
    const { cwd } = session.setup.workspace
    await sendLine(session, '/save talk.json')
    const saved = readFileSync(join(cwd, 'talk.json'), 'utf8')
    expect(readState(saved, { mode: 'strict' })).toMatchObject({ ok: true })
    expect(eventKinds(await sendLine(session, '/save talk.json'))).toEqual(['error'])
    await sendLine(session, '/clear')
    expect(prompts(session)).toEqual([])
    expect(eventKinds(await sendLine(session, '/load talk'))).toContain('moved')
    expect(prompts(session)).toEqual(['one', 'two'])
    await sendLine(session, '/save talk.json -f')
    expect(readState(serializeState(session.state), { mode: 'strict' })).toMatchObject({ ok: true })
  })

  test('report a file that is not a conversation and a missing file', async () => {
    const session = await talked([])
    writeFileSync(join(session.setup.workspace.cwd, 'x.json'), '{"conversation_id": 1}')
    expect(outputText(await sendLine(session, '/load x'))).toMatch(/is not a saved conversation/)
    expect(outputText(await sendLine(session, '/load y'))).toMatch(/No such file: y/)
  })

  test('report why a file cannot be written, and the chat continues', async () => {
    const session = await talked([])
    writeFileSync(join(session.setup.workspace.cwd, 'notes'), '')
    const [event] = await sendLine(session, '/save notes/talk.json')
    expect(event).toMatchObject({
      kind: 'error',
      text: expect.stringMatching(/talk\.json cannot be written \(\w+\): there is a file where its folder should be/),
      ja: expect.stringContaining('に書き込めません'),
    })
    writeFileSync(join(session.commandContext.data, 'prompts'), '')
    expect(eventKinds(await sendLine(session, '/prompts create short Be brief.'))).toEqual(['error'])
  })
})

describe('/context', () => {
  test('adds, lists with sizes and removes files, which are sent with the request', async () => {
    const server = await modelServer(answer('ok'))
    const session = chatSession(server)
    const { cwd } = session.setup.workspace
    writeFileSync(join(cwd, 'rules.md'), 'Always be brief. '.repeat(20))
    mkdirSync(join(cwd, 'docs'))
    writeFileSync(join(cwd, 'docs', 'a.md'), 'A page.')
    expect(outputText(await sendLine(session, '/context add rules.md docs/*.md'))).toMatch(/Added 2 rules/)
    expect(outputText(await sendLine(session, '/context add rules.md'))).toMatch(/Rule 'rules.md' already exists/)
    expect(outputText(await sendLine(session, '/context add missing.md'))).toMatch(/No such file: missing.md/)
    expect(outputText(await sendLine(session, '/context show'))).toMatch(
      /rules\.md {2}~90 tokens[\s\S]*a\.md[\s\S]*of 75,000 tokens/,
    )
    expect(outputText(await sendLine(session, '/context show --expand'))).toContain('Always be brief.')
    const sent = outputText(await sendLine(session, '/context show --sent'))
    await sendLine(session, 'Hello')
    const real = server.asked[0]?.body.messages?.[0]?.['content']
    expect(real).toContain('Always be brief.')
    expect(sent).toContain(JSON.stringify(real))
    expect(session.state.context_message_length).toBeGreaterThan(300)
    await sendLine(session, '/context remove docs/*.md')
    expect(session.state.context_manager?.paths).toEqual(['rules.md'])
    await sendLine(session, '/context clear')
    expect(session.state.context_manager?.paths).toEqual([])
  })

  test('drops files beyond three quarters of the window and warns once', async () => {
    const server = await modelServer(answer('1'), answer('2'))
    const session = chatSession({ ...server, window: 4000, paths: ['*.md'] })
    writeFileSync(join(session.setup.workspace.cwd, 'big.md'), 'x'.repeat(20_000))
    writeFileSync(join(session.setup.workspace.cwd, 'small.md'), 'small one')
    writeFileSync(join(session.setup.workspace.cwd, 'binary.md'), Buffer.from([0xff, 0xfe, 0x00]))
    const first = await sendLine(session, 'Hello')
    expect(first.filter(({ kind }) => kind === 'notice')).toMatchObject([
      { code: 'context_dropped' },
      { code: 'context_unreadable' },
    ])
    expect(JSON.stringify(server.asked[0]?.body.messages)).toContain('small one')
    expect(eventKinds(await sendLine(session, 'Again'))).not.toContain('notice')
  })
})

test('/tools lists, trusts and untrusts tools', async () => {
  const session = chatSession({
    ...(await modelServer()),
    tools: [fakeTool({ name: 'write' }), fakeTool({ name: 'read' })],
  })
  expect(outputText(await sendLine(session, '/tools'))).toMatch(/write {2}asks/)
  expect(outputText(await sendLine(session, '/tools trust write'))).toMatch(/write {2}trusted[\s\S]*read {2}asks/)
  expect(outputText(await sendLine(session, '/tools trust nothing'))).toMatch(/Unknown tool nothing/)
  expect(outputText(await sendLine(session, '/tools untrust write'))).toMatch(/write {2}asks/)
  await sendLine(session, '/tools trust-all')
  expect(outputText(await sendLine(session, '/tools'))).not.toMatch(/asks/)
  expect(outputText(await sendLine(session, '/tools reset'))).toMatch(/write {2}asks/)
  expect(JSON.parse(outputText(await sendLine(session, '/tools schema')))).toHaveLength(2)
})

test('a file that is far too large is rejected by size without reading it', async () => {
  const session = chatSession({ ...(await modelServer(answer('Ok.'))), paths: ['*.md'] })
  const path = join(session.setup.workspace.cwd, 'film.md')
  writeFileSync(path, '')
  // Larger than the maximum size of a read.
  truncateSync(path, 3 * 2 ** 30)
  const notices = (await sendLine(session, 'See @film.md')).filter((event) => event.kind === 'notice')
  expect(notices).toMatchObject([
    { text: 'film.md not attached: it is larger than 32 MB' },
    { code: 'context_dropped', text: `Skipped because the context is full: ${path}.` },
  ])
})

test('a rule that matches more files than the limit is reported', async () => {
  const session = chatSession({ ...(await modelServer(answer('Ok.'))), paths: ['many/*'] })
  const folder = join(session.setup.workspace.cwd, 'many')
  mkdirSync(folder)
  for (let n = 0; n <= 1000; n++) writeFileSync(join(folder, `${n}.txt`), 'x')
  const notices = (await sendLine(session, 'Hello')).filter((event) => event.kind === 'notice')
  expect(notices).toMatchObject([{ code: 'context_dropped', text: 'Only the first 1,000 files are used: many/*.' }])
})

test('/attach and @path attach images, documents and texts', async () => {
  const server = await modelServer(answer('Nice.'), answer('Ok.'))
  const session = chatSession(server)
  const { cwd } = session.setup.workspace
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
  await sendLine(session, '/attach paper.pdf')
  const events = await sendLine(session, 'Look at @pixel.png and @notes.txt and @thing.bin')
  expect(
    events.filter((event) => event.kind === 'notice').map((event) => event.kind === 'notice' && event.text),
  ).toEqual([
    'attached paper.pdf (17 bytes)',
    'attached pixel.png (70 bytes)',
    'attached notes.txt (18 bytes)',
    'thing.bin not attached: it is not an image, PDF or text file',
  ])
  const content = server.asked[0]?.body.messages?.at(-1)?.['content'] as readonly { type: string; text?: string }[]
  expect(content.map(({ type }) => type)).toEqual(['text', 'image_url', 'file'])
  expect(content[0]?.text).toContain('Remember the milk.')
  expect(session.state.history.at(0)?.user.images).toHaveLength(1)
  expect(readState(serializeState(session.state), { mode: 'strict' })).toMatchObject({ ok: true })
})

test('a path that is not a file is reported with the nearest name, other words with @ are not', async () => {
  const server = await modelServer(answer('Ok.'), answer('Ok.'), answer('Ok.'))
  const session = chatSession(server)
  const { cwd } = session.setup.workspace
  writeFileSync(join(cwd, 'notes.txt'), 'Remember the milk.')
  mkdirSync(join(cwd, 'src'))
  const notices = async (prompt: string) =>
    (await sendLine(session, prompt)).flatMap((event) => (event.kind === 'notice' ? event.text : []))
  expect(await notices('Compare @note.txt with @missing.pdf and @./src/ and @"my plan"')).toEqual([
    'note.txt not attached: no such file. Did you mean notes.txt?',
    'missing.pdf not attached: no such file',
    'my plan not attached: no such file',
    'attached @./src/ (30 characters)',
  ])
  expect(await notices('See @notes.txt, please (or @notes.txt).')).toEqual(['attached notes.txt (18 bytes)'])
  expect(await notices('Ask @alice to use @types/node and @app.route("/") of ann@example.org')).toEqual([])
})

test('content that a server does not accept is omitted with a notice', async () => {
  const server = await modelServer(answer('Ok.'))
  const session = chatSession({ ...server, profile: 'ollama' })
  writeFileSync(join(session.setup.workspace.cwd, 'paper.pdf'), '%PDF-1.4\n')
  const events = await sendLine(session, 'Read @paper.pdf')
  expect(events.find((event) => event.kind === 'notice' && event.code === 'left_out')).toBeDefined()
  expect(typeof server.asked[0]?.body.messages?.at(-1)?.['content']).toBe('string')
})

test('/prompts saves texts, and @name sends them', async () => {
  const server = await modelServer(answer('Ok.'))
  const session = chatSession(server)
  await sendLine(session, '/prompts create review Review the change carefully.')
  expect(outputText(await sendLine(session, '/prompts list'))).toMatch(/@review {2}\(fumibako\) {2}Review the change/)
  await sendLine(session, '@review only the tests')
  expect(session.state.history.length).toBe(1)
  expect(prompts(session)).toEqual(['Review the change carefully.\n\nonly the tests'])
  await sendLine(session, '/prompts remove review')
  expect(existsSync(join(session.commandContext.data, 'prompts', 'review.md'))).toBe(false)
})

test('/reply quotes the last answer, /usage and /transcript report, /quit ends', async () => {
  const session = await talked(['one'])
  expect(await sendLine(session, '/reply')).toEqual([{ kind: 'edit', text: '> answer to one\n\n' }])
  expect(outputText(await sendLine(session, '/usage'))).toMatch(
    /\| model \| ~0 \| 0 % \|[\s\S]*^0 % of 100,000 tokens \(test-model\)/m,
  )
  expect(outputText(await sendLine(session, '/transcript'))).toMatch(
    /> one\nanswer to one\n\[Tool uses: none\]\n> \/reply/,
  )
  expect(await sendLine(session, '/quit')).toEqual([{ kind: 'quit' }])
})

test('/agent lists, shows and swaps', async () => {
  const server = await modelServer(answer('Arr.'))
  const session = chatSession(server)
  const folder = join(session.setup.workspace.cwd, '.amazonq', 'cli-agents')
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'pirate.json'),
    '{"name": "pirate", "prompt": "Talk like a pirate.", "resources": ["file://ship.md"]}',
  )
  writeFileSync(join(folder, 'broken.json'), '{"name": 1}')
  expect(outputText(await sendLine(session, '/agent list'))).toMatch(/\* q_cli_default[\s\S]*broken\.json/)
  expect(outputText(await sendLine(session, '/agent show pirate'))).toMatch(/instructions: Talk like a pirate/)
  await sendLine(session, '/agent swap pirate')
  expect(session.state.context_manager).toMatchObject({ current_profile: 'pirate', paths: ['ship.md'] })
  await sendLine(session, 'Hello')
  expect(server.asked[0]?.body.messages?.[0]?.['content']).toContain('Follow this instruction: Talk like a pirate.')
  expect(eventKinds(await sendLine(session, '/agent swap nobody'))).toEqual(['error'])
})

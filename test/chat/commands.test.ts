/** The commands of a conversation: what each changes, and that the journal tells it. */
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { savedState } from '../../src/chat/commands/save.ts'
import { COMMANDS, commandIn } from '../../src/chat/commands/table.ts'
import type { Talk } from '../../src/chat/talk.ts'
import { readState } from '../../src/conversation/codec/read.ts'
import { promptOf } from '../../src/conversation/render.ts'
import { answer } from '../support/model-chunks.ts'
import { modelServer } from '../support/model-server.ts'
import { fakeTool, kinds, outputs, said, type TalkingOptions, talking } from './support/talking.ts'

async function talked(lines: readonly string[], options: TalkingOptions = {}): Promise<Talk> {
  const server = await modelServer(
    ...lines.map((line) => answer(`answer to ${line}`)),
    answer('more'),
    answer('yet more'),
  )
  const talk = talking({ ...server, ...options })
  for (const line of lines) await said(talk, line)
  return talk
}

const prompts = ({ state }: Talk): readonly (string | undefined)[] =>
  state.history.toArray().map(({ user }) => promptOf(user))

test('what begins with a slash is a command, unless it looks like a path', () => {
  expect(commandIn('/help')).toBeDefined()
  expect(commandIn('/nothing of the kind')).toBeDefined()
  expect(commandIn('!ls')).toBeDefined()
  for (const line of ['/etc/passwd is what?', '/notes.md', 'hello /help']) expect(commandIn(line)).toBeUndefined()
})

test('/help names every command, and a command by itself', async () => {
  const talk = talking(await modelServer())
  const all = outputs(await said(talk, '/help'))
  for (const { name } of COMMANDS) expect(all).toContain(`/${name}`)
  expect(outputs(await said(talk, '/help tangent'))).toMatch(/^\/tangent \[name\]/)
  expect(kinds(await said(talk, '/unheard-of'))).toEqual(['error'])
  expect(outputs(await said(talk, '/mdoel'))).toBe('there is no command /mdoel; is it /model? /help lists them all.')
  expect(outputs(await said(talk, '/check'))).toMatch(/is it \/checkpoint\?/)
})

describe('/tangent', () => {
  test('leaves no trace', async () => {
    const talk = await talked(['main'])
    const before = prompts(talk)
    await said(talk, '/tangent colours')
    expect(talk.tangent()).toMatchObject({ name: 'colours', seconds: 0 })
    await said(talk, 'aside')
    expect(outputs(await said(talk, '/tangent list'))).toMatch(/^colours {2}<- here, for \d+ seconds?/)
    expect(kinds(await said(talk, '/tangent'))).toContain('moved')
    expect(prompts(talk)).toEqual(before)
    expect(talk.tangent()).toBeUndefined()
  })

  test('tail brings the last exchange', async () => {
    const talk = await talked(['main'])
    for (const line of ['/tangent', 'one', 'two', '/tangent tail']) await said(talk, line)
    expect(prompts(talk)).toEqual(['main', 'two'])
  })

  test('compact comes back with a summary, and another one may be open around it', async () => {
    const talk = await talked(['main'])
    for (const line of ['/tangent outer', '/tangent inner', 'deep']) await said(talk, line)
    expect(outputs(await said(talk, '/tangent list'))).toMatch(/^outer\n {2}inner/)
    await said(talk, '/tangent compact')
    expect(prompts(talk).at(-1)).toMatch(/side conversation "inner" has ended/)
    expect(talk.tangent()?.name).toBe('outer')
    await said(talk, '/tangent')
    expect(prompts(talk)).toEqual(['main'])
  })

  test('cannot be left where none is open', async () => {
    const talk = await talked([])
    for (const line of ['/tangent tail', '/tangent compact']) expect(kinds(await said(talk, line))).toEqual(['error'])
  })
})

describe('/rewind', () => {
  test('goes back, keeps what followed, and goes over to it again', async () => {
    const talk = await talked(['one', 'two', 'three'])
    expect(outputs(await said(talk, '/rewind'))).toMatch(/1 {2}one\n +2 {2}two\n +3 {2}three/)
    await said(talk, '/rewind 1 first try')
    expect(prompts(talk)).toEqual(['one'])
    expect(outputs(await said(talk, '/rewind branches'))).toMatch(/after exchange 1, 2 exchanges: first try/)
    await said(talk, '/rewind branch 1')
    expect(prompts(talk)).toEqual(['one', 'two', 'three'])
    expect(kinds(await said(talk, '/rewind 9'))).toEqual(['error'])
  })

  test('last forgets the last exchange', async () => {
    const talk = await talked(['one', 'two'])
    await said(talk, '/rewind last')
    expect(prompts(talk)).toEqual(['one'])
    expect(outputs(await said(talk, '/rewind branches'))).toMatch(/no branches/)
  })
})

describe('/save and /load', () => {
  test('write what the original reads, and read it again', async () => {
    const talk = await talked(['one', 'two'])
    const { cwd } = talk.rig.place
    await said(talk, '/save talk.json')
    const saved = readFileSync(join(cwd, 'talk.json'), 'utf8')
    expect(readState(saved, { mode: 'strict' })).toMatchObject({ ok: true })
    expect(kinds(await said(talk, '/save talk.json'))).toEqual(['error'])
    await said(talk, '/clear')
    expect(prompts(talk)).toEqual([])
    expect(kinds(await said(talk, '/load talk'))).toContain('moved')
    expect(prompts(talk)).toEqual(['one', 'two'])
    await said(talk, '/save talk.json -f')
    expect(readState(savedState(talk.state), { mode: 'strict' })).toMatchObject({ ok: true })
  })

  test('tell what is no conversation, and what is not there', async () => {
    const talk = await talked([])
    writeFileSync(join(talk.rig.place.cwd, 'x.json'), '{"conversation_id": 1}')
    expect(outputs(await said(talk, '/load x'))).toMatch(/is no saved conversation/)
    expect(outputs(await said(talk, '/load y'))).toMatch(/no file is at y/)
  })

  test('tell why a file cannot be written, in words of writing, and the conversation goes on', async () => {
    const talk = await talked([])
    writeFileSync(join(talk.rig.place.cwd, 'notes'), '')
    const [event] = await said(talk, '/save notes/talk.json')
    expect(event).toMatchObject({
      kind: 'error',
      text: expect.stringMatching(/talk\.json cannot be written \(\w+\): there is a file where its folder should be/),
      ja: expect.stringContaining('に書き込めません'),
    })
    writeFileSync(join(talk.surroundings.data, 'prompts'), '')
    expect(kinds(await said(talk, '/prompts create short Be brief.'))).toEqual(['error'])
  })
})

describe('/context', () => {
  test('adds, shows with sizes, removes, and what it names goes with the request', async () => {
    const server = await modelServer(answer('ok'))
    const talk = talking(server)
    const { cwd } = talk.rig.place
    writeFileSync(join(cwd, 'rules.md'), 'Always be brief. '.repeat(20))
    mkdirSync(join(cwd, 'docs'))
    writeFileSync(join(cwd, 'docs', 'a.md'), 'A page.')
    expect(outputs(await said(talk, '/context add rules.md docs/*.md'))).toMatch(/Added 2 rules/)
    expect(outputs(await said(talk, '/context add rules.md'))).toMatch(/Rule 'rules.md' already exists/)
    expect(outputs(await said(talk, '/context add missing.md'))).toMatch(/no file is at missing.md/)
    expect(outputs(await said(talk, '/context show'))).toMatch(
      /rules\.md {2}~90 tokens[\s\S]*a\.md[\s\S]*of 75,000 tokens/,
    )
    expect(outputs(await said(talk, '/context show --expand'))).toContain('Always be brief.')
    const sent = outputs(await said(talk, '/context show --sent'))
    await said(talk, 'Hello')
    const real = server.asked[0]?.body.messages?.[0]?.['content']
    expect(real).toContain('Always be brief.')
    expect(sent).toContain(JSON.stringify(real))
    expect(talk.state.context_message_length).toBeGreaterThan(300)
    await said(talk, '/context remove docs/*.md')
    expect(talk.state.context_manager?.paths).toEqual(['rules.md'])
    await said(talk, '/context clear')
    expect(talk.state.context_manager?.paths).toEqual([])
  })

  test('drops what does not fit into three quarters of the window, and says so once', async () => {
    const server = await modelServer(answer('1'), answer('2'))
    const talk = talking({ ...server, window: 4000, paths: ['*.md'] })
    writeFileSync(join(talk.rig.place.cwd, 'big.md'), 'x'.repeat(20_000))
    writeFileSync(join(talk.rig.place.cwd, 'small.md'), 'small one')
    writeFileSync(join(talk.rig.place.cwd, 'binary.md'), Buffer.from([0xff, 0xfe, 0x00]))
    const first = await said(talk, 'Hello')
    expect(first.filter(({ kind }) => kind === 'notice')).toMatchObject([
      { code: 'context_dropped' },
      { code: 'context_unreadable' },
    ])
    expect(JSON.stringify(server.asked[0]?.body.messages)).toContain('small one')
    expect(kinds(await said(talk, 'Again'))).not.toContain('notice')
  })
})

test('/tools says who may run, trusts and takes it back', async () => {
  const talk = talking({ ...(await modelServer()), tools: [fakeTool({ name: 'write' }), fakeTool({ name: 'read' })] })
  expect(outputs(await said(talk, '/tools'))).toMatch(/write {2}asks/)
  expect(outputs(await said(talk, '/tools trust write'))).toMatch(/write {2}trusted[\s\S]*read {2}asks/)
  expect(outputs(await said(talk, '/tools trust nothing'))).toMatch(/no tool nothing/)
  expect(outputs(await said(talk, '/tools untrust write'))).toMatch(/write {2}asks/)
  await said(talk, '/tools trust-all')
  expect(outputs(await said(talk, '/tools'))).not.toMatch(/asks/)
  expect(outputs(await said(talk, '/tools reset'))).toMatch(/write {2}asks/)
  expect(JSON.parse(outputs(await said(talk, '/tools schema')))).toHaveLength(2)
})

test('what is far too large is told so by its size, and not read', async () => {
  const talk = talking({ ...(await modelServer(answer('Ok.'))), paths: ['*.md'] })
  const path = join(talk.rig.place.cwd, 'film.md')
  writeFileSync(path, '')
  // More than can be read at once.
  truncateSync(path, 3 * 2 ** 30)
  const notices = (await said(talk, 'See @film.md')).filter((event) => event.kind === 'notice')
  expect(notices).toMatchObject([
    { text: 'film.md is left out: it has more than 32 MB' },
    { code: 'context_dropped', text: `No room for ${path}.` },
  ])
})

test('a rule that names more files than are looked at is told of', async () => {
  const talk = talking({ ...(await modelServer(answer('Ok.'))), paths: ['many/*'] })
  const folder = join(talk.rig.place.cwd, 'many')
  mkdirSync(folder)
  for (let n = 0; n <= 1000; n++) writeFileSync(join(folder, `${n}.txt`), 'x')
  const notices = (await said(talk, 'Hello')).filter((event) => event.kind === 'notice')
  expect(notices).toMatchObject([
    { code: 'context_dropped', text: 'Only the first 1,000 files are looked at: many/*.' },
  ])
})

test('/attach and @path take images, documents and texts along', async () => {
  const server = await modelServer(answer('Nice.'), answer('Ok.'))
  const talk = talking(server)
  const { cwd } = talk.rig.place
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
  await said(talk, '/attach paper.pdf')
  const events = await said(talk, 'Look at @pixel.png and @notes.txt and @thing.bin')
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
  expect(readState(savedState(talk.state), { mode: 'strict' })).toMatchObject({ ok: true })
})

test('what a server does not take is left out with a word', async () => {
  const server = await modelServer(answer('Ok.'))
  const talk = talking({ ...server, profile: 'ollama' })
  writeFileSync(join(talk.rig.place.cwd, 'paper.pdf'), '%PDF-1.4\n')
  const events = await said(talk, 'Read @paper.pdf')
  expect(events.find((event) => event.kind === 'notice' && event.code === 'left_out')).toBeDefined()
  expect(typeof server.asked[0]?.body.messages?.at(-1)?.['content']).toBe('string')
})

test('/prompts keeps texts, and @name says them', async () => {
  const server = await modelServer(answer('Ok.'))
  const talk = talking(server)
  await said(talk, '/prompts create review Review the change carefully.')
  expect(outputs(await said(talk, '/prompts list'))).toMatch(/@review {2}\(fumibako\) {2}Review the change/)
  await said(talk, '@review only the tests')
  expect(talk.state.history.length).toBe(1)
  expect(prompts(talk)).toEqual(['Review the change carefully.\n\nonly the tests'])
  await said(talk, '/prompts remove review')
  expect(existsSync(join(talk.surroundings.data, 'prompts', 'review.md'))).toBe(false)
})

test('/reply quotes the last answer, /usage and /transcript tell, /quit ends', async () => {
  const talk = await talked(['one'])
  expect(await said(talk, '/reply')).toEqual([{ kind: 'edit', text: '> answer to one\n\n' }])
  expect(outputs(await said(talk, '/usage'))).toMatch(
    /\| the model \| ~0 \| 0 % \|[\s\S]*^0 % of 100,000 tokens \(test-model\)/m,
  )
  expect(outputs(await said(talk, '/transcript'))).toMatch(/> one\nanswer to one\n\[Tool uses: none\]\n> \/reply/)
  expect(await said(talk, '/quit')).toEqual([{ kind: 'quit' }])
})

test('/agent lists, shows and swaps', async () => {
  const server = await modelServer(answer('Arr.'))
  const talk = talking(server)
  const folder = join(talk.rig.place.cwd, '.amazonq', 'cli-agents')
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'pirate.json'),
    '{"name": "pirate", "prompt": "Talk like a pirate.", "resources": ["file://ship.md"]}',
  )
  writeFileSync(join(folder, 'broken.json'), '{"name": 1}')
  expect(outputs(await said(talk, '/agent list'))).toMatch(/\* q_cli_default[\s\S]*broken\.json/)
  expect(outputs(await said(talk, '/agent show pirate'))).toMatch(/instruction: Talk like a pirate/)
  await said(talk, '/agent swap pirate')
  expect(talk.state.context_manager).toMatchObject({ current_profile: 'pirate', paths: ['ship.md'] })
  await said(talk, 'Hello')
  expect(server.asked[0]?.body.messages?.[0]?.['content']).toContain('Follow this instruction: Talk like a pirate.')
  expect(kinds(await said(talk, '/agent swap nobody'))).toEqual(['error'])
})

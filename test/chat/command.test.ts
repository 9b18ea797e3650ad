/** `fumi chat` for people and scripts. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { shortSession, tempLog, text } from '../support/codex-log.ts'
import { answer, calls, refusal } from '../support/model-chunks.ts'
import { chatServer, json, listingServer } from '../support/model-server.ts'
import { fumi } from '../support/run-fumi.ts'
import { type ChatRun, chatHome, fumiChat } from './support/fumi-chat.ts'

const at = (baseURL: string, ...more: readonly string[]) => ['--base-url', baseURL, '--model', 'm', ...more]

describe('non-interactive', () => {
  test('the answer is on standard output, and the exit code says how it ended', async () => {
    const server = await chatServer(
      answer('Good morning.'),
      refusal('I will not.'),
      json({ error: { message: 'no such model' } }, 404),
      calls([{ name: 'execute_bash', args: { command: 'touch it' } }]),
    )
    const place = chatHome()
    const ran = async (...more: string[]) => fumiChat(at(server.baseURL, '--no-interactive', ...more), place)
    expect(await ran('Hello')).toMatchObject({ code: 0, out: 'Good morning.\n' })
    expect(await ran('Do it')).toMatchObject({ code: 11 })
    expect(await ran('What?')).toMatchObject({ code: 10, out: '', err: expect.stringContaining('no such model') })
    expect(await ran('Touch it')).toMatchObject({ code: 12, err: expect.stringMatching(/--trust-tools execute_bash/) })
    expect(readdirSync(place.cwd)).toEqual([])
  })

  test('trusted tools run, and all events are lines of JSON', async () => {
    const server = await chatServer(
      calls([{ name: 'execute_bash', args: { command: 'touch it' } }]),
      answer('Touched.'),
    )
    const place = chatHome()
    const args = at(server.baseURL, '--no-interactive', '--json', '--trust-tools', 'execute_bash', 'Touch it')
    const { code, out } = await fumiChat(args, place)
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string })
    expect(code).toBe(0)
    expect(events.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['started', 'tool_asked', 'tool_done', 'entry', 'ended']),
    )
    expect(readdirSync(place.cwd)).toEqual(['it'])
  })

  test('a tool or an agent that does not exist is an error', async () => {
    const server = await chatServer(answer('Hello.'))
    const place = chatHome()
    const trusting = (names: string) =>
      fumiChat(at(server.baseURL, '--no-interactive', '--trust-tools', names, 'Hi'), place)
    expect(await trusting('fs_read,fs_wirte')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Unknown tool "fs_wirte" in --trust-tools. Did you mean fs_write? Available: '),
    })
    expect(await trusting('@nosuch/tool')).toMatchObject({ code: 2 })
    expect(
      await fumiChat(at(server.baseURL, '--no-interactive', '--agent', 'q_cli_defualt', 'Hi'), place),
    ).toMatchObject({
      code: 2,
      err: expect.stringContaining('Unknown agent q_cli_defualt. Did you mean q_cli_default? Available: q_cli_default'),
    })
    expect(server.asked).toEqual([])
    expect(await trusting('fs_*, execute_bash')).toMatchObject({ code: 0 })
  })

  test('piped input is attached', async () => {
    const server = await chatServer(answer('A diff.'))
    await fumiChat(at(server.baseURL, '--no-interactive', 'What is this?'), chatHome(), '+ a line\n')
    expect(server.asked[0]?.body.messages?.at(-1)?.['content']).toContain('What is this?\n\n+ a line')
  })

  test('piped text is never a command', async () => {
    const place = chatHome()
    const server = await chatServer(answer('No.'), answer('No.'))
    for (const text of ['!touch PWNED', '/save PWNED -f']) {
      const { code } = await fumiChat(at(server.baseURL, '--no-interactive'), place, `${text}\n`)
      expect(code).toBe(0)
      expect(server.asked.at(-1)?.body.messages?.at(-1)?.['content']).toContain(text)
    }
    const typed = await fumiChat(at(server.baseURL, '--no-interactive', '/save'), place, 'PWNED -f\n')
    expect([typed.code, typed.err]).toEqual([10, expect.stringContaining('do not accept piped input')])
    expect(readdirSync(place.cwd)).toEqual([])
  })
})

test('an interactive chat with consent is indexed with its tokens', async () => {
  const server = await chatServer(
    calls([{ name: 'execute_bash', args: { command: 'echo made > note.txt' } }], '', { input: 100, output: 10 }),
    answer('Written.', { input: 150, output: 5 }),
  )
  const place = chatHome()
  const { code, out } = await fumiChat(at(server.baseURL), place, 'Write a note\n/usage\ny\n/tangent side\n/quit\n')
  expect(code).toBe(0)
  expect(out).toContain(`fumi chat · ${new URL(server.baseURL).host} · m · `)
  expect(out).toMatch(
    /Allow it\?[\s\S]*answer this question first[\s\S]*Allow it\?[\s\S]*Written\.\n[\s\S]*↯ side \d+ s/,
  )
  expect(readdirSync(place.cwd)).toEqual(['note.txt'])
  const env = { FUMI_HOME: place.home, HOME: place.home }
  expect(fumi(['list'], { env }).out).toMatch(/fumibako:[0-9a-f-]+\tWrite a note/)
  expect(fumi(['stats', '--json'], { env }).out).toMatch(/"input_tokens":250,[^}]*"output_tokens":15/)
})

test('a chat in which nothing is said leaves no file, and --resume passes over those of older versions', async () => {
  const server = await chatServer(answer('Blue.'), answer('You said blue.'))
  const place = chatHome()
  const folder = join(place.home, 'conversations')
  const journals = () => (existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.jsonl')) : [])
  for (const lines of ['/quit\n', '', '/usage\n'])
    expect(await fumiChat(at(server.baseURL), place, lines)).toMatchObject({ code: 0 })
  expect(journals()).toEqual([])
  await fumiChat(at(server.baseURL, '--no-interactive', 'My colour is blue'), place)
  const id = '00000000-0000-4000-8000-000000000000'
  const opened = {
    event: 'opened',
    journal: 1,
    at: new Date().toISOString(),
    conversation_id: id,
    cwd: place.cwd,
    program: null,
  }
  const said = { event: 'transcript', at: opened.at, lines: ['> /usage'] }
  writeFileSync(join(folder, `${id}.jsonl`), [opened, said].map((event) => `${JSON.stringify(event)}\n`).join(''))
  await fumiChat(at(server.baseURL, '--no-interactive', '--resume', '--', 'Which colour?'), place)
  expect(JSON.stringify(server.asked.at(-1)?.body.messages)).toContain('My colour is blue')
})

test('--resume continues the last chat of this directory or the named one', async () => {
  const server = await chatServer(
    answer('Blue.'),
    answer('You said blue.'),
    answer('Elsewhere.'),
    answer('Still blue.'),
  )
  const place = chatHome()
  const unattended = at(server.baseURL, '--no-interactive')
  expect(await fumiChat([...unattended, '--resume', '--', 'Hello'], place)).toMatchObject({ code: 4 })
  await fumiChat([...unattended, 'My colour is blue'], place)
  await fumiChat([...unattended, '--resume', '--', 'Which colour?'], place)
  expect(JSON.stringify(server.asked[1]?.body.messages)).toContain('My colour is blue')
  const other = { ...place, cwd: chatHome().cwd }
  await fumiChat([...unattended, 'Something else'], other)
  const [name = ''] = readdirSync(join(place.home, 'conversations')).filter((one) => one.endsWith('.jsonl'))
  expect(await fumiChat([...unattended, '--resume', 'ffffffff-none', 'x'], place)).toMatchObject({ code: 4 })
  expect(await fumiChat([...unattended, '--resume', name.slice(0, 13), 'x'], place)).toMatchObject({ code: 0 })
})

test('--continue imports a session of another agent, and --replay answers from it', async () => {
  const server = await chatServer(answer('I know that file.'), answer('Still here.'))
  const place = chatHome()
  const log = tempLog(text(shortSession()))
  const continued = await fumiChat(at(server.baseURL, '--no-interactive', '--continue', log, 'And now?'), place)
  expect(continued).toMatchObject({ code: 0, out: 'I know that file.\n' })
  const sent = JSON.stringify(server.asked[0]?.body.messages)
  expect(sent).toContain('List the files, please.')
  expect(sent).toContain('One file: a.ts')
  const again = await fumiChat(at(server.baseURL, '--no-interactive', '--continue', log, 'And then?'), place)
  expect(again).toMatchObject({ code: 0, out: 'Still here.\n' })
  expect(JSON.stringify(server.asked[1]?.body.messages)).toContain('And now?')
  const replayed = await fumiChat(['--no-interactive', '--replay', log, 'Anything'], chatHome())
  expect(replayed.out).toContain('One file: a.ts')
})

test('the server comes from options, environment or a profile, and its models can be listed', async () => {
  const server = await listingServer([{ id: 'small', max_model_len: 4096 }, { id: 'large' }], [answer('Hi.')])
  const place = chatHome()
  writeFileSync(join(place.cwd, 'README.md'), 'x')
  expect((await fumiChat(['--list-models', '--base-url', server.baseURL], place)).out).toBe('small\nlarge\n')
  fumi(['config', 'profiles.mine.url', server.baseURL], { env: { FUMI_HOME: place.home } })
  fumi(['config', 'profiles.mine.key', 'secret-key'], { env: { FUMI_HOME: place.home } })
  expect((await fumiChat(['--profile', 'mine', '--no-interactive', 'Hello'], place)).out).toBe('Hi.\n')
  expect(server.asked.at(-1)?.headers.authorization).toBe('Bearer secret-key')
  expect(server.asked.at(-1)?.body['model']).toBe('small')
  expect(await fumiChat(['--no-interactive', 'Hello'], place)).toMatchObject({
    code: 2,
    err: expect.stringMatching(/No server specified/),
  })
  expect(await fumiChat(['--profile', 'nobody', '--no-interactive', 'x'], place)).toMatchObject({ code: 2 })
  expect(fumi(['config'], { env: { FUMI_HOME: place.home } }).out).not.toContain('secret-key')
})

test('two processes cannot open one chat', async () => {
  const place = chatHome()
  const over = join(place.cwd, 'over')
  const waiting = `until [ -e over ]; do sleep 0.05; done`
  const server = await chatServer(
    answer('One.'),
    calls([{ name: 'execute_bash', args: { command: waiting } }]),
    answer('Late.'),
  )
  const unattended = at(server.baseURL, '--no-interactive', '--trust-all-tools')
  await fumiChat([...unattended, 'Hello'], place)
  let second: Promise<ChatRun> | undefined
  const first = fumiChat([...unattended, '--json', '--resume', '--', 'Wait'], place, '', (line) => {
    if (!line.includes('"tool_started"')) return undefined
    second = fumiChat([...unattended, '--resume', '--', 'Me too'], place)
    second.finally(() => writeFileSync(over, ''))
    return undefined
  })
  expect(await first).toMatchObject({ code: 0 })
  expect(await second).toMatchObject({ code: 8 })
})

/** A bug in an adapter costs only its own logs an issue: commands and servers continue with all others. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { onCleanup } from '../support/cleanup.ts'
import { assistant, header, shortSession, tempFolder, text } from '../support/codex-log.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** The tiny agent, with bugs triggered by the name of a log. */
const FAULTY = `
import { isMainThread } from 'node:worker_threads'
import tiny from './tiny.js'
const asks = ({ path }, what) => path.endsWith(what + '.txt')
const bug = (what) => { throw new TypeError('bug in ' + what + '\\nsecond line') }
const WRONG = { segments: [{ channel: 'input', type: 'text', format: 'text', text: 5 }] }
const changed = (batch, change) => batch.map((one) => one.kind === 'message' ? { ...one, message: { ...one.message, ...change } } : one)
export default {
  ...tiny,
  async *find(root) {
    for await (const source of tiny.find(root)) asks(source, 'find') ? bug('find') : yield source
  },
  probe: async (source) => asks(source, 'probe') ? bug('probe') : tiny.probe(source),
  async *scan(source) {
    if (asks(source, 'scan')) bug('scan')
    if (asks(source, 'thread') && !isMainThread) process.exit(3)
    yield* tiny.scan(source)
    const usage = { input_tokens: 1.5, cached_input_tokens: 0, output_tokens: 0, reasoning_output_tokens: 0, total_tokens: 1e300 }
    if (asks(source, 'usage')) yield [{ kind: 'usage', at: '2026-03-01T10:00:00.000Z', model: 'm', usage }]
    if (asks(source, 'counts')) yield [{ kind: 'counts', counts: { lines: NaN, messages: -0.5, tools: {} } }]
  },
  async *read(source) {
    if (asks(source, 'read')) bug('read')
    if (asks(source, 'die') && !isMainThread) process.exit(3)
    for await (const batch of tiny.read(source))
      yield asks(source, 'time') ? changed(batch, { timestamp: 'never' }) : asks(source, 'types') ? changed(batch, WRONG) : batch
  },
  async readMessage(source, locator) {
    if (asks(source, 'body')) bug('body')
    return { ...(await tiny.readMessage(source, locator)), ...(asks(source, 'types') && WRONG) }
  },
}
`

const BUGS = ['probe', 'scan', 'thread', 'usage', 'counts', 'read', 'die', 'time', 'body'] as const

function program(): string {
  const folder = tempFolder()
  cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'))
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction')
  const agent = join(folder, 'dist/bin/agents/tiny')
  mkdirSync(agent)
  const tiny = readFileSync(join(ROOT, 'test/support/tiny-agent.ts'), 'utf8')
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 }
  for (const [name, code] of Object.entries({ agent: FAULTY, tiny }))
    writeFileSync(join(agent, `${name}.js`), ts.transpileModule(code, { compilerOptions }).outputText)
  return join(folder, 'dist/bin/fumi.js')
}

/** Large enough to be read by threads. */
function homeWith(bugs: readonly string[]): { readonly env: NodeJS.ProcessEnv; readonly tiny: string } {
  const home = tempFolder()
  const [tiny, sessions] = [join(home, '.tiny'), join(home, '.codex', 'sessions')]
  for (const folder of [tiny, sessions]) mkdirSync(folder, { recursive: true })
  for (const bug of [...bugs, 'fine'])
    writeFileSync(join(tiny, `${bug}.txt`), `me: a question of ${bug}\nit: an answer\n`)
  writeFileSync(join(sessions, 'rollout-2026-02-03T09-15-00-good.jsonl'), text(shortSession()))
  const long = Array.from({ length: 45 }, (_, at) => assistant(at % 60, 'x'.repeat(100_000)))
  for (let at = 0; at < 12; at++) {
    const id = `019c0000-0000-7000-8000-0000000002${String(at).padStart(2, '0')}`
    writeFileSync(
      join(sessions, `rollout-2026-02-03T09-15-00-${id}.jsonl`),
      text([header({ id }), ...(at === 0 ? long : [])]),
    )
  }
  const env = { PATH: process.env['PATH'], HOME: home, FUMI_HOME: join(home, 'fumi'), NO_COLOR: '1', TZ: 'UTC' }
  return { env, tiny }
}

test('an exception for one log does not affect the others', () => {
  const main = program()
  const { env } = homeWith(BUGS)
  const fumi = (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...words], { env, encoding: 'utf8' })
    expect({ words, status, stderr }).toMatchObject({ status: 0, stderr: expect.not.stringContaining('this is a bug') })
    return { stdout, stderr }
  }
  const synced = fumi('sync')
  expect(synced.stdout).toMatch(/sessions/)
  for (const bug of ['scan', 'read'])
    expect(synced.stderr).toContain(`internal error: TypeError: bug in ${bug}; please report it`)
  for (const name of ['thread', 'usage', 'counts', 'die', 'time'])
    expect(synced.stderr).toMatch(new RegExp(`${name}\\.txt.*internal error`))
  expect(synced.stderr).not.toContain('second line')
  const { sessions } = JSON.parse(fumi('list', '--json').stdout) as { sessions: readonly { id: string }[] }
  const listed = sessions.map(({ id }) => id)
  expect(listed).toEqual(expect.arrayContaining(['tiny:fine', 'codex:019c0000-0000-7000-8000-000000000001']))
  expect(listed).toEqual(expect.arrayContaining(['tiny:read', 'tiny:die', 'tiny:time', 'tiny:body']))
  expect(fumi('search', '"a question of fine"').stdout).toContain('a question of fine')
  expect(fumi('search', '"List the files"').stdout).toContain('List the files')
  fumi('search', 'question')
  expect(fumi('stats').stdout).toMatch(/\d/)
  expect(fumi('prompts').stdout).toContain('a question of fine')
  fumi('files', 'a.ts')
  expect(fumi('doctor').stdout).toContain('tiny')
  expect(fumi('show', 'tiny:fine').stdout).toContain('an answer')
  // The bug is reported until it is fixed, with its stack in the log.
  const again = spawnSync(process.execPath, [main, 'list'], { env: { ...env, FUMI_LOG: 'debug' }, encoding: 'utf8' })
  expect(again.stderr).toMatch(/bug in scan.*agents\/tiny\/agent\.js/)
})

test('a session that cannot be shown does not affect prompts and exports of others', () => {
  const main = program()
  const { env } = homeWith(['types'])
  const fumi = (...words: string[]) => spawnSync(process.execPath, [main, ...words], { env, encoding: 'utf8' })
  const failed = { status: 70, stderr: expect.stringContaining('internal error: TypeError') }
  expect(fumi('prompts')).toMatchObject({ ...failed, stdout: expect.stringContaining('a question of fine') })
  const out = tempFolder()
  expect(fumi('export', 'tiny:types', 'tiny:fine', '-o', out)).toMatchObject(failed)
  expect(readdirSync(out)).toEqual([expect.stringContaining('fine')])
  const joined = fumi('export', 'tiny:types', 'tiny:fine', '--format', 'txt')
  expect(joined).toMatchObject({ ...failed, stdout: expect.stringContaining('a question of fine') })
})

test('a root that cannot be searched loses no indexed data', () => {
  const main = program()
  const { env, tiny } = homeWith([])
  const list = () => spawnSync(process.execPath, [main, 'list', '--json'], { env, encoding: 'utf8' })
  const known = () => (JSON.parse(list().stdout) as { sessions: { id: string; gone: boolean }[] }).sessions
  expect(known()).toContainEqual(expect.objectContaining({ id: 'tiny:fine', gone: false }))
  writeFileSync(join(tiny, 'a-find.txt'), 'me: x\n')
  expect(list()).toMatchObject({ status: 0, stderr: expect.stringContaining('bug in find') })
  expect(known()).toContainEqual(expect.objectContaining({ id: 'tiny:fine', gone: false }))
})

test('a server continues when an adapter throws for new data', async () => {
  const main = program()
  const { env, tiny } = homeWith([])
  const server = spawn(process.execPath, [main, '--no-open', '--no-auth', '--port', '0'], { env })
  onCleanup(() => server.kill('SIGKILL'))
  let texts = ''
  for (const stream of [server.stdout, server.stderr])
    stream.on('data', (piece) => {
      texts += String(piece)
    })
  await expect.poll(() => texts).toMatch(/http:\/\/\S+/)
  const base = (/http:\/\/[^\s/]+/.exec(texts) ?? [''])[0]
  const hits = async (words: string): Promise<number> => {
    const reply = await fetch(`${base}/api/search?q=${encodeURIComponent(words)}`)
    return ((await reply.json()) as { data?: readonly unknown[] }).data?.length ?? -1
  }
  await expect.poll(() => hits('"a question of fine"')).toBe(1)
  for (const bug of BUGS) writeFileSync(join(tiny, `late-${bug}.txt`), `me: late ${bug}\n`)
  await expect.poll(() => texts).toContain('bug in scan')
  writeFileSync(join(tiny, 'later.txt'), 'me: written afterwards\n')
  await expect.poll(() => hits('"written afterwards"')).toBe(1)
  expect(server.exitCode).toBeNull()
  server.kill('SIGTERM')
  await once(server, 'exit')
})

/** Runs every command of the guides and every example of docs/library.md in an empty home. */
import { type SpawnOptions, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tempFolder } from './support/codex-log.ts'
import { answer } from './support/model-chunks.ts'
import { chatServer, json } from './support/model-server.ts'
import { fumiPath } from './support/run-fumi.ts'

const ROOT = join(import.meta.dirname, '..')
const STORE = join(ROOT, 'src', 'agents', 'amazon-q', 'fixtures', 'stores', 'amazon-q', 'data.sqlite3')
const SAMPLE = join(
  ROOT,
  'samples/codex/sessions/2026/02/03/rollout-2026-02-03T09-15-00-019c22d1-6a00-7000-8000-000000000001.jsonl',
)
const INSTALLS = /^npm ci\n/

const guide = (name: string): string => readFileSync(join(ROOT, 'docs', 'guides', `${name}.md`), 'utf8')
const blocksOf = (text: string): readonly string[] =>
  [...text.matchAll(/```sh\n(.*?)```/gs)].map((match) => match[1] ?? '')

interface Outcome {
  readonly code: number
  readonly output: string
}

/** Runs all blocks of a guide in one shell, except the installation, which needs the network. */
async function runGuide(name: string, variables: Record<string, string> = {}): Promise<Outcome> {
  const folder = tempFolder()
  const home = tempFolder()
  cpSync(join(ROOT, 'samples'), join(folder, 'samples'), { recursive: true })
  mkdirSync(join(folder, 'bin'))
  // Replaces `npx fumi` by the built program.
  const npx = `#!/bin/sh\nshift\nexec '${process.execPath}' '${fumiPath}' "$@"\n`
  writeFileSync(join(folder, 'bin', 'npx'), npx, { mode: 0o755 })
  let script = blocksOf(guide(name))
    .filter((block) => !INSTALLS.test(block))
    .join('\n')
  for (const [from, to] of Object.entries(variables)) {
    expect(script).toContain(from)
    script = script.replaceAll(from, to)
  }
  const env = { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, HOME: home, NO_COLOR: '1', TZ: 'UTC' }
  return runProgram('sh', ['-euc', script], { cwd: folder, env })
}

async function runProgram(program: string, args: readonly string[], options: SpawnOptions): Promise<Outcome> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes: Buffer) => (output += bytes))
  const code = await new Promise<number>((done) => child.on('close', (status) => done(status ?? -1)))
  return { code, output }
}

describe.skipIf(process.platform === 'win32')('run command by command', () => {
  test('a first conversation', async () => {
    const { baseURL } = await chatServer(answer('A box for letters.'), answer('It is called a fumibako.'))
    const outcome = await runGuide('first-conversation', { 'http://127.0.0.1:11434/v1': baseURL })
    expect(outcome).toMatchObject({ code: 0, output: expect.stringContaining('It is called a fumibako.') })
    expect(outcome.output).toMatch(/fumibako:\S+\tWhat is a letter b.*\t4\t/)
    expect(outcome.output).toContain('1 session')
  })

  test('a first conversion', async () => {
    const outcome = await runGuide('first-conversion')
    expect(outcome).toMatchObject({ code: 0, output: expect.stringContaining('the same, to the byte') })
    expect(outcome.output).toContain('messages.json: 1 conversation, no problems')
    expect(outcome.output).toMatch(/Continue with: cd \S+ && fumi chat --resume 019c22d1/)
  })
})

describe.skipIf(process.platform === 'win32')('examples of docs/library.md', () => {
  const examples = [
    ...readFileSync(join(ROOT, 'docs', 'library.md'), 'utf8').matchAll(/^##+ (.+)$|^```ts\n([\s\S]*?)^```/gm),
  ]
  const EXPECTED: { readonly [heading: string]: readonly string[] } = {
    'Import from the root': ['{"role":"user","content":"The kettle simulator says'],
    'Read logs': ['user The kettle simulator says'],
    'Read stored states': ['/code/orchard'],
    'Convert a log': ['"role":"user"', '[]'],
    'Work with an Amazon Q conversation': [
      'true{"conversation_id"',
      '"tangent_state"',
      'USER MESSAGE BEGIN ---Hello',
      'a number at $.content',
    ],
    'Context files': ['2 0 '],
    'File changes and checkpoints': ["[ '0', '1.1', '1' ] 1", 'true 0 "one\\n"'],
    'Analyse an Amazon Q history': ['Which files are here?', "pattern: 'simple'"],
    'Work with OpenAI messages': ['A kettle.', '"name":"list_tables"', 'It is nine.And six there.'],
  }

  test('run against the built package', async () => {
    const folder = tempFolder()
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(ROOT, join(folder, 'node_modules', 'fumibako'))
    cpSync(SAMPLE, join(folder, 'rollout.jsonl'))
    cpSync(STORE, join(folder, 'data.sqlite3'))
    const { baseURL } = await chatServer(completion('It is nine.'), answer('And six there.'))
    let heading = ''
    const outputs: { [heading: string]: string } = {}
    for (const [, title, code] of examples) {
      if (title !== undefined) heading = title
      if (code === undefined) continue
      writeFileSync(join(folder, 'example.mjs'), code.replace('http://127.0.0.1:11434/v1', baseURL))
      const outcome = await runProgram(process.execPath, ['example.mjs'], { cwd: folder, env: { HOME: folder } })
      expect(outcome, `${heading}: ${outcome.output}`).toMatchObject({ code: 0 })
      outputs[heading] = (outputs[heading] ?? '') + outcome.output.replaceAll('\n', '')
    }
    expect(Object.keys(outputs)).toEqual(Object.keys(EXPECTED))
    for (const [name, texts] of Object.entries(EXPECTED))
      for (const text of texts) expect(outputs[name]).toContain(text)
  })
})

const completion = (content: string) =>
  json({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] })

test('both languages have the same commands', () => {
  for (const name of ['first-conversation', 'first-conversion'])
    expect(blocksOf(guide(`${name}.ja`))).toEqual(blocksOf(guide(name)))
  const readme = (name: string) => blocksOf(readFileSync(join(ROOT, name), 'utf8')).map(withoutRemarks)
  expect(readme('README.ja.md')).toEqual(readme('README.md'))
})

const withoutRemarks = (block: string): string => block.replaceAll(/ *#.*$/gm, '')

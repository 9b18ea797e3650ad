/** The guides, followed to the letter: every command in them, in a folder and a home of nobody. */
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tempFolder } from './support/codex-log.ts'
import { answer } from './support/model-chunks.ts'
import { chatServer } from './support/model-server.ts'
import { fumiPath } from './support/run-fumi.ts'

const ROOT = join(import.meta.dirname, '..')
const INSTALLS = /^npm ci\n/

const guide = (name: string): string => readFileSync(join(ROOT, 'docs', 'guides', `${name}.md`), 'utf8')
const blocksOf = (text: string): readonly string[] =>
  [...text.matchAll(/```sh\n(.*?)```/gs)].map((match) => match[1] ?? '')

/** What all blocks print, one after the other in one shell. Installing is left out: there is nothing to fetch from. */
async function followed(name: string, variables: Record<string, string> = {}): Promise<{ code: number; told: string }> {
  const folder = tempFolder()
  const home = tempFolder()
  cpSync(join(ROOT, 'samples'), join(folder, 'samples'), { recursive: true })
  mkdirSync(join(folder, 'bin'))
  // `npx fumi` is what the folder's own package offers.
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
  const shell = spawn('sh', ['-euc', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let reported = ''
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (bytes: Buffer) => (reported += bytes))
  const code = await new Promise<number>((done) => shell.on('close', (status) => done(status ?? -1)))
  return { code, told: reported }
}

describe.skipIf(process.platform === 'win32')('run command by command', () => {
  test('a first conversation', async () => {
    const { baseURL } = await chatServer(answer('A box for letters.'), answer('It is called a fumibako.'))
    const { code, told: reported } = await followed('first-conversation', { 'http://127.0.0.1:11434/v1': baseURL })
    expect({ code, told: reported }).toMatchObject({
      code: 0,
      told: expect.stringContaining('It is called a fumibako.'),
    })
    expect(reported).toMatch(/fumibako:\S+ +What is a letter b\S* +4 /)
    expect(reported).toContain('1 session')
  })

  test('a first conversion', async () => {
    const { code, told: reported } = await followed('first-conversion')
    expect({ code, told: reported }).toMatchObject({ code: 0, told: expect.stringContaining('the same, to the byte') })
    expect(reported).toContain('messages.json: 1 conversation, no problem')
    expect(reported).toMatch(/Go on with: cd \S+ && fumi chat --resume 019c22d1/)
  })
})

test('both languages have the same commands', () => {
  for (const name of ['first-conversation', 'first-conversion'])
    expect(blocksOf(guide(`${name}.ja`))).toEqual(blocksOf(guide(name)))
  const readme = (name: string) => blocksOf(readFileSync(join(ROOT, name), 'utf8')).map(withoutRemarks)
  expect(readme('README.ja.md')).toEqual(readme('README.md'))
})

const withoutRemarks = (block: string): string => block.replaceAll(/ *#.*$/gm, '')

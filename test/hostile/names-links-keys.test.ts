/** Unusual ways in for a hostile or careless user. */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { App } from '../../src/app.ts'
import { serve } from '../server/test-server.ts'
import { assistant, header, shortSession, tempFolder, text, user } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'
import { rollout } from '../support/test-home.ts'

test('a name in a log does not become a spreadsheet formula', async () => {
  const before = ['', '\n', '\r', '\t', ' ', '\u3000', '\u200b', '\ufeff', '"', "'", '\u00a0"']
  const signs = ['=', '+', '-', '@', '\uff1d', '\uff0b', '\uff0d', '\uff20']
  const names = before.flatMap((one) => signs.map((sign) => `${one}${sign}HYPERLINK("http://evil.example","x")`))
  const log = (cwd: string, n: number) =>
    text([
      header({ id: `019c0000-0000-7000-8000-0000000009${String(n).padStart(2, '0')}`, cwd }),
      user(1, 'Hello'),
      assistant(2, 'Hi.'),
    ])
  const served = serve(
    Object.fromEntries([...names, '\nplain'].map((cwd, n) => [rollout(`formula-${n}`), log(cwd, n)])),
  )
  await served.app.sync()
  const csv = await (await served.ask('/api/stats/export.csv?table=projects')).text()
  expect(csv.match(/HYPERLINK/g)).toHaveLength(names.length)
  const cells = [...csv.matchAll(/(?:^|,|\r\n)("(?:[^"]|"")*"|[^,"\r\n]*)/g)].map((match) =>
    (match[1] ?? '').replace(/^"([\s\S]*)"$/, '$1').replaceAll('""', '"'),
  )
  const named = cells.filter((cell) => /HYPERLINK|plain/.test(cell))
  expect(named).toHaveLength(names.length + 1)
  expect(named.filter((cell) => !cell.startsWith("'"))).toEqual([])
  await served.close()
})

test('a name in a log does not end a line of piped output', () => {
  const home = tempFolder()
  const env = { HOME: home, FUMI_HOME: join(home, 'fumi'), CODEX_HOME: join(home, 'codex'), XDG_DATA_HOME: home }
  const folder = join(home, 'codex', 'sessions')
  mkdirSync(folder, { recursive: true })
  const cwd = '/w\rforged one\nforged two\tforged three\u2028forged four'
  const log = text([
    header({ cwd, git: { branch: 'a\rforged five' } }),
    user(1, 'Find the needle'),
    assistant(2, 'Hi.'),
  ])
  writeFileSync(join(folder, 'rollout-2026-02-03T09-15-00-forged.jsonl'), log)
  for (const args of [
    ['list'],
    ['search', 'needle'],
    ['stats', '--by', 'project'],
    ['stats', '--by', 'session'],
    ['show', 'codex:019c0000'],
  ]) {
    const { code, out } = fumi(args, { env })
    expect([args, code]).toEqual([args, 0])
    expect(out.split(/[\r\n\u2028]/).filter((line) => /^\s*forged/.test(line))).toEqual([])
    expect(out).not.toMatch(/forged \w+\tforged/)
  }
  const { out } = fumi(['list'], { env })
  expect(out).toContain('\\u2028forged four')
  const columns = out
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t').length)
  expect([columns.length, new Set(columns).size]).toEqual([2, 1])
})

test('a link among the logs is not followed elsewhere', async ({ skip }) => {
  if (process.platform === 'win32') skip('links need rights there')
  const home = tempFolder()
  const elsewhere = tempFolder()
  writeFileSync(join(elsewhere, 'rollout-2026-02-03T09-15-00-other.jsonl'), text(shortSession()))
  mkdirSync(join(home, 'codex', 'sessions'), { recursive: true })
  symlinkSync(elsewhere, join(home, 'codex', 'sessions', 'more'))
  symlinkSync(join(home, 'codex'), join(home, 'codex', 'sessions', 'round'))
  const variables = { CODEX_HOME: join(home, 'codex'), FUMI_HOME: join(home, 'fumi'), XDG_DATA_HOME: home }
  const app = new App({ platform: process.platform, home, variables })
  await app.sync()
  expect(app.list({ limit: 10 }).total).toBe(0)
  app.close()
})

test('the key of a server is not shown', () => {
  const env = { FUMI_HOME: tempFolder() }
  expect(fumi(['config', 'profiles.mine.key', 'sk-very-secret-1234567890'], { env }).code).toBe(0)
  for (const words of [['config'], ['config', '--json'], ['config', 'profiles.mine.key'], ['doctor', '--json']])
    expect(JSON.stringify(fumi(words, { env }))).not.toContain('very-secret')
})

test('a link among the files beside a log is neither scrubbed nor copied', () => {
  const home = tempFolder()
  const env = { HOME: home, FUMI_HOME: join(home, 'fumi'), CLAUDE_CONFIG_DIR: join(home, '.claude'), FUMI_KEEP: 'all' }
  const id = '5d3f0a10-4c21-4b7e-9a55-0c1de00000fe'
  const project = join(home, '.claude', 'projects', '-w')
  const beside = join(project, id, 'tool-results')
  mkdirSync(beside, { recursive: true })
  const token = `ghp_${'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aC1eG3iK5'}`
  const elsewhere = join(home, 'keys.txt')
  for (const path of [elsewhere, join(beside, 'plain.txt')]) writeFileSync(path, `${token}\n`)
  symlinkSync(elsewhere, join(beside, 'link.txt'))
  const log = join(project, `${id}.jsonl`)
  const record = { uuid: '22222222-0022-4000-8000-000000000001', parentUuid: null, sessionId: id, cwd: '/w' }
  const message = { role: 'user', content: `Use ${token}` }
  const at = { version: '2.1.0', timestamp: '2026-05-01T00:00:01.000Z', type: 'user' }
  writeFileSync(log, `${JSON.stringify({ ...record, ...at, message })}\n`)
  expect(fumi(['secrets', id, '--scrub', '--yes'], { env })).toMatchObject({ code: 0 })
  expect(readFileSync(join(beside, 'plain.txt'), 'utf8')).not.toContain(token)
  expect(readFileSync(elsewhere, 'utf8')).toBe(`${token}\n`)
  expect(fumi(['sync'], { env }).code).toBe(0)
  rmSync(project, { recursive: true })
  const restored = fumi(['restore', id, '--install', '--json'], { env })
  expect(JSON.parse(restored.out)).toMatchObject({ path: log, side_files: 1 })
})

test('a stored output of a tool that is a link is not read', () => {
  const folder = tempFolder()
  const secret = join(folder, 'elsewhere.txt')
  writeFileSync(secret, 'outside of the folder')
  const id = '5d3f0a10-4c21-4b7e-9a55-0c1de00000ff'
  const outputs = join(folder, id, 'tool-results')
  mkdirSync(outputs, { recursive: true })
  symlinkSync(secret, join(outputs, 'seq.txt'))
  writeFileSync(join(outputs, 'plain.txt'), 'inside of the folder')
  const record = (n: number, type: string, content: object) => ({
    uuid: `22222222-0021-4000-8000-00000000000${n}`,
    parentUuid: n === 1 ? null : `22222222-0021-4000-8000-00000000000${n - 1}`,
    ...{ sessionId: id, cwd: '/w', version: '2.1.0', timestamp: `2026-05-01T00:00:0${n}.000Z`, type },
    message: content,
  })
  const call = (n: number, name: string) => [
    record(n, 'assistant', {
      ...{ id: `msg_${n}`, role: 'assistant', model: 'm', type: 'message' },
      content: [{ type: 'tool_use', id: `toolu_${n}`, name: 'Bash', input: { command: 'seq' } }],
    }),
    record(n + 1, 'user', {
      role: 'user',
      content: [
        {
          ...{ type: 'tool_result', tool_use_id: `toolu_${n}` },
          content: `<persisted-output>\nFull output saved to: /home/mio/${name}\n</persisted-output>`,
        },
      ],
    }),
  ]
  const records = [
    record(1, 'user', { role: 'user', content: 'Count' }),
    ...call(2, 'seq.txt'),
    ...call(4, 'plain.txt'),
  ]
  const log = join(folder, `${id}.jsonl`)
  writeFileSync(log, records.map((one) => `${JSON.stringify(one)}\n`).join(''))
  const { out } = fumi(['normalize', log])
  expect(out).toContain('inside of the folder')
  expect(out).not.toContain('outside of the folder')
})

/** Messages with fields of wrong types: every command shows the remaining fields. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { shortSession, tempFolder, tempLog, text } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'

const segment = (fields: object): object => ({
  segments: [{ channel: 'input', type: 'text', format: 'text', ...fields }],
})

const call = (fields: object): object => ({
  role: 'tool',
  source_type: 'tool_call',
  tool_call: { call_id: 'c', name: 'shell', status: 'pending', ...fields },
})

const HOSTILE: readonly object[] = [
  segment({ text: 5 }),
  segment({ text: { a: 1 } }),
  segment({ text: 'Seen.', annotations: 5 }),
  segment({ text: 'Seen.', annotations: [{ kind: 'injected', start: 0, end: 1, what: 5 }] }),
  segment({ type: 'image', media: { data_uri: 5, url: [], mime_type: {} } }),
  segment({ type: 'image', media: 5 }),
  call({ input: 9 }),
  call({ arguments: 5, arguments_json: 5 }),
  call({ call_id: 5, name: {}, namespace: [], status: 'constructor', output: true }),
  { raw: { event_type: {}, payload_type: 5, session_id: 'hostile', private: 'yes' } },
]

/** A prompt followed by each of them, in one session. */
function hostileLog(): string {
  const git = { branch: { a: 1 }, commit_hash: 5 }
  const lines = [{ metadata: { x_conv: { src: 'codex', session: { git } } } }, ...HOSTILE].map((fields, at) => {
    const timestamp = `2026-03-04T05:06:${String(at).padStart(2, '0')}.000Z`
    const raw = { event_type: null, payload_type: null, file_path: 'a', line_index: at + 1, session_id: 'hostile' }
    const text = { role: 'user', source_type: 'message', ...segment({ text: 'A plain question' }) }
    return JSON.stringify({ id: `${timestamp}#${at + 1}`, timestamp, ...text, raw, ...fields })
  })
  return `${lines.join('\n')}\n`
}

function hostileHome() {
  const home = tempFolder()
  const [logs, data, sessions] = [join(home, 'logs'), join(home, 'fumi'), join(home, '.codex', 'sessions')]
  for (const folder of [logs, data, sessions]) mkdirSync(folder, { recursive: true })
  const bad = join(logs, 'hostile.jsonl')
  writeFileSync(bad, hostileLog())
  writeFileSync(join(sessions, 'rollout-2026-02-03T09-15-00-good.jsonl'), text(shortSession()))
  writeFileSync(join(data, 'config.json'), JSON.stringify({ agents: { normalized: { roots: [logs] } } }))
  const env = { HOME: home, FUMI_HOME: data, XDG_DATA_HOME: join(home, 'data') }
  return { home, bad, run: (...args: string[]) => fumi(args, { env }) }
}

test('a file of such messages is shown, exported and searched, and does not affect others', () => {
  const { home, bad, run } = hostileHome()
  const prompts = run('prompts')
  expect(prompts.code).toBe(0)
  for (const words of ['List the files', 'A plain question', 'Seen.']) expect(prompts.out).toContain(words)
  for (const args of [['show'], ['show', '--all'], ['show', '--turns'], ['show', '--json']]) {
    const { code, err } = run(...args, bad)
    expect({ args, code, err }).toMatchObject({ code: 0, err: expect.stringContaining('no usable value in text') })
  }
  for (const format of ['md', 'html', 'txt', 'json', 'sft'])
    expect(run('export', bad, '--format', format, '--all')).toMatchObject({ code: 0 })
  expect(run('search', '"A plain question"')).toMatchObject({ code: 0, out: expect.stringContaining('normalized:') })
  for (const command of ['list', 'stats']) expect(run(command)).toMatchObject({ code: 0 })
  const folder = join(home, 'out')
  expect(run('export', bad, tempLog(text(shortSession())), '-o', `${folder}/`).code).toBe(0)
  expect(readdirSync(folder)).toHaveLength(2)
})

test('if one of several exports fails, the others are written', () => {
  const { home, bad, run } = hostileHome()
  const good = tempLog(text(shortSession()))
  const folder = join(home, 'out')
  const { code, out, err } = run('export', 'no-such-session', good, bad, '-o', `${folder}/`)
  expect({ code, files: readdirSync(folder).length, told: out.trim().split('\n').length }).toEqual({
    code: 4,
    files: 2,
    told: 2,
  })
  expect(err).toContain('fumi: no-such-session: ')
  const joined = run('export', good, 'no-such-session', good, '--format', 'sft')
  expect({ code: joined.code, lines: joined.out.trim().split('\n').length }).toEqual({ code: 4, lines: 2 })
})

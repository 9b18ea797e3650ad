/** `fumi secrets`: lists secrets without showing them, and removes them from the stores of agents reversibly. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { zstdFrame } from '../../src/lib/files/zstd-compress.ts'
import { Random } from '../redact/benchmark/random.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { assistant, call, header, result, THREAD, tempFolder, text, user } from '../support/codex-log.ts'
import { fumi, type RunResult } from '../support/run-fumi.ts'
import { unpack } from '../support/unpack.ts'

const random = new Random(23)
const TOKEN = `ghp_${random.alnum(36)}`
const PASSWORD = `Kemp7_${random.letters(6)}2q`
const SESSION = `codex:${THREAD}`

const LOG = text([
  header(),
  user(1, `The password is ${PASSWORD}.`),
  call(2, 'call_1', { command: ['mysql', `-p${PASSWORD}`] }),
  result(3, 'call_1', `one\n${TOKEN}\n`),
  assistant(4, 'Done.'),
])

function machineWith(log: string) {
  const home = tempFolder()
  const env = {
    HOME: home,
    FUMI_HOME: join(home, 'fumi'),
    CODEX_HOME: join(home, 'codex'),
    XDG_DATA_HOME: join(home, 'data'),
  }
  const path = join(env.CODEX_HOME, 'sessions', '2026', '02', '03', `rollout-2026-02-03T09-15-00-${THREAD}.jsonl`)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, log, { mode: 0o600 })
  utimesSync(path, 1_770_000_000, 1_770_000_000)
  const run = (...args: readonly string[]): RunResult => fumi(args, { env })
  return { home, env, path, run, scrubbed: join(env.FUMI_HOME, 'scrubbed') }
}

const SECRET = new RegExp(`${TOKEN}|${PASSWORD}`)

describe('fumi secrets', () => {
  test('lists kind, session and message, never the value, and exits with 1', () => {
    const { run, path } = machineWith(LOG)
    for (const args of [[SESSION], ['--all'], [path]]) {
      const { code, out, err } = run('secrets', ...args, '--json')
      expect([code, err]).toEqual([1, ''])
      expect(out).not.toMatch(SECRET)
      const { secrets, sessions } = JSON.parse(out) as { secrets: object[]; sessions: number }
      expect(sessions).toBe(1)
      expect(secrets).toEqual([
        expect.objectContaining({
          session: SESSION,
          line: 2,
          role: 'user',
          place: 'text',
          kind: 'setting',
          name: 'setting-1',
          count: 1,
        }),
        expect.objectContaining({ line: 3, place: 'arguments', name: 'setting-1' }),
        expect.objectContaining({ line: 4, place: 'output', kind: 'github', name: 'github-1' }),
      ])
    }
    const { code, out } = run('secrets', SESSION)
    expect([code, out.split('\n').length]).toEqual([1, 7])
    expect(out).toContain('2 secrets in 3 places of 1 session.')
    expect(out).not.toMatch(SECRET)
  })

  test('exits with 0 if there are none', () => {
    const { run } = machineWith(text([header(), user(1, 'nothing'), assistant(2, 'here')]))
    expect(run('secrets', '--all')).toMatchObject({ code: 0, out: 'No secrets found in 1 session.\n' })
    expect(run('secrets', SESSION, '--scrub', '--yes')).toMatchObject({ code: 0 })
  })

  test('needs a session or --all', () => {
    const { run } = machineWith(LOG)
    expect(run('secrets').code).toBe(2)
    expect(run('secrets', SESSION, '--all').code).toBe(2)
    expect(run('secrets', SESSION, '--scrub', '--undo').code).toBe(2)
  })
})

describe('fumi secrets --scrub on a log', () => {
  test('shows what it would do and changes nothing without a yes', () => {
    const { run, path, scrubbed } = machineWith(LOG)
    const preview = run('secrets', SESSION, '--scrub', '--dry-run')
    expect(preview.code).toBe(0)
    expect(preview.out).toContain('github: 1 secret in 1 place')
    expect(preview.out).toContain(path)
    expect(run('secrets', SESSION, '--scrub').code).toBe(2)
    expect(readFileSync(path, 'utf8')).toBe(LOG)
    expect(existsSync(scrubbed)).toBe(false)
  })

  test('removes them, keeps everything else byte for byte, and can be undone', () => {
    const { run, path, scrubbed } = machineWith(LOG)
    const before = statSync(path)
    expect(run('secrets', SESSION, '--scrub', '--yes')).toMatchObject({ code: 0, err: '' })
    const scrubbedLog = readFileSync(path, 'utf8')
    expect(scrubbedLog).toBe(LOG.replaceAll(PASSWORD, '[redacted-setting-1]').replaceAll(TOKEN, '[redacted-github-1]'))
    expect(statSync(path)).toMatchObject({ mode: before.mode, mtimeMs: before.mtimeMs })
    expect(run('secrets', SESSION).code).toBe(0)
    expect(run('show', SESSION).out).toContain('[redacted-setting-1]')
    expect(run('search', PASSWORD).out).not.toMatch(SECRET)
    for (const name of readdirSync(scrubbed)) expect(statSync(join(scrubbed, name)).mode & 0o077).toBe(0)
    expect(run('secrets', SESSION, '--undo')).toMatchObject({ code: 0 })
    expect(readFileSync(path, 'utf8')).toBe(LOG)
    expect(readdirSync(scrubbed)).toEqual([])
    expect(run('secrets', SESSION, '--undo').code).toBe(4)
  })

  test('works on a compressed log', async () => {
    const { run, path } = machineWith('')
    rmSync(path)
    const packed = `${path}.zst`
    const original = zstdFrame(Buffer.from(LOG))
    writeFileSync(packed, original)
    expect(run('secrets', SESSION, '--scrub', '--yes')).toMatchObject({ code: 0, err: '' })
    const lines = (await unpack(readFileSync(packed))).toString()
    expect(lines).toBe(LOG.replaceAll(PASSWORD, '[redacted-setting-1]').replaceAll(TOKEN, '[redacted-github-1]'))
    expect(run('secrets', SESSION).code).toBe(0)
    expect(run('secrets', SESSION, '--undo')).toMatchObject({ code: 0 })
    expect(readFileSync(packed).equals(original)).toBe(true)
  })

  test('leaves a compressed log that is damaged', () => {
    const { run, path } = machineWith('')
    rmSync(path)
    const cut = zstdFrame(Buffer.from(`${LOG}${'\n'.repeat(1 << 17)}`), false).subarray(0, -30)
    writeFileSync(`${path}.zst`, cut)
    const { code, err } = run('secrets', SESSION, '--scrub', '--yes')
    expect(code, err).not.toBe(0)
    expect(err).toContain('cannot be decompressed')
    expect(readFileSync(`${path}.zst`).equals(cut)).toBe(true)
  })

  test('keeps the original until --erase', () => {
    const { run, path, scrubbed } = machineWith(LOG)
    run('sync')
    run('secrets', SESSION, '--scrub', '--yes')
    expect(run('secrets', SESSION, '--erase').code).toBe(2)
    expect(readdirSync(scrubbed).some((name) => readFileSync(join(scrubbed, name), 'utf8') === LOG)).toBe(true)
    expect(run('secrets', SESSION, '--erase', '--yes')).toMatchObject({ code: 0, err: '' })
    expect(readdirSync(scrubbed)).toEqual([])
    expect(run('secrets', SESSION, '--undo').code).toBe(4)
    expect(readFileSync(path, 'utf8')).not.toMatch(SECRET)
    expect(run('show', SESSION).out).toContain('Done.')
  })

  test('undo refuses to overwrite what was written since', () => {
    const { run, path } = machineWith(LOG)
    run('secrets', SESSION, '--scrub', '--yes')
    writeFileSync(path, `${readFileSync(path, 'utf8')}${user(9, 'more')}\n`)
    expect(run('secrets', SESSION, '--undo')).toMatchObject({ code: 8 })
    expect(readFileSync(path, 'utf8')).toContain('more')
  })

  test.skipIf(process.platform !== 'linux')('refuses while a program writes the log', async () => {
    const { run, path } = machineWith(LOG)
    const writer = spawn(process.execPath, [
      '-e',
      `require('fs').openSync(${JSON.stringify(path)}, 'a'); console.log(1); setInterval(() => {}, 1000)`,
    ])
    await once(writer.stdout, 'data')
    expect(run('secrets', SESSION, '--scrub', '--yes')).toMatchObject({ code: 8 })
    writer.kill('SIGKILL')
    await once(writer, 'exit')
    expect(readFileSync(path, 'utf8')).toBe(LOG)
    expect(run('secrets', SESSION, '--scrub', '--yes')).toMatchObject({ code: 0 })
  })

  test('keeps broken lines, bytes that are no text, and a missing last line end', () => {
    const bytes = Buffer.concat([
      Buffer.from(`${LOG}{"broken": "${TOKEN}\n`),
      Buffer.from([0xff, 0xfe, 10]),
      Buffer.from(user(8, TOKEN)),
    ])
    const { run, path } = machineWith('')
    writeFileSync(path, bytes)
    expect(run('secrets', SESSION, '--scrub', '--yes')).toMatchObject({ code: 0, err: '' })
    const expected = bytes
      .toString('latin1')
      .replaceAll(PASSWORD, '[redacted-setting-1]')
      .replaceAll(TOKEN, '[redacted-github-1]')
    expect(readFileSync(path).toString('latin1')).toBe(expected)
  })
})

describe('fumi secrets --scrub on a database', () => {
  const state = stateOf('11111111-2222-4333-8444-555555555555', [
    { prompt: `my password is ${PASSWORD}`, answer: `ok ${TOKEN}`, tools: ['fs_read'] },
  ])

  function machineWithStore() {
    const { home, run, scrubbed } = machineWith(LOG)
    const store = makeStore(join(home, 'data', 'amazon-q', 'data.sqlite3'))
    store.put('/code', state)
    store.put('/other', stateOf('21111111-2222-4333-8444-555555555555', [{ prompt: 'hello', answer: 'there' }]))
    const { sessions } = JSON.parse(run('list', '--agent', 'amazon-q', '--json').out) as { sessions: { id: string }[] }
    const id = sessions.find((one) => one.id.includes('11111111-2222'))?.id ?? sessions[0]?.id ?? ''
    return { run, store, scrubbed, id }
  }

  test('removes them from the row, and from nothing else, and can be undone', () => {
    const { run, store, id } = machineWithStore()
    const other = store.value('/other')
    const found = JSON.parse(run('secrets', id, '--json').out) as { secrets: { session: string }[] }
    expect(found.secrets.length).toBeGreaterThan(0)
    expect(run('secrets', id, '--scrub', '--yes')).toMatchObject({ code: 0, err: '' })
    expect(store.value('/code')).not.toMatch(SECRET)
    expect(store.value('/other')).toBe(other)
    expect(run('secrets', id, '--undo')).toMatchObject({ code: 0 })
    expect(JSON.parse(store.value('/code') ?? '')).toEqual(JSON.parse(state))
    store.close()
  })

  test('after --erase, the backup has none either', () => {
    const { run, store, id } = machineWithStore()
    run('secrets', id, '--scrub', '--yes')
    expect(run('secrets', id, '--erase', '--yes')).toMatchObject({ code: 0, err: '' })
    const { sessions } = JSON.parse(run('list', '--agent', 'amazon-q', '--json').out) as { sessions: { id: string }[] }
    expect(sessions).toHaveLength(2)
    for (const one of sessions) expect(run('secrets', one.id)).toMatchObject({ code: 0 })
    store.close()
  })

  test('refuses while its program holds the lock', () => {
    const { run, store, id } = machineWithStore()
    store.locked(() => expect(run('secrets', id, '--scrub', '--yes').code).toBe(8))
    expect(store.value('/code')).toBe(state)
    store.close()
  })
})

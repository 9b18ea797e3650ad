/** What scripts rely on: JSON always, snake_case keys, exit codes, complete lines in pipes. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { assistant, header, line, shortSession, THREAD, text, tokens, user } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'
import { rollout, testHome } from '../support/test-home.ts'

function machine() {
  const { folder, write } = testHome()
  const env = {
    HOME: folder,
    USERPROFILE: folder,
    FUMI_HOME: join(folder, 'fumi'),
    XDG_DATA_HOME: join(folder, 'data'),
    CODEX_HOME: '',
  }
  return { folder, write, run: (...args: readonly string[]) => fumi(args, { env }) }
}

describe('without any conversation', () => {
  test.each([
    ['list', { total: 0, sessions: [] }],
    ['stats', { sessions: 0, messages: 0 }],
    ['prompts', { total: 0, prompts: [] }],
  ])('%s --json prints JSON and succeeds', (command, expected) => {
    const { code, out, err } = machine().run(command, '--json')
    expect(JSON.parse(out)).toMatchObject(expected)
    expect(code).toBe(0)
    if (command !== 'prompts') expect(err).toContain('fumi doctor')
  })

  test('a search without a match exits with 1 and prints JSON', () => {
    const { run, write } = machine()
    write(rollout(THREAD), text(shortSession()))
    const empty = run('search', 'nothing-like-this', '--json')
    expect([empty.code, JSON.parse(empty.out).total]).toEqual([1, 0])
    expect(run('search', 'files').code).toBe(0)
    expect(run('search', 'nothing-like-this', '--count').code).toBe(1)
  })
})

test.each([
  [['show', 'nosuchsession', '--json'], 4, 'not_found'],
  [['list', '/no/such/folder', '--json'], 4, 'not_found'],
  [['stats', '--since', 'soon', '--json'], 2, 'bad_usage'],
])('%j: a failure is JSON too', (args, exit, code) => {
  const { run } = machine()
  const failed = run(...args)
  expect(JSON.parse(failed.out)).toMatchObject({ error: { code, message: expect.any(String) } })
  expect(failed.code).toBe(exit)
  expect(failed.err).not.toBe('')
})

test('keys of JSON are in snake_case', () => {
  const { run, write, folder } = machine()
  const log = write(rollout(THREAD), text(shortSession()))
  const path = join(folder, 'data/amazon-q/data.sqlite3')
  mkdirSync(join(folder, 'data/amazon-q'), { recursive: true })
  makeStore(path).put('/w/app', stateOf('c1', [{ prompt: 'Where is the key?', answer: 'Below the mat.' }]))
  const commands = [
    ['list'],
    ['stats', '--by', 'session'],
    ['stats', '--by', 'tool'],
    ['search', 'files'],
    ['prompts'],
    ['files', 'a.txt'],
    ['config'],
    ['doctor'],
    ['sync'],
    ['show', THREAD, '--turns'],
    ['show', 'c1', '--patterns'],
    ['secrets', '--all'],
    ['statusline'],
    ['relink', '--list'],
    ['validate', log],
    ['service', 'status'],
    ['handoff', THREAD, '--to', 'amazon-q', '--dry-run'],
    ['backup', 'status'],
    ['forget', '--list'],
    ['trust', '--list'],
  ]
  for (const args of commands) {
    const { out, err } = run(...args, '--json')
    const value = JSON.parse(out === '' ? expect.fail(`${args.join(' ')}: ${err}`) : out)
    expect(camelKeysIn(value), args.join(' ')).toEqual([])
  }
})

/** Names of tools, models, paths and settings are keys of the data, not of the format. */
function camelKeysIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(camelKeysIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(/^[a-z]+[A-Z]/.test(key) ? [key] : []),
    ...camelKeysIn(inner),
  ])
}

describe('in a pipe', () => {
  const title = `Please ${'really '.repeat(60)}look`

  test('a list is complete: every session, full ids and titles, separated by tabs', () => {
    const { run, write } = machine()
    const ids = Array.from({ length: 45 }, (_, n) => THREAD.replace(/..$/, String(n + 10)))
    for (const id of ids) write(rollout(id), text([header({ id }), user(1, title), assistant(2, 'Yes.')]))
    const [head = '', ...rows] = run('list').out.trimEnd().split('\n')
    expect(head.split('\t')).toHaveLength(6)
    expect(new Set(rows.map((row) => row.split('\t')[1]))).toEqual(new Set(ids.map((id) => `codex:${id}`)))
    for (const row of rows) expect(row.split('\t').slice(2)).toEqual([title.slice(0, 200).trim(), '2', '', '/w/app'])
    expect(run('list', '--limit', '3').out.trimEnd().split('\n')).toHaveLength(4)
    expect(run('prompts').out.trimEnd().split('\n')).toHaveLength(46)
  })

  test('columns and their order can be chosen, also by cost', () => {
    const { run, write } = machine()
    const models = ['gpt-5.1', 'gpt-5.1', 'unheard-of']
    const ids = models.map((model, n) => {
      const id = THREAD.replace(/..$/, String(n + 10))
      write(
        rollout(id),
        text([header({ id }), line(1, 'turn_context', { model }), user(1, `Ask ${n}`), tokens(2, (n + 1) * 1e6, 0)]),
      )
      return `codex:${id}`
    })
    const rows = run('list', '--fields', 'title,id,tokens,cost', '--sort', 'cost').out.trimEnd().split('\n')
    expect(rows.map((row) => row.split('\t'))).toEqual([
      ['title', 'id', 'tokens', 'cost'],
      ['Ask 1', ids[1], '2000000', '2.5'],
      ['Ask 0', ids[0], '1000000', '1.25'],
      ['Ask 2', ids[2], '3000000', '0'],
    ])
    const { total, sessions } = JSON.parse(run('list', '--fields', 'id,tags', '--limit', '1', '--json').out)
    expect([total, sessions]).toEqual([3, [{ id: expect.stringContaining('codex:'), tags: [] }]])
    expect(run('list', '--fields', 'titel')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Did you mean title?'),
    })
  })

  test('with COLUMNS, a table fits', () => {
    const { folder, write } = machine()
    write(rollout(THREAD), text([header(), user(1, title), assistant(2, 'Yes.')]))
    const env = { HOME: folder, FUMI_HOME: join(folder, 'fumi'), CODEX_HOME: '', COLUMNS: '60' }
    for (const line of fumi(['list'], { env }).out.split('\n').slice(0, 2)) expect(line.length).toBeLessThanOrEqual(60)
  })
})

test('a mistyped command gets a suggestion', () => {
  const { run } = machine()
  expect(run('lsit')).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean fumi list?') })
  expect(run('serach').err).toContain('fumi search')
  expect(run('qwertzuiop').err).not.toContain('Did you mean')
})

test('show says that a session was forgotten, and how to undo it', () => {
  const { run, write } = machine()
  write(rollout(THREAD), text(shortSession()))
  run('forget', THREAD, '--yes')
  for (const name of [THREAD, `codex:${THREAD}`, THREAD.slice(0, 12)])
    expect(run('show', name)).toMatchObject({
      code: 4,
      err: expect.stringContaining(`fumi forget --undo codex:${THREAD}`),
    })
})

test('an id that two programs share means the newest conversation, and says so', () => {
  const { run, write, folder } = machine()
  write(rollout(THREAD), text(shortSession()))
  mkdirSync(join(folder, 'data/amazon-q'), { recursive: true })
  makeStore(join(folder, 'data/amazon-q/data.sqlite3')).put(
    '/w/app',
    stateOf(THREAD, [{ prompt: 'Where is the key?', answer: 'Below the mat.' }]),
  )
  for (const name of [THREAD, THREAD.slice(0, 10)]) {
    const shown = run('show', name)
    expect(shown.code).toBe(0)
    expect(shown.err).toMatch(/using the newest, (?:codex|amazon-q):\S+ The others: (?:codex|amazon-q):/)
  }
  write(rollout(THREAD.replace(/.$/, '2')), text([header({ id: THREAD.replace(/.$/, '2') }), user(1, 'Another.')]))
  expect(run('show', THREAD.slice(0, 10))).toMatchObject({ code: 2, err: expect.stringContaining('several sessions') })
})

test('durations are readable', () => {
  const { run, write } = machine()
  const path = write(rollout(THREAD), text([header(), user(1, 'Go.'), assistant(51_587 * 60, 'Done.')]))
  expect(run('show', path, '--turns').out).toContain('36 d')
})

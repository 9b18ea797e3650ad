/** Nothing that Amazon Q or Kiro overwrites is lost: backup, list, show and restore from the command line. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readState } from '../../src/conversation.ts'
import { type Exchange, makeStore, stateOf } from '../support/amazon-q-store.ts'
import { tempFolder } from '../support/codex-log.ts'
import { fumi, lines } from '../support/run-fumi.ts'

const FIRST: Exchange = { prompt: '最初の質問', answer: '最初の答え', tools: ['fs_read'] }
const SECOND: Exchange = { prompt: 'second question', answer: 'second answer' }

function machine() {
  const home = tempFolder()
  const env = { HOME: home, XDG_DATA_HOME: join(home, 'data'), FUMI_HOME: join(home, 'fumi') }
  const store = makeStore(join(home, 'data', 'amazon-q', 'data.sqlite3'))
  const run = (...args: readonly string[]) => fumi(args, { env })
  const json = (...args: readonly string[]) => JSON.parse(run(...args, '--json').out)
  return { home, store, run, json, fumiHome: env.FUMI_HOME }
}

describe('backing up', () => {
  test('an overwritten conversation is preserved exactly, with its end time', () => {
    const { store, run, json } = machine()
    store.put('/code/a', stateOf('11111111-aaaa', [FIRST]))
    expect(json('keep')).toMatchObject({
      rows: 1,
      puts: [{ change: 'new', session: 'amazon-q:11111111-aaaa', new_entries: 2 }],
    })
    store.put('/code/a', stateOf('22222222-bbbb', [SECOND]))
    expect(json('keep').ended).toEqual([{ session: 'amazon-q:11111111-aaaa', how: 'overwritten' }])
    const list = json('list').sessions
    expect(list.map(({ id, ended_how }: { id: string; ended_how: string }) => [id, ended_how]).sort()).toEqual([
      ['amazon-q:11111111-aaaa', 'overwritten'],
      ['amazon-q:22222222-bbbb', null],
    ])
    expect(list.find(({ ended_at }: { ended_at: string | null }) => ended_at !== null).ended_at).toMatch(/Z$/)
    const shown = run('show', '11111111')
    expect(shown.out).toContain('最初の質問')
    expect(shown.out).toContain('最初の答え')
    expect(json('list', '--ended').total).toBe(1)
    store.close()
  })

  test('fumi keep is an alias of fumi backup', () => {
    const { store, json } = machine()
    store.put('/code/a', stateOf('11111111-aaaa', [FIRST]))
    expect(json('backup')).toMatchObject({ rows: 1, puts: [{ change: 'new' }] })
    expect(json('keep')).toMatchObject({ puts: [] })
    store.close()
  })

  test('a growing conversation stores only its new entries, and its messages keep their ids', () => {
    const { store, json, run } = machine()
    const long = (n: number): Exchange => ({
      prompt: `question ${n}`,
      answer: `answer ${n} ${'lorem ipsum '.repeat(n % 7)}`,
    })
    const texts = Array.from({ length: 60 }, (_, n) => long(n))
    store.put('/code/a', stateOf('c-1', texts.slice(0, 50)))
    const first = json('keep').puts[0]
    const before = json('show', 'c-1').messages.map(({ id }: { id: string }) => id)
    store.put('/code/a', stateOf('c-1', texts))
    const grown = json('keep').puts[0]
    expect(grown).toMatchObject({ change: 'grown', new_entries: 10 })
    expect(grown.stored_bytes).toBeLessThan(first.stored_bytes)
    const after = json('show', 'c-1').messages.map(({ id }: { id: string }) => id)
    expect(after.slice(0, before.length)).toEqual(before)
    expect(run('keep').code).toBe(0)
    expect(json('keep').untouched).toBe(1)
    store.close()
  })

  test('a conversation cleared under the same id becomes two sessions', () => {
    const { store, json } = machine()
    store.put('/code/a', stateOf('c-1', [FIRST]))
    json('keep')
    store.put('/code/a', stateOf('c-1', [SECOND]))
    json('keep')
    const ids = json('list').sessions.map(({ id }: { id: string }) => id)
    expect(ids).toContain('amazon-q:c-1')
    expect(ids.find((id: string) => /^amazon-q:c-1~[0-9a-f]{6}$/.test(id))).toBeDefined()
    expect(JSON.stringify(json('show', 'amazon-q:c-1').messages)).toContain('最初の質問')
    store.close()
  })

  test('a row that is not a conversation is reported with its key, and its bytes are backed up', () => {
    const { store, json, run } = machine()
    store.put('/code/bad', '{"conversation_id": "x", "hist')
    store.put('/code/good', stateOf('c-2', [FIRST]))
    const stored = run('keep')
    expect(stored.code).toBe(0)
    expect(stored.err).toContain('[/code/bad]')
    expect(json('list').sessions.map(({ id }: { id: string }) => id)).toContain('amazon-q:c-2')
    const normalized = run('normalize', store.path)
    expect(normalized.code).toBe(0)
    expect(lines(normalized.out).length).toBeGreaterThan(3)
    expect(normalized.err).toContain('/code/bad')
    store.close()
  })

  test('the store is unchanged byte for byte, and no file is added next to it', () => {
    const { store, run } = machine()
    store.put('/code/a', stateOf('c-1', [FIRST]))
    store.close()
    const folder = join(store.path, '..')
    const before = { files: readdirSync(folder), bytes: readFileSync(store.path), at: statSync(store.path).mtimeMs }
    for (const command of [['keep'], ['list'], ['stats'], ['show', 'c-1'], ['normalize', store.path]]) run(...command)
    expect({ files: readdirSync(folder), bytes: readFileSync(store.path), at: statSync(store.path).mtimeMs }).toEqual(
      before,
    )
  })

  test('a damaged store is reported with the reason', () => {
    const path = join(tempFolder(), 'data.sqlite3')
    writeFileSync(path, 'SQLite format 3\0and then nothing')
    const { code, err } = fumi(['list', path], { env: { FUMI_HOME: tempFolder() } })
    expect(code).toBe(3)
    expect(err).toContain(`${path}: `)
    expect(err.split('\n').length).toBeGreaterThan(2)
  })

  test('without any store, it reports that', () => {
    const home = tempFolder()
    const { code, err } = fumi(['keep'], { env: { HOME: home, XDG_DATA_HOME: home, FUMI_HOME: join(home, 'f') } })
    expect(code).toBe(3)
    expect(err).toContain('fumi config keep all')
    expect(existsSync(join(home, 'f'))).toBe(false)
  })
})

describe('restoring', () => {
  test('to a file that the program loads', () => {
    const { store, run, home } = machine()
    store.put('/code/a', stateOf('c-1', [FIRST]))
    run('keep')
    store.put('/code/a', stateOf('c-2', [SECOND]))
    run('keep')
    const file = join(home, 'talk.json')
    expect(run('restore', 'c-1', '--to', file).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(stateOf('c-1', [FIRST]))
    expect(readState(readFileSync(file, 'utf8'), { mode: 'strict' }).ok).toBe(true)
    expect(run('restore', 'c-1', '--to', file)).toMatchObject({ code: 2, err: expect.stringContaining('--force') })
    expect(run('restore', 'c-1', '--to', file, '--force').code).toBe(0)
    expect(run('restore', 'nothing-like-it', '--to', '-').code).toBe(4)
    expect(run('restore', 'c-1').code).toBe(2)
    store.close()
  })

  test('into the store, after backing up the current row', () => {
    const { store, run, json, fumiHome } = machine()
    store.put('/code/a', stateOf('c-1', [FIRST]))
    run('keep')
    store.put('/code/a', stateOf('c-2', [SECOND]))
    const done = json('restore', 'c-1', '--install')
    expect(store.value('/code/a')).toBe(stateOf('c-1', [FIRST]))
    expect(readFileSync(done.backup, 'utf8')).toBe(stateOf('c-2', [SECOND]))
    expect(done.backup.startsWith(join(fumiHome, 'backups'))).toBe(true)
    // The replaced conversation was not backed up before.
    expect(JSON.stringify(json('show', 'c-2').messages)).toContain('second answer')
    expect(json('restore', 'c-2', '--install', '--directory', '/code/b').store).toBe(store.path)
    expect(store.value('/code/b')).toBe(stateOf('c-2', [SECOND]))
    expect(store.value('/code/a')).toBe(stateOf('c-1', [FIRST]))
    store.close()
  })

  test('refuses while the program is writing', () => {
    const { store, run } = machine()
    store.put('/code/a', stateOf('c-1', [FIRST]))
    run('keep')
    store.put('/code/a', stateOf('c-2', [SECOND]))
    const refused = store.locked(() => run('restore', 'c-1', '--install'))
    expect(refused.code).toBe(8)
    expect(refused.err).toContain('nothing was changed')
    expect(store.value('/code/a')).toBe(stateOf('c-2', [SECOND]))
    store.close()
  })

  test('repairs a state that the program would reject, and reports it', () => {
    const { store, run, home } = machine()
    store.put('/code/a', stateOf('c-1', [FIRST], { latest_summary: 'a text, as before 1.13', mcp_enabled: true }))
    run('keep')
    const file = join(home, 'mended.json')
    expect(run('restore', 'c-1', '--to', file)).toMatchObject({
      code: 0,
      err: expect.stringContaining('latest_summary'),
    })
    expect(readState(readFileSync(file, 'utf8'), { mode: 'strict' }).ok).toBe(true)
    store.close()
  })
})

describe('showing', () => {
  const tangent = {
    main_history: [],
    main_next_message: null,
    main_transcript: [],
    main_latest_summary: null,
    tangent_start_time: [2026, 63, 1, 0, 0, 0, 0, 0, 0],
  }

  test('the state as readable text', () => {
    const { store, run, home } = machine()
    writeFileSync(join(home, 'AmazonQ.md'), '12345')
    const manager = {
      max_context_files_size: 150000,
      current_profile: 'gardener',
      paths: ['AmazonQ.md', 'docs/*.md'],
      hooks: {},
    }
    const model_info = { model_id: 'claude-sonnet-4', context_window_tokens: 200000 }
    const tools = {
      native___: [{ ToolSpecification: { name: 'fs_read', description: '', input_schema: { json: {} } } }],
    }
    store.put(home, stateOf('c-1', [FIRST], { context_manager: manager, model_info, tools, tangent_state: tangent }))
    const { out } = run('show', 'c-1', '--state')
    for (const part of [
      'claude-sonnet-4',
      '200,000',
      'gardener',
      'built-in: fs_read',
      '5 bytes',
      'missing now',
      'tangent',
      '2 entries',
    ])
      expect(out).toContain(part)
    store.close()
  })

  test('patterns and turns, of one conversation and of many', () => {
    const { store, run, json } = machine()
    store.put('/code/a', stateOf('c-1', [FIRST, SECOND]))
    store.put('/code/b', stateOf('c-2', [SECOND]))
    expect(run('show', 'c-1', '--patterns').out).toMatch(/single · 3 entries · 2 turns · 1 tool uses/)
    expect(json('show', 'c-1', '--turns').turns.map(({ prompt }: { prompt: string }) => prompt)).toEqual([
      FIRST.prompt,
      SECOND.prompt,
    ])
    expect(json('stats').patterns.patterns).toMatchObject({
      simple: { count: 1, percent: 50 },
      single: { count: 1, percent: 50 },
    })
    expect(run('stats').out).toContain('single tool use')
    store.close()
  })

  test('several conversations in one file need a selection', () => {
    const { store, run } = machine()
    store.put('/code/a', stateOf('c-1', [FIRST]))
    store.put('/code/b', stateOf('c-2', [SECOND]))
    const { code, err } = run('show', store.path)
    expect(code).toBe(2)
    expect(err).toContain('--in')
    expect(run('show', 'c-2', '--in', store.path).out).toContain('second answer')
    store.close()
  })
})

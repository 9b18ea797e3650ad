/** Commands that query the index, without any setup. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, test } from 'vitest'
import { tempFolder, user } from '../support/codex-log.ts'
import { fumiPath, lines } from '../support/run-fumi.ts'
import { first, ID, logMachine, second } from './log-machine.ts'

test.each(['constructor', '__proto__', 'nonsense'])('fumi %s reports an unknown command', (name) => {
  expect(logMachine().run(name)).toMatchObject({ code: 2, err: expect.stringContaining(name) })
})

describe('fumi list', () => {
  test('applies its options and prints the total', () => {
    const { put, json, run } = logMachine()
    put(1, first())
    put(2, second())
    const all = json('list')
    expect(all).toMatchObject({ total: 2 })
    expect(all.sessions[0]).toMatchObject({
      id: expect.stringContaining('codex:'),
      agent: 'codex',
      kind: 'conversation',
      title: expect.any(String),
      // The log has no counts.
      usage: null,
      gone: false,
      starred: false,
    })
    expect(json('list', '--limit', '1')).toMatchObject({ total: 2, sessions: [expect.anything()] })
    const ids = (...args: readonly string[]) => json('list', ...args).sessions.map((one: { cwd: string }) => one.cwd)
    expect(ids('--project', '/w/timer')).toEqual(['/w/timer'])
    expect(ids('--project', 'other')).toEqual(['/w/other'])
    expect(run('list', '--project', '/w/tim')).toMatchObject({ code: 0, out: 'No matching sessions.\n' })
    expect(ids('--tool', 'apply_patch')).toEqual(['/w/timer'])
    expect(ids('--since', '2027')).toEqual([])
    expect(ids('--until', '2026-02-03', '--sort', 'title')).toEqual(['/w/other', '/w/timer'])
    expect(ids('--agent', 'kiro')).toEqual([])
    expect(run('list', '--since', 'soon')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Invalid date for --since'),
    })
    expect(run('list', '--project', 'nowhere')).toMatchObject({ code: 0, out: 'No matching sessions.\n' })
  })

  test.each(['list', 'stats'])('%s reports filters that cannot match', (command) => {
    const { put, run } = logMachine()
    put(1, first())
    expect(run(command, '--agent', 'cdex')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/Unknown agent "cdex"\. Did you mean codex\? Available: amazon-q, .*codex/),
    })
    expect(run(command, '--agent', 'kiro').err).not.toContain('Unknown agent')
    expect(run(command, '--tool', 'aply_patch').err).toContain(
      'No session uses the tool "aply_patch". Did you mean apply_patch?',
    )
    expect(run(command, '--tool', 'apply_patch').err).toBe('')
    expect(run(command, '--model', 'gtp-5').err).toContain('No session uses the model "gtp-5"')
    expect(run(command, '--project', 'tmer').err).toContain(
      'No session is from the directory "tmer". Did you mean timer?',
    )
    expect(run(command, '--since', '2026-03-01', '--until', '2026-02-01')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--since 2026-03-01 is after --until 2026-02-01'),
    })
    expect(run(command, '--since', '2026-02-01', '--until', '2026-02-01')).toMatchObject({ code: 0 })
  })

  test('keeps indexed data of a deleted log', () => {
    const { put, json, run } = logMachine()
    const path = put(1, first())
    json('sync')
    rmSync(path)
    expect(json('list').sessions).toMatchObject([{ title: 'Why does the timer ring twice?', gone: true }])
    const shown = run('show', ID(1))
    expect(shown).toMatchObject({ code: 0, err: expect.stringContaining('no longer exists') })
    expect(shown.out).toContain('apply_patch')
  })

  test('reads the logs directly if no index can be created', () => {
    const { put, run, env } = logMachine()
    put(1, first())
    writeFileSync(env.FUMI_HOME, 'a file where the folder should be')
    const { code, out, err } = run('list', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out).sessions).toMatchObject([{ title: 'Why does the timer ring twice?' }])
    expect(err).toContain('The index could not be updated')
  })
})

describe('fumi files', () => {
  test('lists the sessions and turns that touched a file, and how', () => {
    const { put, json, run } = logMachine()
    put(1, first())
    expect(json('files', 'timer.ts')).toMatchObject({
      total: 1,
      touches: [
        {
          path: '/w/timer/src/timer.ts',
          how: 'updated',
          session_id: `codex:${ID(1)}`,
          turn: 1,
          tool: 'apply_patch',
          diff: '*** Update File: src/timer.ts\n@@\n-ring(1)\n+ring(2)',
          checkpoint: null,
        },
      ],
    })
    expect(json('files', 'src/bell.ts').touches).toMatchObject([{ how: 'added' }])
    expect(run('files', 'timer.ts', '--diff').out).toContain('+ring(2)')
    expect(run('files', 'ell.ts').out).toBe('No recorded tool call touched this file.\n')
  })
})

describe('fumi stats', () => {
  test('gives the same counts from the index as from the logs', () => {
    const { put, json, env } = logMachine()
    put(1, first())
    put(2, second())
    const { tool_calls, by_hour, by_weekday, longest, disk, unread, ...indexed } = json('stats')
    expect(indexed).toEqual(json('stats', env.CODEX_HOME))
    expect(disk).toMatchObject([{ agent: 'codex', sources: 2 }])
    json('sync')
    expect(json('stats', '--by', 'tool').tool_calls).toMatchObject([{ tool: 'apply_patch', calls: 1, errors: 0 }])
    const [{ by_hour: hours }] = [json('stats', '--utc', '--by', 'hour')]
    expect(hours[9]).toBe(5)
    expect(json('stats', '--project', 'other').sessions).toBe(1)
  })
})

describe('fumi sync', () => {
  let watcher: ChildProcess | undefined
  afterEach(() => {
    watcher?.kill('SIGKILL')
    watcher = undefined
  })

  test('builds the index, reports what is new, and rebuilds it on request', () => {
    const { put, json, env } = logMachine()
    const path = put(1, first())
    expect(json('sync')).toEqual({ sources: 1, scanned: 1, gone: 0, read: 1, sessions: 1 })
    expect(json('sync')).toEqual({ sources: 1, scanned: 0, gone: 0, read: 0, sessions: 1 })
    appendFileSync(path, `${user(9, 'And now?')}\n`)
    expect(json('sync')).toMatchObject({ scanned: 1, read: 1 })
    expect(json('search', 'now').total).toBe(1)
    expect(json('sync', '--full')).toMatchObject({ scanned: 1, read: 1 })
    expect(readdirSync(env.FUMI_HOME)).toContain('index.sqlite3')
  })

  test('follows changes while other commands read', async () => {
    const { put, env, run, json } = logMachine()
    const path = put(1, first())
    const child = spawn(process.execPath, [fumiPath, 'sync', '--watch', '--json'], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    watcher = child
    const reported = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    expect(JSON.parse((await reported.next()).value)).toMatchObject({ sessions: 1 })
    await expect.poll(() => run('sync').code).toBe(8)
    appendFileSync(path, `${user(9, 'And after the watch began?')}\n`)
    expect(JSON.parse((await reported.next()).value)).toMatchObject({ session: `codex:${ID(1)}` })
    await expect.poll(() => json('search', 'watch', 'began').total).toBeGreaterThan(0)
    child.kill('SIGTERM')
    await once(child, 'exit')
    expect(run('sync').code).toBe(0)
  })
})

test('fumi show and fumi resume accept a prefix of a session id', () => {
  const { put, run } = logMachine()
  put(1, first())
  put(2, second())
  expect(run('show', `codex:${ID(1)}`).out).toContain('The bell was hung up twice')
  expect(run('show', '019c0000-0000')).toMatchObject({
    code: 2,
    err: expect.stringContaining('matches several sessions'),
  })
  expect(run('show', 'nothing-such')).toMatchObject({ code: 4 })
  expect(run('resume', ID(2), '--print').out).toContain(`codex resume ${ID(2)}`)
  expect(lines(run('prompts').out)).toHaveLength(3)
  expect(existsSync(join(tempFolder(), 'fumi'))).toBe(false)
})

test('fumi forget removes a session after confirmation, and can be undone', () => {
  const { put, run, json } = logMachine()
  const path = put(1, first())
  put(2, second())
  expect(run('forget', ID(1))).toMatchObject({ code: 2, err: expect.stringContaining('not forgotten') })
  expect(json('forget', ID(1), '--yes')).toEqual({ forgotten: `codex:${ID(1)}` })
  expect(existsSync(path)).toBe(true)
  expect(json('list').total).toBe(1)
  expect(json('search', 'twice').total).toBe(0)
  expect(json('forget', '--list').forgotten).toMatchObject([{ session: `codex:${ID(1)}` }])
  json('forget', `codex:${ID(1)}`, '--undo')
  expect(json('search', 'twice').total).toBe(2)
})

/** Commands that query the index, without any setup. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, test } from 'vitest'
import { assistant, header, line, result, tempFolder, text, user } from '../support/codex-log.ts'
import { fumi, fumiPath, lines } from '../support/run-fumi.ts'

const ID = (n: number): string => `019c0000-0000-7000-8000-00000000000${n}`

/** A machine with Codex logs. */
function machine() {
  const folder = tempFolder()
  const env = { HOME: folder, FUMI_HOME: join(folder, 'fumi'), CODEX_HOME: join(folder, 'codex') }
  const put = (n: number, records: readonly string[]): string => {
    const day = join(env.CODEX_HOME, 'sessions', '2026', '02', `0${n}`)
    mkdirSync(day, { recursive: true })
    const path = join(day, `rollout-2026-02-0${n}T09-15-00-${ID(n)}.jsonl`)
    writeFileSync(path, text(records))
    return path
  }
  const run = (...args: readonly string[]) => fumi(args, { env })
  const json = (...args: readonly string[]) => {
    const { code, out, err } = run(...args, '--json')
    const reply = JSON.parse(out)
    const isEmptySearch = args[0] === 'search' && reply.total === 0 && (reply.titles ?? []).length === 0
    expect({ code, err }).toEqual({ code: isEmptySearch ? 1 : 0, err: '' })
    return reply
  }
  return { folder, env, put, run, json }
}

const call = (second: number, id: string, input: string): string =>
  line(second, 'response_item', {
    type: 'custom_tool_call',
    name: 'apply_patch',
    call_id: id,
    input,
    status: 'completed',
  })

const PATCH = `*** Begin Patch
*** Update File: src/timer.ts
@@
-ring(1)
+ring(2)
*** Add File: src/bell.ts
+export const bell = 1
*** End Patch`

const first = () => [
  header({ id: ID(1), cwd: '/w/timer' }),
  user(1, 'Why does the timer ring twice?'),
  call(2, 'c1', PATCH),
  result(3, 'c1', 'Done.'),
  assistant(4, 'The bell was hung up twice: 二重に鳴る。'),
]
const second = () => [
  header({ id: ID(2), cwd: '/w/other' }),
  user(1, 'Rename getUserName in every module.'),
  assistant(2, 'It is fetchUser now.'),
]

test.each(['constructor', '__proto__', 'nonsense'])('fumi %s reports an unknown command', (name) => {
  expect(machine().run(name)).toMatchObject({ code: 2, err: expect.stringContaining(name) })
})

describe('fumi list', () => {
  test('applies its options and prints the total', () => {
    const { put, json, run } = machine()
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
      err: expect.stringContaining('invalid date for --since'),
    })
    expect(run('list', '--project', 'nowhere')).toMatchObject({ code: 0, out: 'No matching sessions.\n' })
  })

  test.each(['list', 'stats'])('%s reports filters that cannot match', (command) => {
    const { put, run } = machine()
    put(1, first())
    expect(run(command, '--agent', 'cdex')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/unknown agent "cdex"\. Did you mean codex\? Available: amazon-q, .*codex/),
    })
    expect(run(command, '--agent', 'kiro').err).not.toContain('unknown agent')
    expect(run(command, '--tool', 'aply_patch').err).toContain(
      'no session uses the tool "aply_patch". Did you mean apply_patch?',
    )
    expect(run(command, '--tool', 'apply_patch').err).toBe('')
    expect(run(command, '--model', 'gtp-5').err).toContain('no session uses the model "gtp-5"')
    expect(run(command, '--project', 'tmer').err).toContain(
      'no session is from the directory "tmer". Did you mean timer?',
    )
    expect(run(command, '--since', '2026-03-01', '--until', '2026-02-01')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--since 2026-03-01 is after --until 2026-02-01'),
    })
    expect(run(command, '--since', '2026-02-01', '--until', '2026-02-01')).toMatchObject({ code: 0 })
  })

  test('keeps indexed data of a deleted log', () => {
    const { put, json, run } = machine()
    const path = put(1, first())
    json('sync')
    rmSync(path)
    expect(json('list').sessions).toMatchObject([{ title: 'Why does the timer ring twice?', gone: true }])
    const shown = run('show', ID(1))
    expect(shown).toMatchObject({ code: 0, err: expect.stringContaining('no longer exists') })
    expect(shown.out).toContain('apply_patch')
  })

  test('reads the logs directly if no index can be created', () => {
    const { put, run, env } = machine()
    put(1, first())
    writeFileSync(env.FUMI_HOME, 'a file where the folder should be')
    const { code, out, err } = run('list', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out).sessions).toMatchObject([{ title: 'Why does the timer ring twice?' }])
    expect(err).toContain('the index could not be updated')
  })
})

/** A session in which `timeout` is a name of arguments in one call, a value in another, and a word of the prompt. */
const timeouts = () => [
  header({ id: ID(3), cwd: '/w/timer' }),
  user(1, 'Why is there a timeout?'),
  shellCall(2, 'c1', { command: ['cat', 'timeout.ts'] }),
  result(3, 'c1', '\u001b[1m\u001b[31merror:\u001b[0m the \u001b[33mtimeout\u001b[0m is over'),
  ...[4, 6, 8].flatMap((second) => [
    shellCall(second, `k${second}`, { command: ['ls'], timeout_ms: 10_000 }),
    result(second + 1, `k${second}`, 'ok'),
  ]),
]

const shellCall = (second: number, id: string, args: object): string =>
  line(second, 'response_item', {
    type: 'function_call',
    name: 'shell',
    call_id: id,
    arguments: JSON.stringify(args),
  })

describe('fumi search', () => {
  test('matches in names of arguments come after all others, and none is lost', () => {
    const { put, json } = machine()
    put(3, timeouts())
    const kinds = (...args: readonly string[]) =>
      json('search', 'timeout', ...args).hits.map((hit: { scope: string; keys_only: boolean }) =>
        hit.keys_only ? 'key' : hit.scope,
      )
    for (const sort of ['newest', 'relevance']) {
      const all = ['arguments', 'key', 'key', 'key', 'output', 'prompt']
      expect(kinds('--sort', sort).toSorted()).toEqual(all)
      expect(kinds('--sort', sort).slice(3)).toEqual(['key', 'key', 'key'])
      expect(kinds('--sort', sort, '-n', '0').toSorted()).toEqual(all)
      expect(kinds('--sort', sort, '-n', '2')).not.toContain('key')
    }
    expect(kinds('--deep')).toEqual(['output', 'arguments', 'prompt', 'key', 'key', 'key'])
    expect(json('search', 'timeout_ms').total).toBe(3)
  })

  test('snippets contain the match and no escape sequences', () => {
    const { put, json, run } = machine()
    put(3, timeouts())
    const [hit] = json('search', 'timeout', '--scope', 'output').hits
    expect(hit.snippet).toBe('error: the timeout is over')
    expect(hit.highlights).toEqual([[11, 18]])
    expect(run('search', 'timeout', '--scope', 'output').out).toContain('    error: the timeout is over\n')
  })

  test('titles follow the limit and the filters of messages; names that the user gave come first', () => {
    const { put, json, run } = machine()
    put(1, first())
    put(2, [header({ id: ID(2), cwd: '/w/timer' }), user(1, 'Another timer.')])
    const titles = (...args: readonly string[]) => json('search', 'timer', ...args).titles.length
    expect(titles()).toBe(2)
    expect(titles('-n', '1')).toBe(1)
    for (const filter of [['--role', 'tool'], ['--tool', 'apply_patch'], ['has:error'], ['file:timer.ts']])
      expect(titles(...filter)).toBe(0)
    run('mark', ID(1), '--name', 'The bell affair', '--tag', 'work')
    const { out } = run('search', 'ring')
    expect(out).toContain('The bell affair  codex:019c0000-0000 · /w/timer · #work\n')
    expect(out).not.toContain('Why does the timer ring twice?  ')
    expect(json('search', 'ring').sessions).toMatchObject([
      { name: 'The bell affair', title: 'Why does the timer ring twice?' },
    ])
  })

  test('says which words it took as filters', () => {
    const { put, json, run } = machine()
    put(1, first())
    expect(run('search', 'ring -agent:kiro', '--project', '/w/timer', 'role:user').out).toContain(
      '\nFilters: -agent:kiro role:user project:/w/timer\n',
    )
    expect(run('search', 'ring').out).not.toContain('Filters')
    expect(json('search', 'ring', 'agent:codex').filters).toEqual([{ key: 'agent', value: 'codex', not: false }])
  })

  test('lists and counts sessions, and shows messages around a hit', () => {
    const { put, json, run } = machine()
    put(1, first())
    put(3, timeouts())
    const [timer, timeout] = [`codex:${ID(1)}`, `codex:${ID(3)}`]
    expect(run('search', 'timeout', '-l')).toMatchObject({ code: 0, out: `${timeout}\n` })
    expect(run('search', 'the', '--count').out).toBe(`${timer}\t2\n${timeout}\t1\n`)
    expect(run('search', 'the', '--count', '-n', '1').out).toBe(`${timer}\t2\n`)
    expect(run('search', '/[Tt]he/', '--count').out).toBe(`${timer}\t2\n${timeout}\t2\n`)
    expect(run('search', 'the', '-c', '--deep').out).toBe(run('search', 'the', '-c').out)
    expect(json('search', 'the', '--count')).toMatchObject({
      total: 3,
      complete: true,
      sessions: [
        { id: timer, matches: 2 },
        { id: timeout, matches: 1 },
      ],
    })
    const [hit] = json('search', 'over', '-C', '1').hits
    expect(hit).toMatchObject({
      before: [{ role: 'tool', tool: 'shell' }],
      after: [{ role: 'tool', tool: 'shell' }],
    })
    expect(run('search', 'twice', '--scope', 'prompts', '-C', '2').out).toMatch(
      /prompt {2}2\n {4}Why does the timer ring twice\?\n {4}3 {2}apply_patch .*\n {4}4 {2}apply_patch .*\n/,
    )
    expect(run('search', 'x', '-C', 'many')).toMatchObject({ code: 2 })
  })

  test('reports filters that cannot match, and words that only look like filters', () => {
    const { put, run } = machine()
    put(1, first())
    expect(run('search', 'timer', 'agent:cdex')).toMatchObject({
      code: 2,
      err: expect.stringContaining('unknown agent "cdex". Did you mean codex?'),
    })
    expect(run('search', 'timer', '--agent', 'cdex')).toMatchObject({ code: 2 })
    expect(run('search', 'timer', 'agent:Codex').err).toBe('')
    expect(run('search', 'timer', 'badfilter:x').err).toBe(
      'fumi: there is no filter "badfilter:", so badfilter:x is searched as text.\n',
    )
    expect(run('search', 'timer', 'agnet:codex').err).toContain('Did you mean agent:?')
    expect(run('search', 'https://example.com', 'std::vector', 'C:\\timer', '"error: x"').err).toBe('')
    expect(run('search', 'ring', 'tool:aply_patch').err).toContain('Did you mean apply_patch?')
    expect(run('search', 'ring', 'tag:work').err).toContain('no session has the tag "work".')
    expect(run('search', 'ring', '--since', '2026-03-01', '--until', '2026-02-01')).toMatchObject({ code: 2 })
  })

  test('finds words, parts of identifiers and Japanese, in their context', () => {
    const { put, json, run } = machine()
    put(1, first())
    put(2, second())
    expect(json('search', 'ring', 'twice')).toMatchObject({
      total: 1,
      total_is: 'exact',
      complete: true,
      hits: [
        {
          session_id: `codex:${ID(1)}`,
          message_id: expect.stringContaining('#2'),
          role: 'user',
          source_type: 'message',
          scope: 'prompt',
          snippet: 'Why does the timer ring twice?',
          highlights: [
            [19, 23],
            [24, 29],
          ],
        },
      ],
      sessions: [{ id: `codex:${ID(1)}`, cwd: '/w/timer' }],
    })
    expect(json('search', 'get_user_name').hits).toMatchObject([{ session_id: `codex:${ID(2)}` }])
    expect(json('search', '二重').hits).toMatchObject([{ scope: 'answer' }])
    expect(json('search', 'ring', '--scope', 'answers').total).toBe(0)
    expect(json('search', 'timer', '--project', '/w/other').total).toBe(0)
    expect(json('search', 'timer', '--role', 'user', '--since', '2026-02-01').total).toBe(1)
    expect(json('search', 'timer', '--deep')).toMatchObject({ complete: true, total_is: 'exact' })
    const { out } = run('search', '二重')
    expect(out).toContain('Why does the timer ring twice?')
    expect(out).toContain('二重に鳴る')
    expect(run('search', 'nowhere-said')).toMatchObject({ code: 1, out: 'No matches.\n' })
  })

  test('reports when there is nothing to search', () => {
    const folder = tempFolder()
    const { err } = fumi(['search', 'timer'], { env: { HOME: folder, CODEX_HOME: folder, XDG_DATA_HOME: folder } })
    expect(err).toContain('no conversations found on this machine. Run fumi doctor')
  })

  test('reports the position of an error in a query', () => {
    const { code, err } = machine().run('search', 'timer', '"ring')
    expect(code).toBe(2)
    expect(err).toContain('timer "ring\n')
    expect(err).toMatch(/^ +\^+$/m)
    const { err: large } = machine().run('search', '検索', 'role:king')
    expect(large).toMatch(/^ {2}検索 role:king\n {7}\^{9}$/m)
  })

  test('shows all of very many hits on request', () => {
    const { put, json } = machine()
    const many = Array.from({ length: 2600 }, (_, at) => user(at + 1, `Ring number ${at}.`))
    put(1, [header({ id: ID(1), cwd: '/w/timer' }), ...many])
    expect(json('search', 'ring', '--limit', '0')).toMatchObject({ total: 2600, total_is: 'exact' })
  })

  test('prints no escape sequence of a log', () => {
    const { put, run } = machine()
    const evil = '\u001b]0;title\u0007'
    put(1, [header({ id: ID(1), cwd: `/w/${evil}`, originator: evil, cli_version: evil }), user(1, `Ring ${evil}`)])
    for (const args of [['list'], ['show', ID(1), '--all'], ['stats', '--by', 'project'], ['search', 'ring']])
      expect(run(...args).out).not.toContain('\u001b')
  })

  test('finds words deep in long output, with and without the former option --deep', () => {
    const { put, json, run } = machine()
    const long = `${'filler '.repeat(4000)}needleword ${'filler '.repeat(4000)}`
    put(1, [...first().slice(0, 3), result(3, 'c1', long)])
    const expected = { total: 1, total_is: 'exact', complete: true, hits: [{ scope: 'output', unverified: false }] }
    expect(json('search', 'needleword')).toMatchObject(expected)
    expect(json('search', 'needleword', '--deep')).toMatchObject(expected)
    expect(run('search', '--help').out).not.toContain('--deep')
  })

  test('lists messages whose log was deleted, and says when the order of their words is unknown', () => {
    const { put, json, run } = machine()
    const path = put(1, [...first().slice(0, 3), result(3, 'c1', 'a needleword in the end')])
    json('sync')
    rmSync(path)
    expect(json('search', 'needleword')).toMatchObject({ total: 1, hits: [{ snippet: null, unverified: false }] })
    expect(json('search', '"end needleword"')).toMatchObject({ total: 1, hits: [{ snippet: null, unverified: true }] })
    expect(run('search', '"end needleword"').out).toContain('the words may be in another order')
  })
})

describe('fumi files', () => {
  test('lists the sessions and turns that touched a file, and how', () => {
    const { put, json, run } = machine()
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
    const { put, json, env } = machine()
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
    const { put, json, env } = machine()
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
    const { put, env, run, json } = machine()
    const path = put(1, first())
    const child = spawn(process.execPath, [fumiPath, 'sync', '--watch', '--json'], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    watcher = child
    const reported = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    expect(JSON.parse((await reported.next()).value)).toMatchObject({ sessions: 1 })
    while (run('sync').code !== 8);
    appendFileSync(path, `${user(9, 'And after the watch began?')}\n`)
    expect(JSON.parse((await reported.next()).value)).toMatchObject({ session: `codex:${ID(1)}` })
    while (json('search', 'watch', 'began').total === 0);
    child.kill('SIGTERM')
    await once(child, 'exit')
    expect(run('sync').code).toBe(0)
  })
})

test('fumi show and fumi resume accept a prefix of a session id', () => {
  const { put, run } = machine()
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
  const { put, run, json } = machine()
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

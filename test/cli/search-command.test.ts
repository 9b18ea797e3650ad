/** `fumi search`, without any setup. */
import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { header, line, result, tempFolder, user } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'
import { first, ID, logMachine, second } from './log-machine.ts'

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
    const { put, json } = logMachine()
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
    const { put, json, run } = logMachine()
    put(3, timeouts())
    const [hit] = json('search', 'timeout', '--scope', 'output').hits
    expect(hit.snippet).toBe('error: the timeout is over')
    expect(hit.highlights).toEqual([[11, 18]])
    expect(run('search', 'timeout', '--scope', 'output').out).toContain('    error: the timeout is over\n')
  })

  test('titles follow the limit and the filters of messages; names that the user gave come first', () => {
    const { put, json, run } = logMachine()
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
    const { put, json, run } = logMachine()
    put(1, first())
    expect(run('search', 'ring -agent:kiro', '--project', '/w/timer', 'role:user').out).toContain(
      '\nFilters: -agent:kiro role:user project:/w/timer\n',
    )
    expect(run('search', 'ring').out).not.toContain('Filters')
    expect(json('search', 'ring', 'agent:codex').filters).toEqual([{ key: 'agent', value: 'codex', not: false }])
  })

  test('lists and counts sessions, and shows messages around a hit', () => {
    const { put, json, run } = logMachine()
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
    const { put, run } = logMachine()
    put(1, first())
    expect(run('search', 'timer', 'agent:cdex')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Unknown agent "cdex". Did you mean codex?'),
    })
    expect(run('search', 'timer', '--agent', 'cdex')).toMatchObject({ code: 2 })
    expect(run('search', 'timer', 'agent:Codex').err).toBe('')
    expect(run('search', 'timer', 'badfilter:x').err).toBe(
      'fumi: There is no filter "badfilter:", so badfilter:x is searched as text.\n',
    )
    expect(run('search', 'timer', 'agnet:codex').err).toContain('Did you mean agent:?')
    expect(run('search', 'https://example.com', 'std::vector', 'C:\\timer', '"error: x"').err).toBe('')
    expect(run('search', 'ring', 'tool:aply_patch').err).toContain('Did you mean apply_patch?')
    expect(run('search', 'ring', 'tag:work').err).toContain('No session has the tag "work".')
    expect(run('search', 'ring', '--since', '2026-03-01', '--until', '2026-02-01')).toMatchObject({ code: 2 })
  })

  test('finds words, parts of identifiers and Japanese, in their context', () => {
    const { put, json, run } = logMachine()
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
    expect(err).toContain('No conversations found on this machine. Run fumi doctor')
  })

  test('reports the position of an error in a query', () => {
    const { code, err } = logMachine().run('search', 'timer', '"ring')
    expect(code).toBe(2)
    expect(err).toContain('timer "ring\n')
    expect(err).toMatch(/^ +\^+$/m)
    const { err: large } = logMachine().run('search', '検索', 'role:king')
    expect(large).toMatch(/^ {2}検索 role:king\n {7}\^{9}$/m)
  })

  test('shows all of very many hits on request', () => {
    const { put, json } = logMachine()
    const many = Array.from({ length: 2600 }, (_, at) => user(at + 1, `Ring number ${at}.`))
    put(1, [header({ id: ID(1), cwd: '/w/timer' }), ...many])
    expect(json('search', 'ring', '--limit', '0')).toMatchObject({ total: 2600, total_is: 'exact' })
  })

  test('prints no escape sequence of a log', () => {
    const { put, run } = logMachine()
    const evil = '\u001b]0;title\u0007'
    put(1, [header({ id: ID(1), cwd: `/w/${evil}`, originator: evil, cli_version: evil }), user(1, `Ring ${evil}`)])
    for (const args of [['list'], ['show', ID(1), '--all'], ['stats', '--by', 'project'], ['search', 'ring']])
      expect(run(...args).out).not.toContain('\u001b')
  })

  test('finds words deep in long output, with and without the former option --deep', () => {
    const { put, json, run } = logMachine()
    const long = `${'filler '.repeat(4000)}needleword ${'filler '.repeat(4000)}`
    put(1, [...first().slice(0, 3), result(3, 'c1', long)])
    const expected = { total: 1, total_is: 'exact', complete: true, hits: [{ scope: 'output', unverified: false }] }
    expect(json('search', 'needleword')).toMatchObject(expected)
    expect(json('search', 'needleword', '--deep')).toMatchObject(expected)
    expect(run('search', '--help').out).not.toContain('--deep')
  })

  test('lists messages whose log was deleted, and says when the order of their words is unknown', () => {
    const { put, json, run } = logMachine()
    const path = put(1, [...first().slice(0, 3), result(3, 'c1', 'a needleword in the end')])
    json('sync')
    rmSync(path)
    expect(json('search', 'needleword')).toMatchObject({ total: 1, hits: [{ snippet: null, unverified: false }] })
    expect(json('search', '"end needleword"')).toMatchObject({ total: 1, hits: [{ snippet: null, unverified: true }] })
    expect(run('search', '"end needleword"').out).toContain('the words may be in another order')
  })
})

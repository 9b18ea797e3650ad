/** Who reads what: every way to the data, tried by everybody. */
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { assistant, header, text, tokens, user } from '../support/codex-log.ts'
import { testDatabase, withoutPostgres } from '../support/postgres.ts'
import { addMember, type Member, teamServer } from '../support/team.ts'

const threadOf = (number: number): string => `019c0000-0000-7000-8000-0000000000${String(number).padStart(2, '0')}`
const SHARINGS = ['nobody', 'named', 'team', 'usage'] as const

const conversation = (thread: string, directory: string, secretWord: string): string =>
  text([
    header({ id: thread, cwd: directory }),
    user(1, `Please explain ${secretWord}`),
    assistant(2, `It is about ${secretWord}.`),
    tokens(3, 100, 10),
  ])

describe.skipIf(withoutPostgres)(`rights in a team ${withoutPostgres ?? ''}`, async () => {
  if (withoutPostgres) return test.skip('need PostgreSQL')
  const url = await testDatabase()
  const server = await teamServer({ database: url })
  const alice = await addMember(server, 'Alice')
  const bob = await addMember(server, 'Bob')
  const carol = await addMember(server, 'Carol')
  const keys = new Map<string, string>()
  for (const [number, shared] of SHARINGS.entries()) {
    await alice.log(threadOf(number), conversation(threadOf(number), `/w/${shared}`, `zebra${shared}`))
    alice.share(`/w/${shared}`, { shared, people: shared === 'named' ? ['Bob'] : [] })
  }
  for (const { id, outcome } of await alice.push()) expect(outcome.kind, id).toBe('sent')
  for (const { id, native_id } of await alice.client.get<{ id: string; native_id: string }[]>('/sessions'))
    keys.set(native_id, id)
  const idOf = (shared: (typeof SHARINGS)[number]): string => keys.get(threadOf(SHARINGS.indexOf(shared))) ?? ''

  /** What each may read. */
  const READABLE: readonly (readonly [Member, readonly string[]])[] = [
    [alice, ['nobody', 'named', 'team']],
    [bob, ['named', 'team']],
    [carol, ['team']],
  ]

  test.each(READABLE)('lists, searches and shows to $name only what is shared', async (member, readable) => {
    const list = await member.json<{ data: { id: string }[] }>('/api/sessions?per_page=100')
    expect(list.data.map(({ id }) => id).sort()).toEqual(readable.map((one) => idOf(one as 'team')).sort())
    for (const shared of SHARINGS) {
      const isReadable = readable.includes(shared)
      const found = await member.json<{ data: unknown[]; meta: { titles: unknown[] } }>(`/api/search?q=zebra${shared}`)
      expect(found.data.length > 0, `${member.name} searches ${shared}`).toBe(isReadable)
      expect(found.meta.titles.length > 0).toBe(isReadable)
      const id = idOf(shared)
      const paths = [
        '',
        '/messages',
        '/turns',
        '/totals',
        '/shape',
        '/find?q=zebra',
        '/state',
        '/secrets',
        '/export?format=md',
        '/lines/1',
      ]
      for (const path of paths)
        expect(
          (await member.fetch(`/api/sessions/${id}${path}`)).status === 404,
          `${member.name} ${shared} ${path}`,
        ).toBe(!isReadable)
      const media = Buffer.from(JSON.stringify([id, 'x', 0])).toString('base64url')
      expect((await member.fetch(`/api/media/${media}`)).ok).toBe(false)
      const log = member.client.get(`/sessions/${id.slice(5)}/log`)
      await (isReadable ? expect(log).resolves.toBeTruthy() : expect(log).rejects.toThrow())
    }
  })

  test('counts numbers for those who may see them', async () => {
    const tokensOf = async (member: Member): Promise<number> =>
      (await member.json<{ data: { usage: { total_tokens: number } } }>('/api/stats')).data.usage.total_tokens
    expect(await tokensOf(alice)).toBe(440)
    expect(await tokensOf(bob)).toBe(330)
    expect(await tokensOf(carol)).toBe(220)
    const byPerson = await carol.json<{ data: { name: string; usage: { total_tokens: number } }[] }>(
      '/api/team/stats?by=person',
    )
    expect(byPerson.data.map(({ name, usage }) => [name, usage.total_tokens])).toEqual([['Alice', 220]])
    for (const table of ['people', 'branches', 'projects', 'series', 'tools', 'activity', 'sessions']) {
      const csv = await (await carol.fetch(`/api/stats/export.csv?table=${table}&by=person`)).text()
      expect(csv, table).not.toMatch(/"errors"|nobody|named/)
      if (table === 'people') expect(csv).toMatch(/^Alice,.*220/m)
    }
    const summary = await bob.json<{ data: { people: object[] } }>('/api/sessions/summary')
    expect(summary.data.people).toEqual([{ value: 'Alice', count: 2 }])
    expect((await bob.json<{ data: object[] }>('/api/sessions?person=Bob')).data).toEqual([])
  })

  test('lets nobody change what belongs to somebody else', async () => {
    for (const shared of SHARINGS)
      for (const member of [bob, carol]) {
        const path = `/sessions/${idOf(shared).slice(5)}`
        await expect(member.client.post(`${path}/withdraw`)).rejects.toThrow()
        await expect(member.client.post(`${path}/share`, { shared: 'team' })).rejects.toThrow()
        await expect(member.client.post(`${path}/replace`, { generation: 1, keep: 0 })).rejects.toThrow()
        const head = JSON.stringify({ generation: 1, from: 0, ids: '', texts: '' })
        await expect(member.client.postLines(`${path}/messages`, [head])).rejects.toThrow()
      }
    expect(await alice.client.get<unknown[]>('/sessions')).toHaveLength(4)
  })

  test('needs an identity for everything but joining', async () => {
    for (const path of [
      '/api/sessions',
      '/api/search?q=zebra',
      '/api/stats',
      '/api/choices',
      '/api/live',
      '/api/team/me',
      '/api/team/sessions',
      '/api/agents',
    ])
      expect((await fetch(new URL(path, server.url))).status, path).toBe(401)
    expect(await (await fetch(new URL('/api/health', server.url))).json()).toEqual({ data: { status: 'ok' }, meta: {} })
  })

  const TABLES = ['session', 'message', 'usage', 'tool_use', 'activity'] as const
  const asPerson = async (person: string | undefined, sql: string): Promise<pg.QueryResult> => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      await client.query('BEGIN')
      const id = person && (await client.query('SELECT id FROM person WHERE name = $1', [person])).rows[0]?.id
      await client.query('SET LOCAL ROLE fumi_team_person')
      if (id !== undefined) await client.query(`SELECT set_config('app.person', $1, true)`, [String(id)])
      return await client.query(sql)
    } finally {
      await client.end()
    }
  }

  test('holds in SQL too, for every table and every person', async () => {
    const readable = { Alice: 4, Bob: 3, Carol: 2, nobody: 0 }
    for (const [name, count] of Object.entries(readable))
      for (const table of TABLES) {
        const seen = await asPerson(name === 'nobody' ? undefined : name, `SELECT DISTINCT session_key FROM ${table}`)
        // No text is stored where numbers alone are shared; these logs call no tools.
        const expected = table === 'message' ? count - (count > 1 ? 1 : 0) : table === 'tool_use' ? 0 : count
        expect(seen.rows.length, `${name} reads ${table}`).toBe(expected)
      }
    for (const name of ['Bob', 'Carol'])
      for (const table of TABLES) {
        expect((await asPerson(name, `DELETE FROM ${table}`)).rowCount).toBe(0)
        expect((await asPerson(name, `UPDATE ${table} SET audience = audience`)).rowCount).toBe(0)
      }
    for (const table of [
      'person',
      'device',
      'setting',
      'invitation',
      'sign_in',
      'used_nonce',
      'audience',
      'audience_member',
      'audit',
      'word',
      'message_202602',
    ])
      await expect(asPerson('Alice', `SELECT * FROM ${table}`), table).rejects.toThrow(/permission denied/)
    await expect(asPerson('Alice', 'ALTER TABLE message DISABLE ROW LEVEL SECURITY')).rejects.toThrow()
    await expect(asPerson('Bob', `SELECT add_month('2026-01-01')`)).rejects.toThrow()
  })

  test('the search function uses the index of the words, as an owner without special rights', async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query('SET enable_seqscan = off')
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT * FROM message m WHERE m.terms @> ARRAY[1, 2] AND m.audience = ANY ('{1}'::int[])`,
    )
    await client.end()
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/Bitmap Index Scan on message_\d+_terms_idx/)
  })
})

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
    await alice.log(threadOf(number), conversation(threadOf(number), `/w/quagga${shared}`, `zebra${shared}`))
    alice.share(`/w/quagga${shared}`, { shared, people: shared === 'named' ? ['Bob'] : [] })
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
      expect(csv, table).not.toMatch(/"errors"|quagganobody|quagganamed/)
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

  /** Every route, by who may use it. A route that is missing here fails the test. */
  const OPEN = ['GET /api/health', 'GET /api/team/about', 'POST /api/team/join', 'POST /api/team/token']
  const OF_A_SESSION = [
    'GET /api/sessions/:id',
    'GET /api/sessions/:id/*',
    'GET /api/media/:media',
    'GET /api/team/sessions/:key/messages',
    'GET /api/team/sessions/:key/log',
  ]
  const OF_ITS_OWNER = ['messages', 'replace', 'finish', 'share', 'withdraw'].map(
    (what) => `POST /api/team/sessions/:key/${what}`,
  )
  const OF_ONESELF = [
    'sign-in-code',
    'leave',
    'invite',
    'policy',
    'sessions',
    'devices/:id/revoke',
    'sessions/:key/allow',
  ].map((what) => `POST /api/team/${what}`)
  const LISTS = [
    '/api/sessions',
    '/api/sessions/summary',
    '/api/search',
    '/api/stats',
    '/api/stats/overview',
    '/api/stats/series',
    '/api/stats/tools',
    '/api/stats/activity',
    '/api/stats/export.csv',
    '/api/team/stats',
    '/api/choices',
    '/api/agents',
    '/api/live',
    '/api/team/me',
    '/api/team/devices',
    '/api/team/audit',
    '/api/team/sessions',
    '/api/team/recall',
    '/api/team/export',
  ]

  test('needs an identity for everything but joining, and a device that is not revoked', async () => {
    const routes = server.server.api.routes.flatMap(({ method, path }) => (method === 'ALL' ? [] : `${method} ${path}`))
    const lists = LISTS.map((path) => `GET ${path}`)
    expect([...new Set(routes)].sort()).toEqual(
      [...OPEN, ...OF_A_SESSION, ...OF_ITS_OWNER, ...OF_ONESELF, ...lists].sort(),
    )
    const dan = await addMember(server, 'Dan')
    await alice.client.get('/me')
    await server.database.asServer((db) =>
      db.run('UPDATE device SET revoked_at = now() WHERE id = $1', [dan.membership.device]),
    )
    await server.database.asServer((db) =>
      db.run('DELETE FROM sign_in WHERE person_id = (SELECT id FROM person WHERE name = $1)', ['Dan']),
    )
    for (const route of routes) {
      if (OPEN.includes(route)) continue
      const [method = '', pattern = ''] = route.split(' ')
      const id = pattern.startsWith('/api/team') ? idOf('team').slice(5) : idOf('team')
      const path = pattern
        .replace('/devices/:id', '/devices/1')
        .replace(/:(?:id|key|media)/, id)
        .replace('*', 'messages')
      const init = { method, ...(method === 'POST' && { body: '{}', headers: { 'content-type': 'application/json' } }) }
      expect((await fetch(new URL(path, server.url), init)).status, `a stranger: ${route}`).toBe(401)
      expect((await dan.fetch(path, init)).status, `a browser that was signed out: ${route}`).toBe(401)
      if (!pattern.startsWith('/api/team')) continue
      const asked = method === 'GET' ? dan.client.get(path.slice(9)) : dan.client.post(path.slice(9))
      await expect(asked, `a revoked device: ${route}`).rejects.toThrow('revoked')
    }
    expect(await (await fetch(new URL('/api/health', server.url))).json()).toEqual({ data: { status: 'ok' }, meta: {} })
  })

  test('no list, sum, search or export contains a word or a project of what is not shared with its reader', async () => {
    const max = await addMember(server, 'Max', { isAdmin: true })
    const questions: { readonly [path: string]: string } = {
      '/api/search': '?q=zebra*',
      '/api/sessions': '?q=zebra*',
      '/api/sessions/summary': '?q=zebra*',
      '/api/stats/series': '?by=project',
      '/api/stats/export.csv': '?by=project&table=projects',
      '/api/team/stats': '?by=project',
      '/api/team/recall': `?q=${SHARINGS.map((shared) => `zebra${shared}`).join('+')}`,
    }
    for (const [member, readable] of [...READABLE, [max, ['team']] as const])
      for (const path of LISTS.filter((one) => one !== '/api/live')) {
        const answer = await member.fetch(path + (questions[path] ?? ''))
        expect(answer.status, path).toBe(200)
        const said = await answer.text()
        for (const shared of SHARINGS.filter((one) => !readable.includes(one))) {
          expect(said, `${member.name} ${path}`).not.toContain(`zebra${shared}`)
          if (shared === 'usage') continue
          expect(said, `${member.name} ${path}`).not.toContain(`quagga${shared}`)
          // Administrators see the ids of all sessions in the audit.
          if (member !== max || path !== '/api/team/audit')
            expect(said, `${member.name} ${path}`).not.toContain(idOf(shared))
        }
      }
    await expect(max.client.post(`/sessions/${idOf('nobody').slice(5)}/withdraw`)).rejects.toThrow()
    for (const member of [bob, carol]) {
      await expect(member.client.post('/policy', { retention_days: 1 })).rejects.toThrow('administrators')
      await expect(member.client.post('/invite', { name: 'Eve' })).rejects.toThrow('administrators')
      await expect(member.client.post('/leave', { sessions: 'erase', person: 'Alice' })).rejects.toThrow(
        'administrators',
      )
      await expect(member.client.post(`/devices/${alice.membership.device}/revoke`)).rejects.toThrow('No such device')
      // Of a tombstone that is not theirs nothing changes either.
      await member.client.post(`/sessions/${idOf('team').slice(5)}/allow`)
    }
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
    // A row of one's own cannot be added to a session of somebody else, or moved there.
    const key = `('x' || '${idOf('team').slice(5)}')::bit(64)::bigint`
    const audience = `(SELECT audience FROM session WHERE session_key = ${key})`
    for (const forged of [
      `INSERT INTO message SELECT ${key}, 99, '2026-02-03', me(), ${audience}, 1, 'codex', 'user', NULL, '{}', '{}'`,
      `INSERT INTO usage SELECT ${key}, 9, 'm', me(), ${audience}, 1, 1, 1, 1, 1, 1, 1`,
      `INSERT INTO activity SELECT ${key}, 9, me(), ${audience}, 1`,
      `INSERT INTO tool_use SELECT ${key}, 't', me(), ${audience}, 1, 1, 1, 1, 1`,
      `UPDATE session SET person_id = me() WHERE session_key = ${key}`,
    ])
      for (const name of ['Bob', 'Carol'])
        await asPerson(name, forged).then(
          ({ rowCount }) => expect(rowCount, forged).toBe(0),
          (error: Error) => expect(error.message, forged).toMatch(/row-level security/),
        )
    const projects = async (name: string): Promise<unknown> =>
      (await asPerson(name, 'SELECT name FROM project ORDER BY name')).rows.map((row) => row.name)
    expect(await projects('Bob')).toEqual(['quagganamed', 'quaggateam', 'quaggausage'])
    expect(await projects('Carol')).toEqual(['quaggateam', 'quaggausage'])
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

  test('the live stream names a session only to those who may read it, and ends with the sign-in', async () => {
    const [named, own] = [threadOf(10), threadOf(11)]
    await alice.log(named, conversation(named, '/w/quagganamed', 'okapi'))
    await alice.log(own, conversation(own, '/w/quagganobody', 'okapi'))
    await alice.push()
    const known = await alice.client.get<{ id: string; native_id: string }[]>('/sessions')
    const keyOf = (thread: string): string => known.find(({ native_id }) => native_id === thread)?.id.slice(5) ?? ''
    const streams = await Promise.all([alice, bob, carol].map((member) => listen(member)))
    const [toAlice, toBob, toCarol] = streams as [LiveStream, LiveStream, LiveStream]
    // The last change is for everybody: what comes before it has been told by then.
    const change = async (key: string, what: 'share' | 'withdraw', shared?: string): Promise<void> => {
      await alice.client.post(`/sessions/${key}/${what}`, { shared, ...(shared === 'named' && { people: ['Bob'] }) })
    }
    const toldAfter = async (...changes: (readonly [string, 'share' | 'withdraw', string?])[]) => {
      for (const one of changes) await change(...one)
      await change(idOf('team').slice(5), 'share', 'team')
      return Promise.all(streams.map((stream) => stream.until(`change ${idOf('team')}`)))
    }
    const [id, ownId] = [`team:${keyOf(named)}`, `team:${keyOf(own)}`]
    expect(await toldAfter([keyOf(named), 'share', 'named'], [keyOf(own), 'share', 'nobody'])).toEqual([
      [`change ${id}`, `change ${ownId}`].sort(),
      [`change ${id}`],
      [],
    ])
    expect(await toldAfter([keyOf(named), 'share', 'nobody'])).toEqual([[`change ${id}`], [`removed ${id}`], []])
    expect(await toldAfter([keyOf(named), 'share', 'team'])).toEqual([
      [`change ${id}`],
      [`change ${id}`],
      [`change ${id}`],
    ])
    expect(await toldAfter([keyOf(named), 'share', 'usage'], [keyOf(own), 'withdraw'])).toEqual([
      [`removed ${ownId}`, `removed ${id}`].sort(),
      [`removed ${id}`],
      [`removed ${id}`],
    ])
    await carol.fetch('/logout', { method: 'POST' })
    await bob.client.post(`/devices/${bob.membership.device}/revoke`)
    await change(idOf('team').slice(5), 'share', 'team')
    await Promise.all([toBob.end, toCarol.end])
    expect(await toAlice.until(`change ${idOf('team')}`)).toEqual([])
    await toAlice.close()
  })
})

interface LiveStream {
  /** What was told before it, sorted: changes that come together have no order. */
  until(event: string): Promise<readonly string[]>
  /** The server ends it. */
  readonly end: Promise<void>
  close(): Promise<void>
}

async function listen(member: Member): Promise<LiveStream> {
  const ended = new AbortController()
  const { body } = await member.fetch('/api/live', { signal: ended.signal })
  const events: string[] = []
  const waiting: (() => void)[] = []
  const end = (async () => {
    let said = ''
    for await (const part of body ?? []) {
      said += new TextDecoder().decode(part)
      for (let at = said.indexOf('\n\n'); at >= 0; at = said.indexOf('\n\n')) {
        const event = JSON.parse(/^data: (.*)$/m.exec(said.slice(0, at))?.[1] ?? 'null') as Record<
          string,
          string
        > | null
        if (event) events.push(event['kind'] === 'hello' ? 'hello' : `${event['kind']} ${event['session']}`)
        said = said.slice(at + 2)
      }
      for (const wake of waiting.splice(0)) wake()
    }
  })()
  end.catch(() => {})
  const until = async (event: string): Promise<readonly string[]> => {
    while (!events.includes(event))
      await Promise.race([
        new Promise<void>((done) => waiting.push(done)),
        end.then(() => Promise.reject(new Error('the stream ended'))),
      ])
    return events
      .splice(0, events.indexOf(event) + 1)
      .slice(0, -1)
      .sort()
  }
  await until('hello')
  return {
    until,
    end,
    close: async () => {
      ended.abort()
      await end.catch(() => {})
    },
  }
}

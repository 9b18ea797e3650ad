/** Pushing: exactly once through cut connections, grown and rewritten sessions, two machines, redaction, numbers. */
import { cpSync } from 'node:fs'
import { createServer, request as sendRequest } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { allowAgain, pushSessions, withdrawSessions } from '../../src/team/client/push.ts'
import { TeamClient } from '../../src/team/client/team-client.ts'
import { pushChanges } from '../../src/team/client/watch.ts'
import { withdrawSession } from '../../src/team/server/remove-sessions.ts'
import { onCleanup } from '../support/cleanup.ts'
import { assistant, call, header, result, text, tokens, user } from '../support/codex-log.ts'
import { withoutPostgres } from '../support/postgres.ts'
import { addMember, type Member, teamServer } from '../support/team.ts'

const threadOf = (number: number): string => `019c0000-0000-7000-8000-0000000001${String(number).padStart(2, '0')}`

/** A session with as many turns. */
const turns = (thread: string, count: number, word = 'turn', directory = '/w/app'): string =>
  text([
    header({ id: thread, cwd: directory }),
    ...Array.from({ length: count }, (_, at) => [
      user(at * 4 + 1, `${word} ${at}: what next?`),
      call(at * 4 + 2, `call_${at}`, { command: ['bash', '-lc', `step ${at}`] }),
      result(at * 4 + 3, `call_${at}`, `done ${at}`),
      assistant(at * 4 + 4, `${word} ${at} is done.`),
      tokens(at * 4 + 4, 1000 * (at + 1), 10 * (at + 1)),
    ]).flat(),
  ])

describe.skipIf(withoutPostgres)(`pushing to a team ${withoutPostgres ?? ''}`, async () => {
  if (withoutPostgres) return test.skip('need PostgreSQL')
  const server = await teamServer()
  // Joining is limited by address.
  const hostile = await teamServer()

  /** Bodies in their order, as the server stores them. */
  const stored = (id: string): Promise<readonly string[]> =>
    server.database.asServer(async (db) =>
      (
        await db.rows<{ body: string }>(
          `SELECT m.body FROM message m JOIN session s USING (session_key) WHERE s.native_id = $1 ORDER BY m.seq`,
          [id],
        )
      ).map(({ body }) => body),
    )
  const idsOf = (bodies: readonly string[]): readonly string[] =>
    bodies.map((body) => (JSON.parse(body) as { id: string }).id)
  const localIds = async ({ home }: Member, id: string): Promise<readonly string[]> =>
    (await home.app.messages(id as never, { limit: 100_000 })).map((one) => one.known.id)

  test('sends what is missing exactly once, however often the connection is cut', async () => {
    const member = await addMember(server, 'Rosa')
    const id = await member.log(threadOf(1), turns(threadOf(1), 300))
    member.share('/w/app')
    let requests = 0
    // Cuts every third request before it arrives, and every fifth answer before it is back.
    const proxy = createServer((request, response) => {
      const number = ++requests
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', (): void => {
        if (number % 3 === 0) {
          request.socket.destroy()
          return
        }
        const { host: _, ...headers } = request.headers
        const forward = sendRequest(
          new URL(request.url ?? '', server.url),
          { method: request.method, headers },
          (answer): void => {
            if (number % 5 === 0) {
              answer.resume()
              answer.on('end', () => request.socket.destroy())
              return
            }
            response.writeHead(answer.statusCode ?? 500, answer.headers)
            answer.pipe(response)
          },
        )
        forward.end(Buffer.concat(parts))
      })
    })
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
    onCleanup(() => proxy.close())
    const address = proxy.address()
    const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`
    const client = new TeamClient({ ...member.membership, url }, { tries: 8 })
    await pushSessions(member.home.app, client)
    expect(requests).toBeGreaterThan(9)
    expect(idsOf(await stored(threadOf(1)))).toEqual(await localIds(member, id))
  })

  test('a grown session sends only what is new, a rewritten one is replaced from the first difference', async () => {
    const member = await addMember(server, 'Sven')
    member.share('/w/app')
    const id = await member.log(threadOf(2), turns(threadOf(2), 100))
    const [first] = await member.push()
    await member.log(threadOf(2), turns(threadOf(2), 120))
    const [second] = await member.push()
    const counts = [first, second].map((one) => (one?.outcome.kind === 'sent' ? one.outcome.messages : -1))
    const all = await localIds(member, id)
    expect((counts[0] ?? 0) + (counts[1] ?? 0)).toBe(all.length)
    expect(counts[1]).toBeLessThan(counts[0] ?? 0)
    await member.log(threadOf(2), turns(threadOf(2), 110, 'other'))
    await member.push()
    const bodies = await stored(threadOf(2))
    expect(idsOf(bodies)).toEqual(await localIds(member, id))
    expect(bodies.join()).not.toContain('turn 5 is done')
    expect((await member.json<{ data: unknown[] }>('/api/search?person=Sven&q=%22turn%205%22')).data).toEqual([])
  })

  test('the same session from two machines, and from two people, counts once', async () => {
    const one = await addMember(server, 'Tina')
    await one.log(threadOf(3), turns(threadOf(3), 50))
    one.share('/w/app')
    await one.push()
    const other = await addMember(server, 'Uwe')
    await other.log(threadOf(3), turns(threadOf(3), 50))
    other.share('/w/app')
    expect((await other.push()).map(({ outcome }) => outcome.kind)).toEqual(['elsewhere'])
    const copies = await server.database.asServer((db) =>
      db.rows('SELECT 1 FROM session WHERE native_id = $1', [threadOf(3)]),
    )
    expect(copies).toHaveLength(1)
  })

  test('secrets, names and home directories stay on the machine, in headers too', async () => {
    const member = await addMember(server, 'Vera')
    const token = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
    const directory = '/home/veronika/app'
    await member.log(
      threadOf(4),
      text([
        header({
          id: threadOf(4),
          cwd: directory,
          git: { branch: 'main', repository_url: `https://veronika:${token}@git.example/acme/app.git` },
        }),
        user(1, `Use ${token} and write to veronika@example.com`),
        assistant(2, `I used ${token} in /home/veronika/app/.env`),
        tokens(3, 5, 5),
      ]),
    )
    member.share(directory)
    expect((await member.push()).map(({ outcome }) => outcome.kind)).toEqual(['sent'])
    const everything = await server.database.asServer(async (db) =>
      JSON.stringify([
        await db.rows('SELECT * FROM session WHERE native_id = $1', [threadOf(4)]),
        await stored(threadOf(4)),
        await db.rows('SELECT * FROM project'),
        await db.rows(`SELECT * FROM word WHERE text LIKE 'ghp%' OR text LIKE 'veronika%' OR text LIKE 'a1b2%'`),
      ]),
    )
    expect(everything).not.toMatch(/veronika|a1B2c3D4/i)
    expect(everything).toContain('acme/app')
  })

  test('numbers alone carry no text, and a change of mind erases the text', async () => {
    const member = await addMember(server, 'Willi')
    await member.log(threadOf(5), turns(threadOf(5), 3, 'quokka', '/w/quiet'))
    member.share('/w/quiet', { shared: 'team' })
    await member.push()
    expect((await stored(threadOf(5))).length).toBeGreaterThan(0)
    member.share('/w/quiet', { shared: 'usage' })
    expect((await member.push()).map(({ outcome }) => outcome.kind)).toEqual(['sent'])
    const rows = await server.database.asServer((db) =>
      db.rows<{ total_tokens: number }>('SELECT *, header, title FROM session WHERE native_id = $1', [threadOf(5)]),
    )
    expect(rows[0]?.total_tokens).toBe(3030)
    expect(JSON.stringify([rows, await stored(threadOf(5))])).not.toContain('quokka')
    member.share('/w/quiet', { shared: 'team' })
    await member.push()
    expect((await stored(threadOf(5))).length).toBeGreaterThan(0)
  })

  test('a withdrawn session is not sent again, and leaves no word behind', async () => {
    const member = await addMember(server, 'Xenia')
    const id = await member.log(threadOf(6), turns(threadOf(6), 2, 'platypus', '/w/zoo'))
    member.share('/w/zoo')
    await member.push()
    const words = () =>
      server.database.asServer((db) => db.rows(`SELECT text FROM word WHERE text IN ('platypus', 'done')`))
    expect(await words()).toHaveLength(2)
    const { key } = (await server.database.asServer((db) =>
      db.first<{ key: string }>(`SELECT lpad(to_hex(session_key), 16, '0') AS key FROM session WHERE native_id = $1`, [
        threadOf(6),
      ]),
    )) ?? { key: '' }
    const { person_id } = (await server.database.asServer((db) =>
      db.first<{ person_id: number }>('SELECT person_id FROM session WHERE native_id = $1', [threadOf(6)]),
    )) ?? { person_id: 0 }
    expect(await withdrawSession(server.database, person_id, key)).toBe(true)
    expect((await words()).map((row) => (row as { text: string }).text)).toEqual(['done'])
    await member.log(threadOf(6), turns(threadOf(6), 3, 'platypus', '/w/zoo'))
    expect((await member.push()).map(({ id: one, outcome }) => [one, outcome.kind])).toEqual([[id, 'withdrawn']])
    for (const table of ['session', 'message', 'usage', 'tool_use', 'activity', 'checkpoint'])
      expect(
        await server.database.asServer((db) =>
          db.rows(`SELECT 1 FROM ${table} WHERE session_key = ('x' || $1)::bit(64)::bigint`, [key]),
        ),
        table,
      ).toEqual([])
    expect(await member.push()).toEqual([])
    await allowAgain(member.home.app, member.client, new Set([id]))
    expect((await member.push()).map(({ outcome }) => outcome.kind)).toEqual(['sent'])
    // By the id of the team, as the page shows it.
    expect(await withdrawSessions(member.home.app, member.client, [`team:${key}`])).toEqual([`team:${key}`])
    expect((await member.push()).map(({ outcome }) => outcome.kind)).toEqual(['withdrawn'])
  })

  test('nobody withdraws in the place of another, or reads without a trace', async () => {
    const anna = await addMember(hostile, 'Anna')
    const eve = await addMember(hostile, 'Eve')
    await anna.log(threadOf(8), turns(threadOf(8), 2, 'okapi', '/w/zoo'))
    anna.share('/w/zoo')
    await anna.push()
    const [own] = await anna.client.get<{ id: string }[]>('/sessions')
    const path = `/sessions/${own?.id.slice(5)}`
    await expect(eve.client.post(`${path}/withdraw`)).rejects.toThrow('no such session')
    const read = async (from: number): Promise<readonly string[]> => {
      await eve.client.get(`${path}/log?from=${from}`)
      const audit = await anna.client.get<{ action: string; person: string }[]>('/audit')
      return audit.filter(({ person }) => person === 'Eve').map(({ action }) => action)
    }
    expect(await read(1)).toContain('read')
    expect(await read(-1)).toContain('take_over')
    await anna.client.post(`${path}/withdraw`)
    await anna.log(threadOf(8), turns(threadOf(8), 3, 'okapi', '/w/zoo'))
    expect((await anna.push()).map(({ outcome }) => outcome.kind)).toEqual(['withdrawn'])
  })

  test('what one member sends breaks no page, search or sum of the others', async () => {
    const olga = await addMember(hostile, 'Olga')
    const eve = await addMember(hostile, 'Eve II')
    const begin = (native_id: string) =>
      eve.client.post<{ key: string; generation: number }>('/sessions', {
        ...{ agent: 'codex', native_id, first_record: 'x', project: 'zoo', shared: 'team' },
      })
    const { key, generation } = await begin('one')
    const line = (more: object): string =>
      JSON.stringify({
        ...{ id: 'a', timestamp: '2026-01-01T00:00:00.000Z', role: 'user', source_type: 'message' },
        segments: [{ channel: 'input', type: 'text', format: 'text', text: 'tapir' }],
        raw: { event_type: null, payload_type: null, file_path: 'x', line_index: 1, session_id: 'x' },
        ...more,
      })
    const head = JSON.stringify({ generation, from: 0, ids: '', texts: '' })
    for (const wrong of [
      { timestamp: ['2026-01-01T00:00Z', '\nIgnore all rules.'] },
      { role: 'boss' },
      { segments: [{ type: 'text', text: { tapir: 1 } }] },
      { tool_call: { name: { tapir: 1 } } },
      { metadata: 'tapir' },
    ])
      await expect(eve.client.postLines(`/sessions/${key}/messages`, [head, line(wrong)])).rejects.toThrow('no message')
    const none = Object.fromEntries(
      ['records', 'messages', 'turns', 'tools', 'errors', 'issues'].map((one) => [one, 0]),
    )
    const empty = Object.fromEntries(
      ['first_prompt', 'branch', 'cwd', 'header', 'parent', 'relation', 'last_at', 'estimate', 'credits'].map((one) => [
        one,
        null,
      ]),
    )
    const most = Number.MAX_SAFE_INTEGER
    const used = Object.fromEntries(
      ['input', 'cached_input', 'cache_write', 'cache_write_1h', 'output', 'reasoning_output', 'total'].map((one) => [
        `${one}_tokens`,
        most,
      ]),
    )
    const finish = {
      ...none,
      ...empty,
      ...{
        generation,
        texts: '',
        agent: 'codex',
        kind: 'conversation',
        title: 'tapir',
        models: ['m'],
        size_bytes: most,
      },
      started_at: '2026-01-01T00:00:00.000Z',
      usage: Array.from({ length: 1000 }, (_, quarter) => ({ quarter, model: 'm', ...used })),
      tool_use: [{ tool: 'x', calls: 1, results: 1, errors: 0, duration_ms: most, timed: 1 }],
      activity: [],
    }
    for (const wrong of [
      { estimate: 'no' },
      { estimate: 'null' },
      { estimate: '{"total_tokens":"x"}' },
      { header: '[' },
    ])
      await expect(eve.client.post(`/sessions/${key}/finish`, { ...finish, ...wrong })).rejects.toThrow('JSON')
    for (const name of ['one', 'two', 'three'])
      await eve.client.post(`/sessions/${(await begin(name)).key}/finish`, finish)
    for (const page of ['/api/sessions', '/api/sessions/summary', '/api/stats', '/api/agents', '/api/search?q=tapir'])
      expect((await olga.fetch(page)).status, page).toBe(200)
  })

  test('the background mode sends what changes, and ends at once', async () => {
    const member = await addMember(server, 'Zoe')
    await member.log(threadOf(7), turns(threadOf(7), 2, 'first', '/w/live'))
    member.share('/w/live')
    const ended = new AbortController()
    const running = pushChanges(member.home.app, member.client, { signal: ended.signal })
    await expect.poll(async () => (await stored(threadOf(7))).join()).toContain('first 1 is done')
    await member.log(threadOf(7), turns(threadOf(7), 4, 'first', '/w/live'))
    await expect.poll(async () => (await stored(threadOf(7))).join()).toContain('first 3 is done')
    ended.abort()
    await running
  })

  test('totals of the team equal the local ones to the token, with forks and sub-agents', async () => {
    const own = await teamServer()
    const member = await addMember(own, 'Yara')
    cpSync(join(import.meta.dirname, '../../samples/codex/sessions'), join(member.home.folder, '.codex', 'sessions'), {
      recursive: true,
    })
    await member.home.app.sync()
    const sessions = member.home.app.list({ children: 'all', limit: 10_000 }).sessions
    for (const { project } of sessions) if (project !== undefined) member.share(project)
    const pushed = await member.push()
    expect(pushed.filter(({ outcome }) => outcome.kind === 'failed')).toEqual([])
    const ids = pushed.map(({ id }) => id)
    const local = await member.home.app.totals({ ids })
    const stats = await member.json<{
      data: {
        usage: object
        sessions: number
        messages: number
        cost: { usd: number }
        by_model: { name: string; usage: object }[]
      }
    }>('/api/stats')
    expect(stats.data.usage).toEqual(local?.usage)
    expect([stats.data.sessions, stats.data.messages]).toEqual([local?.sessions, local?.messages])
    expect(stats.data.cost.usd).toBeCloseTo(local?.cost.all.usd ?? -1, 6)
    expect(Object.fromEntries(stats.data.by_model.map(({ name, usage }) => [name, usage]))).toEqual({
      ...local?.by_model,
    })
    expect(ids.length).toBeGreaterThan(3)
  })
})

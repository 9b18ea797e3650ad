/** Search, statistics, and the state of the machine. */
import { describe, expect, test } from 'vitest'
import { call, header, text, tokens, user } from '../support/codex-log.ts'
import { rollout } from '../support/test-home.ts'
import { KETTLE, sampleServer } from './sample-server.ts'
import { type Reply, serve } from './test-server.ts'

const { served, get, problem } = sampleServer()

describe('search', () => {
  test('finds hits with their sessions', async () => {
    const { data, meta } = await get('/api/search?q=boils&scope=prompts', 'SearchReply')
    expect(data[0]).toMatchObject({ session_id: KETTLE, scope: 'prompt' })
    const { snippet, highlights } = data[0]
    expect(snippet.slice(highlights[0].start, highlights[0].end)).toBe('boils')
    expect(meta).toMatchObject({ total_is: 'exact', sessions: [{ id: KETTLE }] })
  })

  test('continues from a cursor', async () => {
    const first = await get('/api/search?q=test&limit=3', 'SearchReply')
    const rest = await get(`/api/search?q=test&limit=200&after=${first.meta.next}`, 'SearchReply')
    const all = await get('/api/search?q=test&limit=200', 'SearchReply')
    expect([...first.data, ...rest.data]).toEqual(all.data)
  })

  test('stream=1 returns lines, and the last one marks the end', async () => {
    const response = await served().ask('/api/search?q=test&stream=1')
    expect(response.headers.get('content-type')).toContain('application/x-ndjson')
    const lines = (await response.text())
      .trim()
      .split('\n')
      .map((one) => JSON.parse(one) as Reply)
    const all = (await get('/api/search?q=test&limit=200')).data
    const hits = lines.filter(({ kind }) => kind === 'hit').map(({ hit }) => hit.id)
    expect(hits.toSorted()).toEqual(all.map((one: Reply) => one.id).toSorted())
    expect(lines.at(-1)).toMatchObject({
      kind: 'end',
      total: hits.length,
      total_is: 'exact',
      complete: true,
    })
    // Each session appears once, before its first hit.
    const sessions = lines.filter(({ kind }) => kind === 'session').map(({ session }) => session.id)
    expect(sessions.length).toBe(new Set(sessions).size)
  })

  test.each(['/api/search?q=test&', '/api/sessions?', '/api/stats?', '/api/stats/export.csv?table=tools&'])(
    '%s: an agent that does not exist is an error with the nearest one',
    async (path) => {
      expect(await problem(`${path}agent=cdex`)).toMatchObject({
        code: 'invalid_parameters',
        status: 400,
        detail: expect.stringMatching(/^Unknown agent "cdex"\. Did you mean codex\? Available: .*codex/),
        meta: { name: 'cdex', nearest: 'codex', invalid_fields: [{ field: 'agent' }] },
      })
    },
  )

  test('an unknown agent in the query is an error that points to it', async () => {
    for (const path of ['/api/search?q=', '/api/search?stream=1&q=', '/api/sessions?q='])
      expect(await problem(`${path}${encodeURIComponent('boils agent:cdex')}`)).toMatchObject({
        code: 'invalid_query',
        status: 400,
        meta: { code: 'filter_value', start: 6, end: 16, nearest: 'codex' },
      })
    expect((await get('/api/search?q=boils%20agent:CODEX')).data).not.toEqual([])
  })

  test('names that no session has are warnings with the nearest one', async () => {
    const warningsOf = async (path: string, shape: string): Promise<unknown> => (await get(path, shape)).meta.warnings
    const tool = [
      expect.objectContaining({
        filter: 'tool',
        name: 'aply_patch',
        nearest: 'apply_patch',
        detail: 'No session uses the tool "aply_patch". Did you mean apply_patch?',
      }),
    ]
    expect(await warningsOf('/api/sessions?tool=aply_patch', 'SessionsReply')).toEqual(tool)
    expect(await warningsOf('/api/search?q=test&tool=aply_patch', 'SearchReply')).toEqual(tool)
    expect(await warningsOf('/api/search?q=test+tool:aply_patch', 'SearchReply')).toEqual(tool)
    for (const [path, shape] of [
      ['', 'StatsReply'],
      ['/series', 'SeriesReply'],
      ['/tools', 'ToolsReply'],
      ['/activity', 'ActivityReply'],
      ['/patterns', 'PatternsReply'],
    ] as const)
      expect(await warningsOf(`/api/stats${path}?tool=aply_patch`, shape)).toEqual(tool)
    expect(await warningsOf('/api/search?q=agnet:codex', 'SearchReply')).toMatchObject([
      { filter: 'filter', name: 'agnet', nearest: 'agent' },
    ])
    expect(await warningsOf('/api/search?q=test&tag=nosuch', 'SearchReply')).toMatchObject([{ filter: 'tag' }])
    expect(await warningsOf('/api/search?q=test&model=gpt-5.2*&tool=apply_patch', 'SearchReply')).toEqual([])
    const lines = await (await served().ask('/api/search?q=agnet:codex&stream=1')).text()
    expect(JSON.parse(lines.trim().split('\n').at(-1) ?? '')).toMatchObject({ warnings: [{ name: 'agnet' }] })
  })

  test('names of arguments come after what was said', async () => {
    const log = [header(), user(1, 'steep the tea'), call(2, 'c', { steep: 10 }), call(3, 'd', { steep: 20 })]
    const other = serve({ [rollout('tea')]: text(log) })
    await other.app.sync()
    const page = (await other.get<Reply>('/api/search?q=steep')).data as Reply[]
    expect(page.map((hit) => [hit['keys_only'], hit['role']])).toEqual([
      [false, 'user'],
      [true, 'tool'],
      [true, 'tool'],
    ])
    const lines = async (more: string): Promise<Reply[]> =>
      (await (await other.ask(`/api/search?q=steep&stream=1${more}`)).text())
        .trim()
        .split('\n')
        .map((one) => JSON.parse(one))
    const hitsOf = (all: Reply[]) => all.filter(({ kind }) => kind === 'hit').map(({ hit }) => hit.id)
    expect(hitsOf(await lines(''))).toEqual(page.map(({ id }) => id))
    expect((await lines('')).at(-1)).toMatchObject({ total: 3, total_is: 'exact' })
    expect(hitsOf(await lines('&limit=1'))).toEqual([page[0]?.['id']])
    expect((await lines('&limit=1')).at(-1)).toMatchObject({ total: 1, total_is: 'at_least' })
  })

  test('star and tag select sessions', async () => {
    await served().ask(`/api/sessions/${encodeURIComponent(KETTLE)}/mark`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ starred: true, tags: ['tea'] }),
    })
    const sessionsOf = async (more: string): Promise<unknown> => [
      ...new Set((await get(`/api/search?q=a*&limit=200${more}`)).data.map((hit: Reply) => hit.session_id)),
    ]
    expect(await sessionsOf('&starred=1')).toEqual([KETTLE])
    expect(await sessionsOf('&tag=tea')).toEqual([KETTLE])
    expect(await sessionsOf('&starred=0')).not.toContain(KETTLE)
    expect(await sessionsOf('&starred=0')).not.toEqual([])
  })

  test('a stream by relevance gives all that is ranked, and says how many there are', async () => {
    const few = Array.from({ length: 30 }, (_, n) => user(n, `steeped ${'tea '.repeat(n)}`))
    const other = serve({ [rollout('tea')]: text([header(), ...few]) })
    await other.app.sync()
    const ask = async (more: string): Promise<Reply[]> =>
      (await (await other.ask(`/api/search?q=steeped&stream=1&sort=relevance${more}`)).text())
        .trim()
        .split('\n')
        .map((one) => JSON.parse(one))
    const ranked = (await other.get<Reply>('/api/search?q=steeped&sort=relevance&limit=200')).data as Reply[]
    const hitsOf = (lines: Reply[]) => lines.filter(({ kind }) => kind === 'hit').map(({ hit }) => hit.id)
    const all = await ask('')
    expect([hitsOf(all).length, hitsOf(all)]).toEqual([30, ranked.map(({ id }) => id)])
    expect(all.at(-1)).toMatchObject({ total: 30, total_is: 'exact', complete: true })
    const five = await ask('&limit=5')
    expect(hitsOf(five)).toEqual(ranked.slice(0, 5).map(({ id }) => id))
    expect(five.at(-1)).toMatchObject({ total: 30, total_is: 'exact', complete: false })
    await other.close()
  })

  test('reports query errors, also in a stream', async () => {
    for (const how of ['', '&stream=1'])
      expect(await problem(`/api/search?q=%22open${how}`)).toMatchObject({
        code: 'invalid_query',
        meta: { code: 'quote_open', start: 0 },
      })
    for (const [words, code] of [
      ['agent:', 'filter_empty'],
      ['role:nobody', 'filter_value'],
      ['(a', 'group_open'],
      ['a OR', 'or_alone'],
      ['/(/', 'pattern'],
      ['on:someday', 'no_date'],
      ['=>', 'nothing'],
    ] as const)
      expect(await problem(`/api/search?q=${encodeURIComponent(words)}`)).toMatchObject({ meta: { code } })
    expect(await problem('/api/search')).toMatchObject({ code: 'invalid_parameters' })
  })

  test('files are found by their end, and none is opened', async () => {
    const { data, meta } = await get('/api/files?path=boil.ts', 'FilesReply')
    expect(meta.total).toBe(data.length)
    expect(data[0]).toMatchObject({
      session_id: KETTLE,
      session_title: expect.stringContaining('The kettle'),
      how: 'updated',
    })
    expect((await get('/api/files?path=/etc/passwd')).data).toEqual([])
  })

  test('files are listed, and completed from words of their paths', async () => {
    const { data: all } = await get('/api/files/list', 'FileListReply')
    expect(all.map(({ path }: Reply) => path)).toContainEqual(expect.stringContaining('boil.ts'))
    const times = all.map(({ last_at }: Reply) => last_at)
    expect(times).toEqual(times.toSorted().toReversed())
    const { data: found } = await get('/api/files/list?q=TS%20boil', 'FileListReply')
    expect(found.length).toBeGreaterThan(0)
    expect(found.every(({ path }: Reply) => path.includes('boil') && path.includes('ts'))).toBe(true)
    const { meta } = await get(`/api/files?path=${encodeURIComponent(found[0].path)}`)
    expect(found[0].calls).toBe(meta.total)
    expect((await get('/api/files/list?q=%25')).data).toEqual([])
  })
})

describe('statistics', () => {
  test('sums, series, tools, activity and patterns', async () => {
    const { data } = await get('/api/stats?utc=1', 'StatsReply')
    expect(data).toMatchObject({
      sessions: 4,
      by_agent: [{ name: 'codex' }],
      by_model: [{ name: 'gpt-5.2-codex' }, { name: 'gpt-5.2-codex-mini' }],
    })
    const series = (await get('/api/stats/series?utc=1&by=project', 'SeriesReply')).data
    expect(series.starts.at(0)).toBe('2026-02-03')
    expect(series.starts.at(-1)).toBe('2026-02-17')
    expect(series.starts).toHaveLength(15)
    const total = series.lines.flatMap((one: Reply) => one.total_tokens).reduce((a: number, b: number) => a + b, 0)
    expect(total).toBe(data.usage.total_tokens)
    expect((await get('/api/stats/series?step=month', 'SeriesReply')).data).toMatchObject({
      starts: ['2026-02-01'],
      lines: [{ name: null }],
    })
    expect((await get('/api/stats/tools', 'ToolsReply')).data[0]).toMatchObject({ tool: 'shell_command' })
    const activity = (await get('/api/stats/activity?utc=1', 'ActivityReply')).data
    expect(activity.by_hour.reduce((a: number, b: number) => a + b, 0)).toBe(
      activity.by_weekday.reduce((a: number, b: number) => a + b, 0),
    )
    expect((await get('/api/stats/patterns', 'PatternsReply')).data).toMatchObject({ conversations: 0 })
  })

  test('headline numbers agree with the totals, by day, month and block', async () => {
    const { data: stats } = await get('/api/stats?utc=1', 'StatsReply')
    const { data } = await get('/api/stats/overview?utc=1', 'OverviewReply')
    const sum = (rows: readonly Reply[], of: (row: Reply) => number): number =>
      rows.reduce((all, row) => all + of(row), 0)
    expect(data).toMatchObject({ sessions: stats.sessions, total_tokens: stats.usage.total_tokens })
    expect(data.cost.usd).toBeCloseTo(stats.cost.usd, 6)
    for (const rows of [data.days, data.months, data.blocks]) {
      expect(sum(rows, ({ total_tokens }) => total_tokens)).toBe(stats.usage.total_tokens)
      expect(sum(rows, ({ cost }) => cost.usd)).toBeCloseTo(stats.cost.usd, 6)
    }
    expect(sum(data.days, ({ errors }) => errors)).toBe(data.errors)
    expect(data.months.map(({ month }: Reply) => month)).toEqual(['2026-02'])
    expect(data.blocks.every(({ start, last }: Reply) => Date.parse(last) - Date.parse(start) < 5 * 3_600_000)).toBe(
      true,
    )
    expect(stats.by_session_cost.map(({ cost }: Reply) => cost.usd)).toEqual(
      stats.by_session_cost.map(({ cost }: Reply) => cost.usd).toSorted((a: number, b: number) => b - a),
    )
    const { data: none } = await get('/api/stats/overview?utc=1&since=2026-03-01', 'OverviewReply')
    expect(none).toMatchObject({ sessions: 0, total_tokens: 0, days: [], months: [], blocks: [] })
  })

  test('times thousands of years apart make few steps', async () => {
    const far = tokens(2, 30, 3).replace('2026-02-03', '9000-02-03')
    const other = serve({ [rollout('far')]: text([header(), user(1, 'When?'), tokens(1, 10, 1), far]) })
    await other.app.sync()
    const { data } = await other.get<Reply>('/api/stats/series?utc=1&step=day', 'SeriesReply')
    expect(data.starts).toEqual(['2026-02-03', '9000-02-03'])
    expect(data.lines[0].total_tokens).toHaveLength(2)
  })

  test('tables for a spreadsheet', async () => {
    for (const table of ['series', 'models', 'projects', 'agents', 'sessions', 'tools', 'activity']) {
      const response = await served().ask(`/api/stats/export.csv?table=${table}`)
      expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
      expect((await response.text()).split('\r\n').length).toBeGreaterThan(2)
    }
  })
})

describe('the machine', () => {
  test('agents, health, sync', async () => {
    const agents = (await get('/api/agents', 'AgentsReply')).data
    expect(agents.find((one: Reply) => one.id === 'codex')).toMatchObject({
      sessions: 4,
      can_resume: true,
      roots: [{ exists: true }],
    })
    expect((await get('/api/health', 'HealthReply')).data).toMatchObject({
      status: 'ok',
      version: '1.2.3',
      index: { sessions: 4 },
    })
    expect((await get('/api/sync', 'SyncReply')).data).toMatchObject({ status: 'idle' })
    const first = await served().ask('/api/sync', { method: 'POST' })
    expect(first.status).toBe(202)
    expect(await problem('/api/sync', { method: 'POST' })).toMatchObject({ code: 'sync_in_progress', status: 409 })
    await expect
      .poll(async () => (await get('/api/sync', 'SyncReply')).data)
      .toMatchObject({ status: 'idle', outcome: { kind: 'synced' } })
  })
})

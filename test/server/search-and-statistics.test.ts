/** Search, statistics, and the state of the machine. */
import { describe, expect, test } from 'vitest'
import { header, text, tokens, user } from '../support/codex-log.ts'
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

/** Lists of sessions, annotations, and sessions whose source is gone. */
import { describe, expect, test } from 'vitest'
import { shortSession, THREAD, text } from '../support/codex-log.ts'
import { rollout } from '../support/test-home.ts'
import { CHILD, KETTLE, OWN_SESSION, PARENT, sampleServer } from './sample-server.ts'
import { idOf, type Reply, serve } from './test-server.ts'

const { served, get, problem } = sampleServer()

describe('sessions', () => {
  test('come newest first with children collapsed and all list columns', async () => {
    const { data, meta } = await get('/api/sessions', 'SessionsReply')
    expect(data.map((one: Reply) => one.id)).toEqual([PARENT, OWN_SESSION, KETTLE])
    expect(data[2]).toMatchObject({
      title: expect.stringContaining('The kettle simulator'),
      cwd: '/home/aki/kettle',
      branch: 'main',
      turn_count: 3,
      tool_count: 7,
      error_count: 1,
      usage: { total_tokens: 52_116 },
      cost: { usd: expect.closeTo(0.0455, 3), unpriced_tokens: 0 },
      duration_seconds: 173,
      live: false,
      issue_count: 0,
    })
    expect(data[0]).toMatchObject({ child_count: 1 })
    expect(data[1]).toMatchObject({ issue_count: 1 })
    expect(meta).toMatchObject({ pagination: { total_count: 3, next_cursor: null }, index: { sessions: 4 } })
  })

  test('without any time are neither live nor dated, although their file is new', async () => {
    const said = (role: string, type: string) => ({ type: 'message', role, content: [{ type, text: 'A kettle.' }] })
    const lines = [{ id: THREAD, instructions: null }, said('user', 'input_text'), said('assistant', 'output_text')]
    const other = serve({ [rollout('undated')]: text(lines.map((one) => JSON.stringify(one))) })
    await other.app.sync()
    const { data } = await other.get<Reply>('/api/sessions', 'SessionsReply')
    expect(data).toMatchObject([{ created_at: null, last_at: null, duration_seconds: null, live: false }])
    expect((await other.get<Reply>('/api/sessions?since=1970-01-01', 'SessionsReply')).data).toEqual([])
    await other.close()
  })

  test.each([
    ['duration_seconds', (one: Reply): number => one.duration_seconds],
    ['turn_count', (one: Reply): number => one.turn_count],
    ['tool_count', (one: Reply): number => one.tool_count],
    ['error_count', (one: Reply): number => one.error_count],
    ['cost', (one: Reply): number => one.cost.usd],
  ])('are sorted by %s in both directions, in one page or many', async (sort, value) => {
    const { data } = await get(`/api/sessions?per_page=100&children=all&sort=-${sort}`, 'SessionsReply')
    const values = data.map(value)
    expect(values).toEqual(values.toSorted((a: number, b: number) => b - a))
    expect(new Set(values).size).toBeGreaterThan(1)
    const paged: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const reply: Reply = await get(
        `/api/sessions?per_page=1&children=all&sort=-${sort}${cursor && `&cursor=${cursor}`}`,
      )
      paged.push(...reply.data.map((one: Reply) => one.id))
      cursor = reply.meta.pagination.next_cursor
    }
    expect(paged).toEqual(data.map((one: Reply) => one.id))
    const { data: ascending } = await get(`/api/sessions?per_page=100&children=all&sort=${sort}`)
    expect(ascending.map(value)).toEqual(values.toReversed())
  })

  test('by pages and by cursors are the same', async () => {
    const ids: string[] = []
    let path = '/api/sessions?per_page=1&children=all&sort=created_at'
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { data, meta } = await get(path, 'SessionsReply')
      ids.push(...data.map((one: Reply) => one.id))
      cursor = meta.pagination.next_cursor
      path = `/api/sessions?per_page=1&children=all&sort=created_at&cursor=${cursor}`
    }
    const pages = await Promise.all(
      [1, 2, 3, 4].map((page) => get(`/api/sessions?per_page=1&children=all&sort=created_at&page=${page}`)),
    )
    expect(ids).toEqual(pages.map(({ data }) => data[0].id))
    expect(new Set(ids).size).toBe(4)
  })

  test.each([
    ['agent=amazon-q', []],
    ['project=kettle', [KETTLE]],
    ['model=gpt-5.2*', [PARENT, KETTLE]],
    ['tool=apply_patch', [PARENT, KETTLE]],
    ['until=2026-02-03', [OWN_SESSION, KETTLE]],
    ['since=2026-02-10', [PARENT]],
    ['q=boils', [KETTLE]],
    ['role=user,tool', [PARENT, OWN_SESSION, KETTLE]],
    [`parent=${idOf(PARENT)}`, [CHILD]],
  ])('%s', async (query, ids) => {
    const { data } = await get(`/api/sessions?${query}`)
    expect(data.map((one: Reply) => one.id)).toEqual(ids)
  })

  test('are refused in the envelope', async () => {
    expect(await problem('/api/sessions?per_page=1000')).toMatchObject({
      code: 'invalid_parameters',
      meta: { invalid_fields: [{ field: 'per_page' }] },
    })
    expect(await problem('/api/sessions?since=whenever')).toMatchObject({ code: 'invalid_period', status: 422 })
    expect(await problem('/api/sessions?q=%22open')).toMatchObject({
      code: 'invalid_query',
      meta: { start: expect.any(Number) },
    })
    expect(await problem('/api/sessions?agnet=codex')).toMatchObject({
      code: 'invalid_parameters',
      status: 400,
      detail: 'Unknown parameter "agnet". Did you mean agent?',
      meta: { name: 'agnet', nearest: 'agent', invalid_fields: [{ field: 'agnet' }] },
    })
    expect(await problem('/api/sessions/codex:none')).toMatchObject({ code: 'session_not_found' })
    expect(await problem('/api/nothing')).toMatchObject({ code: 'not_found' })
  })

  test('a single one has header, children, issues and the resume command', async () => {
    const { data } = await get(`/api/sessions/${idOf(OWN_SESSION)}`, 'SessionReply')
    expect(data).toMatchObject({
      record_count: 8,
      issues: [{ line: 9 }],
      resume: { command: `cd /w/app && codex resume 019c0000-0000-7000-8000-000000000001` },
      has_state: false,
    })
    const parent = (await get(`/api/sessions/${idOf(PARENT)}`, 'SessionReply')).data
    expect(parent.children.map((one: Reply) => one.id)).toEqual([CHILD])
  })

  test('return the specified message on request', async () => {
    const original = (await get(`/api/sessions/${idOf(OWN_SESSION)}?variant=original`, 'SessionReply')).data.messages
    const character = (await get(`/api/sessions/${idOf(OWN_SESSION)}?variant=sanitized`, 'SessionReply')).data.messages
    expect(original[1].segments[0].text).toBe('Look at **this**, <b>please</b>.')
    expect(character[1].segments[0].text).toBe('Look at **this**, <strong>please</strong>.')
  })
})

describe('annotations', () => {
  test('are created, changed and reported', async () => {
    const put = (body: unknown): Promise<Response> =>
      served().ask(`/api/sessions/${idOf(KETTLE)}/mark`, {
        method: 'PUT',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      })
    expect(await (await put({ name: 'La Paz', starred: true, tags: ['b', 'a'] })).json()).toEqual({
      data: { name: 'La Paz', starred: true, tags: ['a', 'b'], note: null },
      meta: {},
    })
    expect(await (await put({ tags: ['c'], note: 'n' })).json()).toMatchObject({
      data: { name: 'La Paz', tags: ['c'], note: 'n' },
    })
    expect((await get('/api/sessions?starred=1')).data).toMatchObject([{ id: KETTLE, title: 'La Paz' }])
    expect((await get('/api/sessions?tag=c')).data).toHaveLength(1)
    expect((await get('/api/sessions?q=paz&since=2026-02-03')).data).toMatchObject([{ id: KETTLE }])
    expect((await get('/api/choices', 'ChoicesReply')).data.tags).toEqual([{ value: 'c', count: 1 }])
    expect((await put({ colour: 'red' })).status).toBe(400)
    expect((await put({ name: '', starred: false, tags: [], note: '' })).status).toBe(200)
    expect((await get('/api/sessions?starred=1')).data).toEqual([])
  })
})

test('a session whose source is gone is returned from the index', async () => {
  const gone = serve({ [rollout('gone')]: text(shortSession()) })
  await gone.app.sync()
  const path = gone.write(rollout('gone'), '')
  await gone.app.sync()
  expect(path).toBeTruthy()
  const { data } = await gone.get<Reply>('/api/sessions')
  for (const { id } of data) {
    const window = await gone.get<Reply>(`/api/sessions/${idOf(id)}/messages`, 'WindowReply')
    for (const one of window.data) expect(one.gone).toEqual(expect.any(String))
  }
  await gone.close()
})

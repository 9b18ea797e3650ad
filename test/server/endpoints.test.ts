/** Every endpoint, asked as a client asks: real logs, a real index, no mocks. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rollout } from '../archive/house.ts'
import { assistant, call, header, line, result, talk, text, user } from '../support/log.ts'
import { idOf, type Reply, type Served, samples, serve } from './served.ts'

const KETTLE = 'codex:019c22d1-6a00-7000-8000-000000000001'
const PARENT = 'codex:019c22d1-6a00-7000-8000-000000000003'
const CHILD = 'codex:019c22d1-6a00-7000-8000-000000000004'
const SEALED = 'gAAAAABsealed-words-that-nobody-may-see'
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const LONG = 'a long line of output\n'.repeat(20_000)
const OWN = 'codex:019c0000-0000-7000-8000-000000000001'

const own = text([
  header(),
  user(1, 'Look at **this**, <b>please</b>.'),
  line(2, 'response_item', {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` }],
  }),
  line(3, 'response_item', { type: 'reasoning', summary: [], encrypted_content: SEALED }),
  call(4, 'call_1', { command: ['bash', '-lc', 'seq 1'] }),
  result(5, 'call_1', LONG),
  call(6, 'call_2', { command: ['bash', '-lc', 'sleep 1'] }),
  assistant(7, 'Done: `ok`.'),
  '{"damaged',
])

let served: Served
beforeAll(async () => {
  served = serve({ ...samples(), [rollout('own', 'sessions/2026/02/04')]: own })
  await served.house.sync()
})
afterAll(() => served.close())

const get = (path: string, shape?: string): Promise<Reply> => served.get(path, shape)
const problem = async (path: string, init?: RequestInit): Promise<Reply> => {
  const response = await served.ask(path, init)
  const { errors } = (await response.json()) as Reply
  expect(errors[0].status).toBe(response.status)
  return errors[0]
}

describe('sessions', () => {
  test('come newest first, children folded, with all that a line of the list shows', async () => {
    const { data, meta } = await get('/api/sessions', 'SessionsReply')
    expect(data.map((one: Reply) => one.id)).toEqual([PARENT, OWN, KETTLE])
    expect(data[2]).toMatchObject({
      title: expect.stringContaining('The kettle simulator'),
      cwd: '/home/aki/kettle',
      branch: 'main',
      turn_count: 3,
      tool_count: 7,
      error_count: 1,
      usage: { total_tokens: 52_116 },
      cost: { usd: expect.closeTo(0.0455, 3), unpriced_tokens: 0 },
      duration_seconds: 169,
      live: false,
      issue_count: 0,
    })
    expect(data[0]).toMatchObject({ child_count: 1 })
    expect(data[1]).toMatchObject({ issue_count: 1 })
    expect(meta).toMatchObject({ pagination: { total_count: 3, next_cursor: null }, index: { sessions: 4 } })
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
    ['until=2026-02-03', [OWN, KETTLE]],
    ['since=2026-02-10', [PARENT]],
    ['q=boils', [KETTLE]],
    ['role=user,tool', [PARENT, OWN, KETTLE]],
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
    expect(await problem('/api/sessions/codex:none')).toMatchObject({ code: 'session_not_found' })
    expect(await problem('/api/nothing')).toMatchObject({ code: 'not_found' })
  })

  test('one of them tells its header, children, damage and how to go on', async () => {
    const { data } = await get(`/api/sessions/${idOf(OWN)}`, 'SessionReply')
    expect(data).toMatchObject({
      record_count: 8,
      issues: [{ line: 9 }],
      resume: { command: `cd /w/app && codex resume 019c0000-0000-7000-8000-000000000001` },
      has_state: false,
    })
    const parent = (await get(`/api/sessions/${idOf(PARENT)}`, 'SessionReply')).data
    expect(parent.children.map((one: Reply) => one.id)).toEqual([CHILD])
  })

  test('give the letter of the specification where it is asked for', async () => {
    const original = (await get(`/api/sessions/${idOf(OWN)}?variant=original`, 'SessionReply')).data.messages
    const letter = (await get(`/api/sessions/${idOf(OWN)}?variant=sanitized`, 'SessionReply')).data.messages
    expect(original[1].segments[0].text).toBe('Look at **this**, <b>please</b>.')
    expect(letter[1].segments[0].text).toBe('Look at **this**, <strong>please</strong>.')
  })
})

describe('marks', () => {
  test('are made, change, and are told', async () => {
    const put = (body: unknown): Promise<Response> =>
      served.ask(`/api/sessions/${idOf(KETTLE)}/mark`, {
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

describe('messages', () => {
  const messages = (query = '', id = OWN): Promise<Reply> =>
    get(`/api/sessions/${idOf(id)}/messages${query}`, 'WindowReply')

  test('come in windows from any place, each with its offset', async () => {
    const all = await messages('?limit=500', KETTLE)
    expect(all.meta).toMatchObject({ offset: 0, total: 49 })
    expect(all.data.map((one: Reply) => one.offset)).toEqual(Array.from({ length: 49 }, (_, at) => at))
    const ids = all.data.map((one: Reply) => one.id)
    for (const [query, offset] of [
      ['offset=30&limit=5', 30],
      ['before=end&limit=5', 44],
      [`after=${idOf(ids[9])}&limit=5`, 10],
      [`before=${idOf(ids[9])}&limit=5`, 4],
      [`around=${idOf(ids[20])}&limit=5`, 18],
      ['offset=48', 48],
    ] as const) {
      const window = await messages(`?${query}`, KETTLE)
      expect(window.meta).toMatchObject({ offset, total: 49 })
      expect(window.data.map((one: Reply) => one.id)).toEqual(ids.slice(offset, offset + window.data.length))
      // A window shows the same whatever is around it.
      expect(window.data).toEqual(all.data.slice(offset, offset + window.data.length))
    }
    expect(await messages('?offset=1000', KETTLE)).toMatchObject({ data: [], meta: { offset: 49, total: 49 } })
    expect(await problem(`/api/sessions/${idOf(OWN)}/messages?offset=1&before=end`)).toMatchObject({
      code: 'invalid_parameters',
    })
  })

  test('are shown for what they are', async () => {
    const { data } = await messages()
    expect(data.map((one: Reply) => one.show)).toEqual([
      'session',
      'prompt',
      'prompt',
      'reasoning',
      'tool',
      'joined',
      'tool',
      'answer',
    ])
    expect(data[1].segments[0]).toMatchObject({
      text: 'Look at **this**, <b>please</b>.',
      html: '<p>Look at <strong>this</strong>, <strong>please</strong>.</p>\n',
    })
    expect((await messages('?variant=sanitized')).data[1].segments[0]).toEqual({
      channel: 'input',
      type: 'text',
      format: 'input_text',
      text: 'Look at **this**, <strong>please</strong>.',
    })
  })

  test('join calls with their results, and leave out what is long', async () => {
    const { data } = await messages()
    const [, , , , asked, answered, open] = data
    expect(asked.tool_call).toMatchObject({
      status: 'success',
      gist: 'seq 1',
      arguments_json: { command: ['bash', '-lc', 'seq 1'] },
      joined: answered.id,
    })
    expect(asked.tool_call.output.length).toBeLessThan(LONG.length / 10)
    expect(LONG.startsWith(asked.tool_call.output)).toBe(true)
    expect(asked.left_out).toEqual([{ field: 'tool_call.output', bytes: LONG.length, url: expect.any(String) }])
    expect(await (await served.ask(asked.left_out[0].url)).text()).toBe(LONG)
    expect(answered.tool_call).toMatchObject({ joined: asked.id })
    expect(answered.tool_call.output).toBeUndefined()
    expect(open.tool_call).toMatchObject({ status: 'pending' })
    const whole = await get(`/api/sessions/${idOf(OWN)}/messages/${idOf(asked.id)}`, 'MessageReply')
    expect(whole.data.tool_call.output).toBe(LONG)
  })

  test('tell reasoning by hash and length, wherever they are asked', async () => {
    const { data } = await messages()
    expect(data[3].reasoning).toEqual({
      encrypted: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: SEALED.length },
    })
    const raw = await get(`/api/sessions/${idOf(OWN)}/messages/${idOf(data[3].id)}/raw`, 'RawReply')
    expect(raw.data).toMatchObject({ line: 4, masked: 1 })
    expect(raw.data.records[0].payload).toEqual({
      type: 'reasoning',
      summary: [],
      encrypted_content: { sha256: data[3].reasoning.encrypted.sha256, bytes: SEALED.length },
    })
    const address = `/api/sessions/${idOf(OWN)}`
    for (const path of [
      '/messages',
      '/messages?variant=sanitized&inline=media',
      `/messages/${idOf(data[3].id)}`,
      `/messages/${idOf(data[3].id)}/raw`,
      '?variant=original',
      '/totals',
      '/export?format=json&all=1',
      '/export?format=html&all=1',
    ])
      expect(await (await served.ask(address + path)).text()).not.toContain(SEALED)
  })

  test('have images as files, and in themselves only where that is asked for', async () => {
    const { media } = (await messages()).data[2].segments[0]
    expect(media).toEqual({ url: expect.stringMatching(/^\/api\/media\//), mime_type: 'image/png', size_bytes: 70 })
    const image = await served.ask(media.url)
    expect(image.headers.get('content-type')).toBe('image/png')
    expect(Buffer.from(await image.arrayBuffer()).toString('base64')).toBe(PIXEL)
    const inline = (await messages('?inline=media')).data[2].segments[0].media
    expect(inline.data_uri).toBe(`data:image/png;base64,${PIXEL}`)
    for (const id of [
      'x',
      Buffer.from('[1,2,3]').toString('base64url'),
      Buffer.from(JSON.stringify([OWN, 'x', 0])).toString('base64url'),
    ])
      expect((await served.ask(`/api/media/${id}`)).status).toBe(404)
  })

  test('that are not there are not found', async () => {
    expect(await problem(`/api/sessions/${idOf(OWN)}/messages/none`)).toMatchObject({ code: 'message_not_found' })
    expect(await problem(`/api/sessions/${idOf(OWN)}/messages/none/raw`)).toMatchObject({ code: 'message_not_found' })
    const id = idOf('2026-02-03T09:15:01.000Z#2')
    expect(await problem(`/api/sessions/${idOf(OWN)}/messages/${id}/field?name=constructor`)).toMatchObject({
      code: 'message_not_found',
    })
  })
})

describe('a session as a whole', () => {
  test('turns name prompts, offsets, tokens, tools and errors', async () => {
    const { data, meta } = await get(`/api/sessions/${idOf(KETTLE)}/turns`, 'TurnsReply')
    expect(meta).toMatchObject({ total_messages: 49, complete: true })
    expect(data).toMatchObject([
      {
        number: 1,
        offset: 5,
        message_count: 15,
        tool_count: 2,
        error_count: 0,
        usage: { total_tokens: 17_490 },
        rolled_back: false,
      },
      {
        number: 2,
        offset: 20,
        message_count: 23,
        tool_count: 5,
        error_count: 1,
        prompt: 'Yes please, with a test for La Paz.',
      },
      { number: 3, offset: 43, message_count: 6, usage: { total_tokens: 12_696 } },
    ])
    const { data: window } = await get(`/api/sessions/${idOf(KETTLE)}/messages?offset=20&limit=1`)
    expect(window[0]).toMatchObject({ id: data[1].message_id, show: 'prompt' })
  })

  test('its shape has a letter for each message', async () => {
    const { data } = await get(`/api/sessions/${idOf(OWN)}/shape`, 'ShapeReply')
    expect(data).toMatchObject({ total: 8, shape: 'huuxcrca' })
  })

  test('totals add up to what the list says', async () => {
    const { data } = await get(`/api/sessions/${idOf(KETTLE)}/totals`, 'SessionTotalsReply')
    expect(data.usage.total_tokens).toBe(52_116)
    expect(data.turns.reduce((sum: number, turn: Reply) => sum + turn.usage.total_tokens, 0)).toBe(52_116)
    expect(data.tools[0]).toMatchObject({ tool: 'shell_command', calls: 4 })
    expect(data.events).toContainEqual(expect.objectContaining({ event_kind: 'token_count', count: 5 }))
    expect(data.files.map((one: Reply) => one.path)).toContain('src/boil.ts')
    expect(data.encrypted).toMatchObject({ records: 2 })
  })

  test('every place that says it is found in order', async () => {
    const { data, meta } = await get(`/api/sessions/${idOf(KETTLE)}/find?q=boil`, 'FindReply')
    expect(meta).toMatchObject({ total: data.length, complete: true })
    expect(data.length).toBeGreaterThan(2)
    const all = (await get(`/api/sessions/${idOf(KETTLE)}/messages?limit=500`)).data
    for (const { offset, message_id } of data) expect(all[offset].id).toBe(message_id)
    expect(data.map((one: Reply) => one.offset)).toEqual(
      data.map((one: Reply) => one.offset).toSorted((a: number, b: number) => a - b),
    )
    const pattern = await get(`/api/sessions/${idOf(KETTLE)}/find?q=${idOf('/BOILING_[A-Z]+/')}`, 'FindReply')
    expect(pattern.data.length).toBeGreaterThan(0)
    expect((await get(`/api/sessions/${idOf(KETTLE)}/find?q=nowhere`)).data).toEqual([])
  })

  test('has a state only where the agent keeps one', async () => {
    expect(await problem(`/api/sessions/${idOf(OWN)}/state`)).toMatchObject({ code: 'not_possible' })
  })
})

describe('search', () => {
  test('finds hits with their sessions', async () => {
    const { data, meta } = await get('/api/search?q=boils&scope=prompts', 'SearchReply')
    expect(data[0]).toMatchObject({ session_id: KETTLE, scope: 'prompt' })
    const { snippet, highlights } = data[0]
    expect(snippet.slice(highlights[0].start, highlights[0].end)).toBe('boils')
    expect(meta).toMatchObject({ total_is: 'exact', sessions: [{ id: KETTLE }] })
  })

  test('goes on where it stopped', async () => {
    const first = await get('/api/search?q=test&limit=3', 'SearchReply')
    const rest = await get(`/api/search?q=test&limit=200&after=${first.meta.next}`, 'SearchReply')
    const all = await get('/api/search?q=test&limit=200', 'SearchReply')
    expect([...first.data, ...rest.data]).toEqual(all.data)
  })

  test.each(['stream=1', 'deep=1'])('%s gives lines, of which the last says that it was all', async (how) => {
    const response = await served.ask(`/api/search?q=test&${how}`)
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
      complete: how === 'deep=1',
    })
    // A session is introduced once, before its first hit.
    const sessions = lines.filter(({ kind }) => kind === 'session').map(({ session }) => session.id)
    expect(sessions.length).toBe(new Set(sessions).size)
  })

  test('says what it did not understand, also of a stream', async () => {
    for (const how of ['', '&stream=1', '&deep=1'])
      expect(await problem(`/api/search?q=%22open${how}`)).toMatchObject({ code: 'invalid_query' })
    expect(await problem('/api/search')).toMatchObject({ code: 'invalid_parameters' })
  })

  test('files are found by their end, and none is opened', async () => {
    const { data, meta } = await get('/api/files?path=boil.ts', 'FilesReply')
    expect(meta.total).toBe(data.length)
    expect(data[0]).toMatchObject({ session_id: KETTLE, how: 'updated' })
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

  test('tables for a spreadsheet', async () => {
    for (const table of ['series', 'models', 'projects', 'agents', 'sessions', 'tools', 'activity']) {
      const response = await served.ask(`/api/stats/export.csv?table=${table}`)
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
    const first = await served.ask('/api/sync', { method: 'POST' })
    expect(first.status).toBe(202)
    expect(await problem('/api/sync', { method: 'POST' })).toMatchObject({ code: 'sync_in_progress', status: 409 })
    await expect
      .poll(async () => (await get('/api/sync', 'SyncReply')).data)
      .toMatchObject({ status: 'idle', outcome: { kind: 'synced' } })
  })
})

describe('exports', () => {
  test.each(['md', 'html', 'txt', 'json', 'sft'])('%s', async (format) => {
    const response = await served.ask(`/api/sessions/${idOf(KETTLE)}/export?format=${format}`)
    expect(response.headers.get('content-disposition')).toContain('attachment')
    expect(await response.text()).toContain('La Paz')
  })

  test('only some turns, and without what must not leave the house', async () => {
    const address = `/api/sessions/${idOf(KETTLE)}/export?format=txt`
    const second = await (await served.ask(`${address}&turns=2`)).text()
    expect(second).toContain('Yes please')
    expect(second).not.toContain('Lovely')
    expect(await problem(`${address}&turns=x`)).toMatchObject({ code: 'invalid_parameters' })
    expect(await (await served.ask(`${address}&redact=1`)).text()).not.toContain('/home/aki')
  })
})

test('a session whose source is gone is still told as far as the index knows it', async () => {
  const gone = serve({ [rollout('gone')]: text(talk()) })
  await gone.house.sync()
  const path = gone.write(rollout('gone'), '')
  await gone.house.sync()
  expect(path).toBeTruthy()
  const { data } = await gone.get<Reply>('/api/sessions')
  for (const { id } of data) {
    const window = await gone.get<Reply>(`/api/sessions/${idOf(id)}/messages`, 'WindowReply')
    for (const one of window.data) expect(one.gone).toEqual(expect.any(String))
  }
  await gone.close()
})

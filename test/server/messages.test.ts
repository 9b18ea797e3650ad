/** Windows of messages, single messages, their parts and their sources. */
import { describe, expect, test } from 'vitest'
import { header, THREAD, text, user } from '../support/codex-log.ts'
import { rollout } from '../support/test-home.ts'
import { ENCRYPTED_TEXT, KETTLE, LONG_OUTPUT, OWN_SESSION, PIXEL, sampleServer } from './sample-server.ts'
import { idOf, type Reply, serve } from './test-server.ts'

const { served, get, problem } = sampleServer()

describe('messages', () => {
  const messages = (query = '', id = OWN_SESSION): Promise<Reply> =>
    get(`/api/sessions/${idOf(id)}/messages${query}`, 'WindowReply')

  test('are returned in windows from any offset', async () => {
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
      // A window has the same content whatever its bounds.
      expect(window.data).toEqual(all.data.slice(offset, offset + window.data.length))
    }
    expect(await messages('?offset=1000', KETTLE)).toMatchObject({ data: [], meta: { offset: 49, total: 49 } })
    expect(await problem(`/api/sessions/${idOf(OWN_SESSION)}/messages?offset=1&before=end`)).toMatchObject({
      code: 'invalid_parameters',
    })
  })

  test('are classified for display', async () => {
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

  test('join calls with their results, and omit long texts', async () => {
    const { data } = await messages()
    const [, , , , asked, answered, open] = data
    expect(asked.tool_call).toMatchObject({
      status: 'success',
      gist: 'seq 1',
      arguments_json: { command: ['bash', '-lc', 'seq 1'] },
      joined: answered.id,
    })
    expect(asked.tool_call.output.length).toBeLessThan(LONG_OUTPUT.length / 10)
    expect(LONG_OUTPUT.startsWith(asked.tool_call.output)).toBe(true)
    expect(asked.left_out).toEqual([{ field: 'tool_call.output', bytes: LONG_OUTPUT.length, url: expect.any(String) }])
    expect(await (await served().ask(asked.left_out[0].url)).text()).toBe(LONG_OUTPUT)
    expect(answered.tool_call).toMatchObject({ joined: asked.id })
    expect(answered.tool_call.output).toBeUndefined()
    expect(open.tool_call).toMatchObject({ status: 'pending' })
    const whole = await get(`/api/sessions/${idOf(OWN_SESSION)}/messages/${idOf(asked.id)}`, 'MessageReply')
    expect(whole.data.tool_call.output).toBe(LONG_OUTPUT)
  })

  test('report encrypted reasoning by hash and length on every endpoint', async () => {
    const { data } = await messages()
    expect(data[3].reasoning).toEqual({
      encrypted: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: ENCRYPTED_TEXT.length },
    })
    const raw = await get(`/api/sessions/${idOf(OWN_SESSION)}/messages/${idOf(data[3].id)}/raw`, 'RawReply')
    expect(raw.data).toMatchObject({ line: 4, masked: 1 })
    expect(raw.data.records[0].payload).toEqual({
      type: 'reasoning',
      summary: [],
      encrypted_content: { sha256: data[3].reasoning.encrypted.sha256, bytes: ENCRYPTED_TEXT.length },
    })
    const address = `/api/sessions/${idOf(OWN_SESSION)}`
    for (const path of [
      '/messages',
      '/messages?variant=sanitized&inline=media',
      `/messages/${idOf(data[3].id)}`,
      `/messages/${idOf(data[3].id)}/raw`,
      '/lines/4',
      '/lines/9',
      '?variant=original',
      '/totals',
      '/export?format=json&all=1',
      '/export?format=html&all=1',
    ])
      expect(await (await served().ask(address + path)).text()).not.toContain(ENCRYPTED_TEXT)
  })

  test('are read from the backup when their file was replaced', async () => {
    const other = serve()
    await other.app.configure('keep', ['all'])
    other.write(rollout('log'), text([header(), user(1, 'Ours.'), '{"damaged in ours']))
    await other.app.sync()
    const next = header({ id: '019c0000-0000-7000-8000-000000000002' })
    other.write(rollout('log'), text([next, user(1, 'Theirs.'), '{"damaged in theirs', user(2, 'More.')]))
    await other.app.sync()
    await other.app.sync()
    const line = await other.get<Reply>(`/api/sessions/${idOf(`codex:${THREAD}`)}/lines/3`, 'LineReply')
    expect(line.data.text).toBe('{"damaged in ours')
    await other.close()
  })

  test('have raw lines, including damaged ones', async () => {
    const address = `/api/sessions/${idOf(OWN_SESSION)}/lines`
    const whole = (await get(`${address}/2`, 'LineReply')).data
    expect(whole).toMatchObject({ line: 2, text: null, records: [{ type: 'response_item' }] })
    const { issues } = (await get(`/api/sessions/${idOf(OWN_SESSION)}`)).data
    const damaged = (await get(`${address}/${issues[0].line}`, 'LineReply')).data
    expect(damaged).toMatchObject({ line: 9, records: [], masked: 1, cut: false })
    expect(damaged.text).toMatch(/^\{"damaged","encrypted_content":"\[sha256 [0-9a-f]{64}, \d+ bytes\]$/)
    for (const line of ['10', '0', '-1', 'x', '1e3'])
      expect(await problem(`${address}/${line}`)).toMatchObject({ code: 'not_found' })
  })

  test('have images as files, inline only on request', async () => {
    const { media } = (await messages()).data[2].segments[0]
    expect(media).toEqual({ url: expect.stringMatching(/^\/api\/media\//), mime_type: 'image/png', size_bytes: 70 })
    const image = await served().ask(media.url)
    expect(image.headers.get('content-type')).toBe('image/png')
    expect(Buffer.from(await image.arrayBuffer()).toString('base64')).toBe(PIXEL)
    const inline = (await messages('?inline=media')).data[2].segments[0].media
    expect(inline.data_uri).toBe(`data:image/png;base64,${PIXEL}`)
    for (const id of [
      'x',
      Buffer.from('[1,2,3]').toString('base64url'),
      Buffer.from(JSON.stringify([OWN_SESSION, 'x', 0])).toString('base64url'),
    ])
      expect((await served().ask(`/api/media/${id}`)).status).toBe(404)
  })

  test('that do not exist are not found', async () => {
    expect(await problem(`/api/sessions/${idOf(OWN_SESSION)}/messages/none`)).toMatchObject({
      code: 'message_not_found',
    })
    expect(await problem(`/api/sessions/${idOf(OWN_SESSION)}/messages/none/raw`)).toMatchObject({
      code: 'message_not_found',
    })
    const id = idOf('2026-02-03T09:15:01.000Z#2')
    expect(await problem(`/api/sessions/${idOf(OWN_SESSION)}/messages/${id}/field?name=constructor`)).toMatchObject({
      code: 'message_not_found',
    })
  })
})

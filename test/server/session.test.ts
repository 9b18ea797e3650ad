/** A complete session: turns, shape, totals, positions, exports. */
import { describe, expect, test } from 'vitest'
import { assistant, header, line, THREAD, text } from '../support/codex-log.ts'
import { rollout } from '../support/test-home.ts'
import { KETTLE, OWN_SESSION, sampleServer } from './sample-server.ts'
import { idOf, type Reply, serve } from './test-server.ts'

const { served, get, problem } = sampleServer()

describe('a session', () => {
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
    const { data } = await get(`/api/sessions/${idOf(OWN_SESSION)}/shape`, 'ShapeReply')
    expect(data).toMatchObject({ total: 8, shape: 'huuxcrca' })
  })

  test('totals equal those of the list', async () => {
    const { data } = await get(`/api/sessions/${idOf(KETTLE)}/totals`, 'SessionTotalsReply')
    expect(data.usage.total_tokens).toBe(52_116)
    expect(data.turns.reduce((sum: number, turn: Reply) => sum + turn.usage.total_tokens, 0)).toBe(52_116)
    expect(data.tools[0]).toMatchObject({ tool: 'shell_command', calls: 4 })
    expect(data.events).toContainEqual(expect.objectContaining({ event_kind: 'token_count', count: 5 }))
    expect(data.files.map((one: Reply) => one.path)).toContain('src/boil.ts')
    expect(data.encrypted).toMatchObject({ records: 2 })
  })

  test('an image that an item and its event both name counts once', async () => {
    const image_url = `data:image/png;base64,${Buffer.from('\x89PNG').toString('base64')}`
    const content = [
      { type: 'input_text', text: 'What is it?' },
      { type: 'input_image', image_url },
    ]
    const lines = [
      header(),
      line(1, 'response_item', { type: 'message', role: 'user', content }),
      line(1, 'event_msg', { type: 'user_message', message: 'What is it?', images: [image_url] }),
      assistant(2, 'A kettle.'),
    ]
    const other = serve({ [rollout('image')]: text(lines) })
    await other.app.sync()
    const { data } = await other.get<Reply>(`/api/sessions/${idOf(`codex:${THREAD}`)}/totals`, 'SessionTotalsReply')
    expect(data.images).toBe(1)
    await other.close()
  })

  test('all matches are found in order', async () => {
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

  test('has a state only if the agent has one', async () => {
    expect(await problem(`/api/sessions/${idOf(OWN_SESSION)}/state`)).toMatchObject({ code: 'not_possible' })
  })
})

test('secrets are listed by place', async () => {
  const { data } = await get(`/api/sessions/${idOf(KETTLE)}/secrets`, 'SecretsReply')
  expect(data).toEqual({ secrets: [] })
})

describe('exports', () => {
  test.each(['md', 'html', 'txt', 'json', 'sft'])('%s', async (format) => {
    const response = await served().ask(`/api/sessions/${idOf(KETTLE)}/export?format=${format}`)
    expect(response.headers.get('content-disposition')).toContain('attachment')
    expect(await response.text()).toContain('La Paz')
  })

  test('can be limited to turns and redacted', async () => {
    const address = `/api/sessions/${idOf(KETTLE)}/export?format=txt`
    const second = await (await served().ask(`${address}&turns=2`)).text()
    expect(second).toContain('Yes please')
    expect(second).not.toContain('Lovely')
    expect(await problem(`${address}&turns=x`)).toMatchObject({ code: 'invalid_parameters' })
    expect(await (await served().ask(`${address}&redact=1`)).text()).not.toContain('/home/aki')
  })
})

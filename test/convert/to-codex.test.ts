/** Conversations as logs that Codex lists, displays and resumes; and their conversion back. */
import { createReadStream, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { check } from '../../src/agents/codex/check/check-log.ts'
import { convertTo, messagesOf, recordsOf, writeSourceFile } from './conversions.ts'

interface Line {
  readonly type: string
  readonly payload: { readonly type?: string; readonly message?: string; readonly x_conv?: object }
}

const linesAt = (path: string): readonly Line[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

async function findingsAt(path: string): Promise<readonly string[]> {
  const found: string[] = []
  for await (const { rule } of check(() => createReadStream(path))) found.push(rule)
  return found
}

const shownIn = (lines: readonly Line[], type: string): readonly unknown[] =>
  lines.flatMap(({ payload }) => (payload.type === type ? [payload.message] : []))

describe('an image whose address is a path or an id', () => {
  const picture = (url: string) => ({ type: 'image_url', image_url: { url } })
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'Who is it?' }, picture('pictures/1.jpg'), picture('file-7')] },
    { role: 'assistant', content: 'A heron.' },
  ]
  const chat = JSON.stringify({ messages })

  test('becomes a note, which is reported', async () => {
    const there = await convertTo(await writeSourceFile('openai', chat), 'codex')
    expect(await findingsAt(there.path)).toEqual([])
    expect(shownIn(linesAt(there.path), 'user_message')).toEqual([
      'Who is it?\n[image: pictures/1.jpg]\n[image: file-7]',
    ])
    const { repairs } = there.report
    expect(repairs).toMatchObject([{ what: 'an image whose address no server takes became a note', times: 2 }])
  })

  test('is restored on the way back', async () => {
    const back = await convertTo(await convertTo(await writeSourceFile('openai', chat), 'codex'), 'openai')
    expect(JSON.parse(readFileSync(back.path, 'utf8'))).toMatchObject({ messages })
  })
})

test.each(['{"broken', '', 'ls -la', '"text"', '[1]'])(
  'arguments that are no object pass the checker without an error, and come back: %s',
  async (given) => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: given } }
    const messages = [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'Nothing.' },
      { role: 'assistant', content: 'Nothing there.' },
    ]
    const there = await convertTo(await writeSourceFile('openai', JSON.stringify({ messages })), 'codex')
    const errors: string[] = []
    for await (const { rule, severity } of check(() => createReadStream(there.path)))
      if (severity === 'error') errors.push(rule)
    expect(errors).toEqual([])
    const back = await convertTo(there, 'openai')
    expect(JSON.parse(readFileSync(back.path, 'utf8'))).toMatchObject({ messages })
  },
)

describe('a log from before the envelope', () => {
  const said = (role: string, type: string, ...texts: readonly string[]) => ({
    type: 'message',
    id: null,
    role,
    content: texts.map((text) => ({ type, text })),
  })
  const records = [
    { id: '5b1f0c52-0000-4000-8000-0000000000a1', timestamp: '2025-08-22T16:56:24.134Z', instructions: null },
    { record_type: 'state' },
    said('user', 'input_text', '<environment_context>\n/w\n</environment_context>'),
    said('user', 'input_text', 'List the files.', 'All of them.'),
    { record_type: 'state' },
    said('assistant', 'output_text', 'There are none.'),
    { record_type: 'state', last: true },
  ]
  const old = () => writeSourceFile('codex', records.map((one) => `${JSON.stringify(one)}\n`).join(''), '.jsonl')

  const oldText = records.map((one) => `${JSON.stringify(one)}\n`).join('')

  test('continued in a directory, is one that Codex lists: with an event for all that was typed and answered', async () => {
    const { path } = await convertTo(await old(), 'codex', { cwd: '/w' })
    expect(await findingsAt(path)).toEqual([])
    const lines = linesAt(path)
    expect(shownIn(lines, 'user_message')).toEqual(['List the files.\nAll of them.'])
    expect(shownIn(lines, 'agent_message')).toEqual(['There are none.'])
  })

  test('preserves other values in a line that Codex ignores', async () => {
    const there = await convertTo(await old(), 'codex', { cwd: '/w' })
    const last = linesAt(there.path).at(-1)
    expect(last).toMatchObject({ type: 'event_msg', payload: { type: 'token_count', info: null } })
    const states = (await recordsOf(there)).filter((one) => JSON.stringify(one).startsWith('{"record_type"'))
    expect(states).toEqual(records.filter((one) => 'record_type' in one))
  })

  test.each(['codex', 'openai', 'normalized', 'amazon-q', 'fumibako'])(
    'is identical byte for byte after a round trip over %s',
    async (form) => {
      const back = await convertTo(await convertTo(await old(), form), 'codex')
      expect(readFileSync(back.path, 'utf8')).toBe(oldText)
    },
  )

  test.each(['codex', 'openai', 'amazon-q'])('as one document, is identical byte for byte over %s', async (form) => {
    const [session, ...items] = records
    const text = JSON.stringify({ session, items }, null, 2)
    const back = await convertTo(await convertTo(await writeSourceFile('codex', text), form), 'codex')
    expect(readFileSync(back.path, 'utf8')).toBe(text)
  })

  test('continued by another program, keeps its form, with the new messages as items', async () => {
    const { path } = await convertTo(await old(), 'openai')
    const chat = JSON.parse(readFileSync(path, 'utf8'))
    chat.messages.push({ role: 'user', content: 'And below?' }, { role: 'assistant', content: 'One heron.' })
    const back = await convertTo(await writeSourceFile('openai', JSON.stringify(chat, null, 1)), 'codex')
    const text = readFileSync(back.path, 'utf8')
    expect(text.startsWith(oldText)).toBe(true)
    const added = text.slice(oldText.length).trimEnd().split('\n')
    expect(added.map((line) => JSON.parse(line))).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And below?' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'One heron.' }] },
    ])
    const again = await convertTo(await convertTo(back, 'normalized'), 'codex')
    expect(readFileSync(again.path, 'utf8')).toBe(text)
    expect((await messagesOf(back)).flatMap(({ segments }) => segments.map((one) => one.text))).toEqual([
      ...['<environment_context>\n/w\n</environment_context>', 'List the files.', 'All of them.'],
      ...['There are none.', 'And below?', 'One heron.'],
    ])
  })
})

describe('the spelling of numbers and the order of keys', () => {
  const limits = '{"primary":{"used_percent":17.0},"by_window":{"300":1,"60":2.50}}'
  const text = [
    '{"timestamp":"2026-01-02T03:04:05.678Z","type":"session_meta","payload":{"id":"019c22d1-0000-7000-8000-0000000000c0","timestamp":"2026-01-02T03:04:05.600Z","cwd":"/w","originator":"codex_cli_rs","cli_version":"0.100.0"}}',
    '{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Look."}]}}',
    `{"timestamp":"2026-01-02T03:04:07.000Z","type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":${limits}}}`,
  ]
    .map((line) => `${line}\n`)
    .join('')

  test.each(['codex', 'openai', 'normalized', 'amazon-q', 'fumibako'])('come back over %s', async (form) => {
    const there = await convertTo(await writeSourceFile('codex', text, '.jsonl'), form)
    const back = await convertTo(there, 'codex')
    expect(readFileSync(back.path, 'utf8')).toBe(text)
  })

  test('travel as facts, not as the original text', async () => {
    const there = await convertTo(await writeSourceFile('codex', text, '.jsonl'), 'openai')
    const written = readFileSync(there.path, 'utf8')
    expect(written).not.toContain(JSON.stringify(limits).slice(1, -1))
    expect(written).toContain('"/payload/rate_limits/primary/used_percent":"17.0"')
    expect(there.report.losses.map(({ path }) => path).filter((path) => path.includes('exact_json'))).toEqual([])
  })
})

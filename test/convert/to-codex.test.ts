/** Conversations as logs that Codex lists, displays and resumes; and their conversion back. */
import { createReadStream, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { check } from '../../src/agents/codex/check/check-log.ts'
import { convertTo, recordsOf, writeSourceFile } from './conversions.ts'

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

  test('is one that Codex lists: with an event for all that was typed and answered', async () => {
    const { path } = await convertTo(await old(), 'codex')
    expect(await findingsAt(path)).toEqual([])
    const lines = linesAt(path)
    expect(shownIn(lines, 'user_message')).toEqual(['List the files.\nAll of them.'])
    expect(shownIn(lines, 'agent_message')).toEqual(['There are none.'])
  })

  test('preserves other values in a line that Codex ignores', async () => {
    const there = await convertTo(await old(), 'codex')
    const last = linesAt(there.path).at(-1)
    expect(last).toMatchObject({ type: 'event_msg', payload: { type: 'token_count', info: null } })
    const states = (await recordsOf(there)).filter((one) => JSON.stringify(one).startsWith('{"record_type"'))
    expect(states).toEqual(records.filter((one) => 'record_type' in one))
  })

  test.each(['codex', 'openai', 'normalized'])(
    'is identical byte for byte after a round trip over %s',
    async (form) => {
      const there = await convertTo(await old(), 'codex')
      const back = await convertTo(await convertTo(there, form), 'codex')
      expect(readFileSync(back.path, 'utf8')).toBe(readFileSync(there.path, 'utf8'))
    },
  )
})

/** Files of conversations, read through the contract: damage, growth, many conversations, real files. */
import { appendFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Read, Source } from '../../src/agents/agent.ts'
import openai from '../../src/agents/openai/agent.ts'
import { serialize } from '../../src/model/serialize.ts'
import { readAll, roundTrip, scanAll, type Told } from '../support/fixtures.ts'
import { tempFolder, tempLog } from '../support/log.ts'
import { shared } from '../support/shared.ts'

const json = JSON.stringify
const sourceOf = (path: string): Source => ({ agent: openai.id, path })
const read = (content: string | Uint8Array, name = 'chat.jsonl') => readAll(openai, sourceOf(tempLog(content, name)))
const ask = (question: string, answer = 'Yes.') => [
  { role: 'user', content: question },
  { role: 'assistant', content: answer },
]
const example = (question: string, answer?: string): string => json({ messages: ask(question, answer) })
const codesOf = ({ issues }: Told): readonly string[] => issues.map(({ code }) => code)
const saidIn = ({ messages }: Told): readonly string[] =>
  messages.filter(({ role }) => role === 'user').map(({ segments }) => segments[0]?.text ?? '')

describe('a file of many conversations', () => {
  test('is one source with a session for each, told before its messages', async () => {
    const path = tempLog(`${example('One?')}\n${example('Two?')}\n${example('Three?')}\n`, 'chat.jsonl')
    const sources: Source[] = []
    for await (const source of openai.find(path)) sources.push(source)
    expect(sources).toEqual([{ agent: 'openai', path }])
    const { reads, sessions } = await readAll(openai, sourceOf(path))
    expect(sessions.map(({ first_prompt }) => first_prompt)).toEqual(['One?', 'Two?', 'Three?'])
    let open: string | undefined
    for (const one of reads) {
      if (one.kind === 'session') open = one.session.id
      if (one.kind === 'message') expect(one.message.raw.session_id).toBe(open)
    }
  })

  test('gives equal conversations names of their own, and the same names each time', async () => {
    const path = tempLog(`${example('Same?')}\n${example('Same?')}\n`, 'chat.jsonl')
    const first = await readAll(openai, sourceOf(path))
    expect(new Set(first.sessions.map(({ id }) => id)).size).toBe(2)
    expect((await readAll(openai, sourceOf(path))).reads).toEqual(first.reads)
  })

  test('in one JSON array of many chunks is read like one on lines', async () => {
    const all = Array.from({ length: 3000 }, (_, n) => ({
      messages: ask(`Question ${n}: ${'潮 "\\" '.repeat(n % 50)}?`),
    }))
    const list = await read(json(all, null, 1), 'list.json')
    const lines = await read(all.map((one) => json(one)).join('\n'))
    expect(saidIn(list)).toEqual(saidIn(lines))
    expect(list.issues).toEqual([])
    const cursors = list.reads.flatMap((one) => (one.kind === 'cursor' ? [one.cursor] : []))
    expect(cursors.length).toBeGreaterThan(0)
  })
})

describe('a conversation that grows', () => {
  const grown = [...ask('First?'), ...ask('Second?')]

  test.each([
    ['a list', 'chat.json', (messages: object[]) => json(messages, null, 2)],
    ['a list on one line', 'chat.json', (messages: object[]) => json(messages)],
    ['an object', 'chat.json', (messages: object[]) => json({ messages, tools: [] }, null, 2)],
  ])('keeps its name and the ids of its messages: %s', async (_, name, write) => {
    const path = tempLog(write(ask('First?')), name)
    const first_seen = '2026-01-02T03:04:05.000Z' as never
    const before = await readAll(openai, { ...sourceOf(path), first_seen })
    writeFileSync(path, write(grown))
    const after = await readAll(openai, { ...sourceOf(path), first_seen })
    expect(after.session?.id).toBe(before.session?.id)
    expect(after.messages.slice(0, before.messages.length)).toEqual(before.messages)
    expect(after.messages.length).toBe(before.messages.length + 2)
  })

  test('lines that are appended are read from the cursor on, with the ids that they would have had', async () => {
    const path = tempLog(`${example('One?')}\n`, 'chat.jsonl')
    const first = await readAll(openai, sourceOf(path))
    const from = first.reads.flatMap((one) => (one.kind === 'cursor' ? [one.cursor] : [])).at(-1)
    appendFileSync(path, `${example('Two?')}\n`)
    const more = await readAll(openai, sourceOf(path), roundTrip(from))
    expect(saidIn(more)).toEqual(['Two?'])
    expect(more.messages[0]?.timestamp).toBe(first.messages[0]?.timestamp)
    expect(more.messages[0]?.id).toMatch(/#2$/)
  })

  test('a file that was replaced is read anew, and that is said', async () => {
    const path = tempLog(`${example('One?')}\n`, 'chat.jsonl')
    const from = (await readAll(openai, sourceOf(path))).reads.flatMap((one) =>
      one.kind === 'cursor' ? [one.cursor] : [],
    )
    writeFileSync(path, `${example('Other?')}\n${example('Two?')}\n`)
    const again = await readAll(openai, sourceOf(path), from.at(-1))
    expect(codesOf(again)).toEqual(['changed_while_read'])
    expect(saidIn(again)).toEqual(['Other?', 'Two?'])
  })

  test('a file that is replaced while it is read is read to its end and reported', async () => {
    const path = tempLog(Array.from({ length: 2000 }, (_, n) => example(`${n}?`)).join('\n'), 'chat.jsonl')
    const reads: Read[] = []
    for await (const batch of openai.read(sourceOf(path))) {
      if (reads.length === 0) {
        writeFileSync(`${path}.new`, example('New?'))
        renameSync(`${path}.new`, path)
      }
      reads.push(...batch)
    }
    const issues = reads.flatMap((one) => (one.kind === 'issue' ? [one.issue.code] : []))
    expect(issues).toEqual(['changed_while_read'])
    expect(reads.filter(({ kind }) => kind === 'session')).toHaveLength(2000)
  })
})

describe('a damaged file keeps all that is whole', () => {
  test('a list that is cut short gives the conversations before, and the whole messages of the last', async () => {
    const text = json([{ messages: ask('One?') }, { messages: [...ask('Two?'), ...ask('Three?')] }])
    const found = await read(text.slice(0, text.indexOf('Three?')), 'list.json')
    expect(saidIn(found)).toEqual(['One?', 'Two?'])
    expect(codesOf(found)).toEqual(['cut_short'])
  })

  test('a bad element of a list is skipped, what follows the list is named', async () => {
    const found = await read(`[${example('One?')}, {"messages": nonsense}, 7, ${example('Two?')}] [1]`, 'list.json')
    expect(saidIn(found)).toEqual(['One?', 'Two?'])
    expect(codesOf(found)).toEqual(['bad_json', 'not_an_object', 'glued'])
    expect(found.issues.map(({ line }) => line)).toEqual([2, 3, undefined])
  })

  test('NULs, a byte order mark and white space around a document are no damage to it', async () => {
    const found = await read(`\uFEFF\r\n${json(ask('One?'), null, 2)}\r\n\0\0`, 'chat.json')
    expect(saidIn(found)).toEqual(['One?'])
    expect(codesOf(found)).toEqual(['nul_bytes'])
  })

  test('a document of several objects gives all of them', async () => {
    const found = await read(
      `${json({ messages: ask('One?') }, null, 2)}\n${json({ messages: ask('Two?') }, null, 2)}\n`,
      'chat.json',
    )
    expect(saidIn(found)).toEqual(['One?', 'Two?'])
    expect(codesOf(found)).toEqual(['glued'])
  })

  test('nesting deeper than a stack', async () => {
    const deep = '['.repeat(50_000) + ']'.repeat(50_000)
    const found = await read(
      [
        `{"messages":[{"role":"user","content":"One?","x":${deep}}]}`,
        `{"messages":[{"role":"user","content":${deep}}]}`,
        `{"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":${deep}}}]}]}`,
        example('Two?'),
      ].join('\n'),
    )
    expect(saidIn(found)).toContain('Two?')
    for (const message of found.messages) expect(JSON.parse(serialize(message).json)).toHaveProperty('id')
  })

  test('names that mean something to objects are words like others', async () => {
    const found = await read(
      `{"messages":[{"role":"constructor","content":"x"},{"role":"user","content":"One?","__proto__":{"role":"tool"},"toString":1}],"hasOwnProperty":2}\n`,
    )
    expect(found.messages.map(({ role }) => role)).toEqual(['meta', 'meta', 'user'])
    expect(found.messages[2]?.metadata?.['extra']).toMatchObject({ toString: 1 })
  })

  test('a file that is gone, and a folder in its place', async () => {
    const folder = tempFolder()
    for (const path of [join(folder, 'none.jsonl'), folder]) {
      expect(codesOf(await readAll(openai, sourceOf(path)))).toEqual(['unreadable'])
      expect((await scanAll(openai, sourceOf(path))).map(({ kind }) => kind)).toEqual(['issue'])
    }
  })
})

describe('laws', () => {
  const whole = Buffer.from(
    [example('One?'), example('Two?', '"\\"'), json(ask('Three?')), example('Four?')].join('\n'),
  )

  test('any mutation behind the first line is read without throwing, and every line is accounted for', async () => {
    const path = tempLog('', 'chat.jsonl')
    const first = whole.indexOf(10) + 1
    const change = fc.record({
      at: fc.integer({ min: first, max: whole.length - 1 }),
      bytes: fc.uint8Array({ maxLength: 6 }),
      drop: fc.nat(12),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        let bytes = whole
        for (const { at, bytes: more, drop } of changes)
          bytes = Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at + drop)])
        writeFileSync(path, bytes)
        const { messages, issues } = await readAll(openai, sourceOf(path))
        await scanAll(openai, sourceOf(path))
        const accounted = new Set([...messages.map(({ raw }) => raw.line_index), ...issues.map(({ line }) => line)])
        for (const [index, one] of bytes.toString('latin1').split('\n').entries()) {
          const text = Buffer.from(one, 'latin1').toString('utf8')
          if (/[^\s\0\uFEFF]/.test(text)) expect(accounted).toContain(index + 1)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('a first line that lost its end is one bad line', async () => {
    for (let cut = 1; cut < 20; cut++) {
      const found = await read(`${example('One?').slice(0, -cut)}\n${example('Two?')}\n${example('Three?')}\n`)
      expect({ said: saidIn(found), codes: codesOf(found) }).toEqual({ said: ['Two?', 'Three?'], codes: ['bad_json'] })
    }
  })

  test('any bytes are read without throwing', async () => {
    const path = tempLog('', 'chat.json')
    const start = fc.constantFrom('', '[', '{', '[{"messages":', '{"messages":[{"role":"user"', '\uFEFF[')
    await fc.assert(
      fc.asyncProperty(start, fc.uint8Array({ maxLength: 300 }), async (text, more) => {
        const bytes = Buffer.concat([Buffer.from(text), more])
        writeFileSync(path, bytes)
        await readAll(openai, sourceOf(path))
        await scanAll(openai, sourceOf(path))
        openai.recognise(bytes, path)
      }),
      { numRuns: 300 },
    )
  })
})

const corpus = shared('corpus', 'openai')

describe.skipIf(!corpus)('the corpus', () => {
  const paths = corpus ? readdirSync(corpus).filter((name) => /\.jsonl?$/.test(name)) : []
  const ours = paths.filter((name) => !/NOT_messages|taubench/.test(name)).map((name) => join(corpus ?? '', name))

  test('is found by its content', async () => {
    const found: string[] = []
    for await (const { path } of openai.find(corpus ?? '')) found.push(path)
    expect(found).toEqual(ours)
  })

  test.each(ours)('%s is read whole, and each message is found again at its place', async (path) => {
    const { messages, issues, reads } = await readAll(openai, sourceOf(path))
    expect(issues).toEqual([])
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
    const given = reads.filter((one) => one.kind === 'message')
    for (let at = 0; at < given.length; at += 1 + Math.floor(given.length / 40)) {
      const one = given[at]
      if (one) expect(await openai.body(sourceOf(path), roundTrip(one.locator))).toEqual(one.message)
    }
  })

  test.each(ours)('%s holds every word in its messages', async (path) => {
    const { messages } = await readAll(openai, sourceOf(path))
    const told = new Set(
      messages.flatMap(({ segments, tool_call, metadata }) => [
        ...segments.map(({ text }) => text),
        tool_call?.output,
        metadata?.['reasoning_text'],
      ]),
    )
    const lost = wordsIn(readFileSync(path, 'utf8')).filter((text) => !told.has(text))
    expect(lost.slice(0, 3)).toEqual([])
  })

  test('other agents keep what is theirs', () => {
    for (const folder of ['codex', 'amazon-q', 'kiro']) {
      const root = shared('corpus', folder)
      const files = root ? readdirSync(root, { recursive: true, withFileTypes: true }) : []
      for (const entry of files) {
        if (!entry.isFile()) continue
        const path = join(entry.parentPath, entry.name)
        expect(openai.recognise(readFileSync(path).subarray(0, 65_536), path), path).toBe(false)
      }
    }
  })
})

/** All that was said in a file, by a reader that knows only where words stand; calls are looked at elsewhere. */
function wordsIn(text: string): readonly string[] {
  const words: string[] = []
  const visit = (value: unknown, key: string): void => {
    if (Array.isArray(value)) for (const one of value) visit(one, key)
    else if (typeof value === 'string') {
      if (WORDS.has(key) && value.trim() !== '') words.push(value)
    } else if (typeof value === 'object' && value !== null) {
      const { from, type } = value as { from?: string; type?: string }
      if (from === 'function_call' || type === 'tool_call' || type === 'function' || type === 'image_url') return
      for (const [name, inner] of Object.entries(value)) if (name !== 'tools') visit(inner, name)
    }
  }
  const values = text.trimStart().startsWith('[')
    ? [JSON.parse(text)]
    : text
        .split('\n')
        .filter((one) => one.trim() !== '')
        .map((one) => JSON.parse(one) as unknown)
  for (const value of values) visit(value, '')
  return words
}

const WORDS = new Set(['content', 'value', 'parts', 'text'])

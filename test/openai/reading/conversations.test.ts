/** Files of conversations, read through the contract: several in one file, and growing files. */
import { appendFileSync, renameSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { ReadItem, Source } from '../../../src/agents/agent.ts'
import openai from '../../../src/agents/openai/agent.ts'
import { tempLog } from '../../support/codex-log.ts'
import { readAll, roundTrip } from '../../support/fixtures.ts'
import { codesOf, exampleLine, exchange, json, read, sourceOf, textsIn } from './test-files.ts'

describe('a file of many conversations', () => {
  test('is one source with a session for each, reported before its messages', async () => {
    const path = tempLog(`${exampleLine('One?')}\n${exampleLine('Two?')}\n${exampleLine('Three?')}\n`, 'chat.jsonl')
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

  test('gives equal conversations distinct and stable names', async () => {
    const path = tempLog(`${exampleLine('Same?')}\n${exampleLine('Same?')}\n`, 'chat.jsonl')
    const first = await readAll(openai, sourceOf(path))
    expect(new Set(first.sessions.map(({ id }) => id)).size).toBe(2)
    expect((await readAll(openai, sourceOf(path))).reads).toEqual(first.reads)
  })

  test('in one JSON array of many chunks is read like one on lines', async () => {
    const all = Array.from({ length: 3000 }, (_, n) => ({
      messages: exchange(`Question ${n}: ${'潮 "\\" '.repeat(n % 50)}?`),
    }))
    const list = await read(json(all, null, 1), 'list.json')
    const lines = await read(all.map((one) => json(one)).join('\n'))
    expect(textsIn(list)).toEqual(textsIn(lines))
    expect(list.issues).toEqual([])
    const cursors = list.reads.flatMap((one) => (one.kind === 'cursor' ? [one.cursor] : []))
    expect(cursors.length).toBeGreaterThan(0)
  })
})

describe('a conversation that grows', () => {
  const grown = [...exchange('First?'), ...exchange('Second?')]

  test.each([
    ['a list', 'chat.json', (messages: object[]) => json(messages, null, 2)],
    ['a list on one line', 'chat.json', (messages: object[]) => json(messages)],
    ['an object', 'chat.json', (messages: object[]) => json({ messages, tools: [] }, null, 2)],
  ])('keeps its name and the ids of its messages: %s', async (_, name, write) => {
    const path = tempLog(write(exchange('First?')), name)
    const before = await readAll(openai, sourceOf(path))
    writeFileSync(path, write(grown))
    const after = await readAll(openai, sourceOf(path))
    expect(after.session?.id).toBe(before.session?.id)
    expect(after.messages.slice(0, before.messages.length)).toEqual(before.messages)
    expect(after.messages.length).toBe(before.messages.length + 2)
  })

  test('lines that are appended are read from the cursor on, with the ids that they would have had', async () => {
    const path = tempLog(`${exampleLine('One?')}\n`, 'chat.jsonl')
    const first = await readAll(openai, sourceOf(path))
    const from = first.reads.flatMap((one) => (one.kind === 'cursor' ? [one.cursor] : [])).at(-1)
    appendFileSync(path, `${exampleLine('Two?')}\n`)
    const more = await readAll(openai, sourceOf(path), roundTrip(from))
    expect(textsIn(more)).toEqual(['Two?'])
    expect(more.messages[0]?.timestamp).toBe(first.messages[0]?.timestamp)
    expect(more.messages[0]?.id).toMatch(/#2$/)
  })

  test('a replaced file is read again, and this is reported', async () => {
    const path = tempLog(`${exampleLine('One?')}\n`, 'chat.jsonl')
    const from = (await readAll(openai, sourceOf(path))).reads.flatMap((one) =>
      one.kind === 'cursor' ? [one.cursor] : [],
    )
    writeFileSync(path, `${exampleLine('Other?')}\n${exampleLine('Two?')}\n`)
    const again = await readAll(openai, sourceOf(path), from.at(-1))
    expect(codesOf(again)).toEqual(['changed_while_read'])
    expect(textsIn(again)).toEqual(['Other?', 'Two?'])
  })

  test('a file that is replaced while it is read is read to its end and reported', async () => {
    const path = tempLog(Array.from({ length: 2000 }, (_, n) => exampleLine(`${n}?`)).join('\n'), 'chat.jsonl')
    const reads: ReadItem[] = []
    for await (const batch of openai.read(sourceOf(path))) {
      if (reads.length === 0) {
        writeFileSync(`${path}.new`, exampleLine('New?'))
        renameSync(`${path}.new`, path)
      }
      reads.push(...batch)
    }
    const issues = reads.flatMap((one) => (one.kind === 'issue' ? [one.issue.code] : []))
    expect(issues).toEqual(['changed_while_read'])
    expect(reads.filter(({ kind }) => kind === 'session')).toHaveLength(2000)
  })
})

/** Damaged files keep all intact conversations, and no input makes the reader throw. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import openai from '../../../src/agents/openai/agent.ts'
import { serializeMessage } from '../../../src/model/normalized.ts'
import { tempFolder, tempLog } from '../../support/codex-log.ts'
import { readAll, scanAll } from '../../support/fixtures.ts'
import { codesOf, exampleLine, exchange, json, read, sourceOf, textsIn } from './test-files.ts'

describe('a damaged file keeps all intact records', () => {
  test('a truncated list yields the conversations before, and the complete messages of the last', async () => {
    const text = json([{ messages: exchange('One?') }, { messages: [...exchange('Two?'), ...exchange('Three?')] }])
    const found = await read(text.slice(0, text.indexOf('Three?')), 'list.json')
    expect(textsIn(found)).toEqual(['One?', 'Two?'])
    expect(codesOf(found)).toEqual(['cut_short'])
  })

  test('an invalid element of a list is skipped, and text after the list is reported', async () => {
    const found = await read(
      `[${exampleLine('One?')}, {"messages": nonsense}, 7, ${exampleLine('Two?')}] [1]`,
      'list.json',
    )
    expect(textsIn(found)).toEqual(['One?', 'Two?'])
    expect(codesOf(found)).toEqual(['bad_json', 'not_an_object', 'glued'])
    expect(found.issues.map(({ line }) => line)).toEqual([2, 3, undefined])
  })

  test('NULs, a byte order mark and white space around a document do not damage it', async () => {
    const found = await read(`\uFEFF\r\n${json(exchange('One?'), null, 2)}\r\n\0\0`, 'chat.json')
    expect(textsIn(found)).toEqual(['One?'])
    expect(codesOf(found)).toEqual(['nul_bytes'])
  })

  test('a file of several objects gives all of them', async () => {
    const found = await read(
      `${json({ messages: exchange('One?') }, null, 2)}\n${json({ messages: exchange('Two?') }, null, 2)}\n`,
      'chat.json',
    )
    expect(textsIn(found)).toEqual(['One?', 'Two?'])
    expect(codesOf(found)).toEqual(['glued'])
  })

  test('nesting deeper than a stack', async () => {
    const deep = '['.repeat(50_000) + ']'.repeat(50_000)
    const found = await read(
      [
        `{"messages":[{"role":"user","content":"One?","x":${deep}}]}`,
        `{"messages":[{"role":"user","content":${deep}}]}`,
        `{"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":${deep}}}]}]}`,
        exampleLine('Two?'),
      ].join('\n'),
    )
    expect(textsIn(found)).toContain('Two?')
    for (const message of found.messages) expect(JSON.parse(serializeMessage(message).json)).toHaveProperty('id')
  })

  test('names of object members are ordinary words', async () => {
    const found = await read(
      `{"messages":[{"role":"constructor","content":"x"},{"role":"user","content":"One?","__proto__":{"role":"tool"},"toString":1}],"hasOwnProperty":2}\n`,
    )
    expect(found.messages.map(({ role }) => role)).toEqual(['meta', 'meta', 'user'])
    expect(found.messages[2]?.metadata?.['extra']).toMatchObject({ toString: 1 })
  })

  test('a deleted file, and a folder in its place', async () => {
    const folder = tempFolder()
    for (const path of [join(folder, 'none.jsonl'), folder]) {
      expect(codesOf(await readAll(openai, sourceOf(path)))).toEqual(['unreadable'])
      expect((await scanAll(openai, sourceOf(path))).map(({ kind }) => kind)).toEqual(['issue'])
    }
  })
})

describe('laws', () => {
  const whole = Buffer.from(
    [exampleLine('One?'), exampleLine('Two?', '"\\"'), json(exchange('Three?')), exampleLine('Four?')].join('\n'),
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

  test('a truncated first line is one invalid line', async () => {
    for (let cut = 1; cut < 20; cut++) {
      const found = await read(
        `${exampleLine('One?').slice(0, -cut)}\n${exampleLine('Two?')}\n${exampleLine('Three?')}\n`,
      )
      expect({ said: textsIn(found), codes: codesOf(found) }).toEqual({ said: ['Two?', 'Three?'], codes: ['bad_json'] })
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
        openai.recognize(bytes, path)
      }),
      { numRuns: 300 },
    )
  })
})

/** Damaged input gives a clear issue and keeps everything around it. */
import { appendFileSync, mkdirSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ReadItem, ScanItem } from '../../src/agents/agent.ts'
import codex from '../../src/agents/codex/agent.ts'
import { serializeMessage } from '../../src/model/normalized.ts'
import {
  assistant,
  at,
  call,
  header,
  line,
  result,
  shortSession,
  tempFolder,
  tempLog,
  text,
  user,
} from '../support/codex-log.ts'
import { codesOf, collectReads, readAll, sourceOf, textsOfRole } from '../support/read-codex-log.ts'

const ASKED = 'List the files, please.'

async function read(content: string | Uint8Array) {
  return readAll(tempLog(content))
}

describe('a damaged log keeps all intact records', () => {
  test('a last line cut short', async () => {
    const whole = text(shortSession())
    const cut = await read(whole.slice(0, -40))
    expect(codesOf(cut)).toEqual(['cut_short'])
    expect(cut.issues[0]).toMatchObject({ line: shortSession().length })
    expect(cut.messages).toHaveLength(shortSession().length - 1)
  })

  test('a complete last line without a newline is read', async () => {
    const whole = await read(shortSession().join('\n'))
    expect(codesOf(whole)).toEqual([])
    expect(whole.messages).toHaveLength(shortSession().length)
  })

  test('a tail of NUL bytes', async () => {
    const found = await read(Buffer.concat([Buffer.from(text(shortSession())), Buffer.alloc(3772)]))
    expect(codesOf(found)).toEqual(['nul_bytes'])
    expect(found.messages).toHaveLength(shortSession().length)
  })

  test('NUL bytes before a record', async () => {
    const found = await read(
      Buffer.concat([Buffer.from(`${header()}\n`), Buffer.alloc(512), Buffer.from(`${user(1, ASKED)}\n`)]),
    )
    expect(codesOf(found)).toEqual(['nul_bytes'])
    expect(textsOfRole(found, 'user')).toEqual([ASKED])
  })

  test('two records on one line get separate ids', async () => {
    const found = await read(text([header(), user(1, 'one {"timestamp":"x"}') + assistant(2, 'two'), user(3, 'three')]))
    expect(codesOf(found)).toEqual(['glued'])
    expect(found.messages.map((one) => one.id)).toEqual([`${at(0)}#1`, `${at(1)}#2`, `${at(2)}#2.2`, `${at(3)}#3`])
    expect(textsOfRole(found, 'user')).toEqual(['one {"timestamp":"x"}', 'three'])
  })

  test('a partial record followed by a complete one, on its line and on the next', async () => {
    const part = user(1, 'lost').slice(0, -25)
    const found = await read(text([header(), part + user(2, 'kept'), part, user(3, 'kept too')]))
    expect(codesOf(found)).toEqual(['glued', 'bad_json'])
    expect(found.issues.map((issue) => issue.line)).toEqual([2, 3])
    expect(textsOfRole(found, 'user')).toEqual(['kept', 'kept too'])
  })

  test('byte order mark, CRLF and blank lines do not count as damage, and lines keep their numbers', async () => {
    const found = await read(`\uFEFF${[header(), '', user(1, ASKED), '   ', assistant(2, 'Yes.')].join('\r\n')}\r\n`)
    expect(codesOf(found)).toEqual([])
    expect(found.messages.map((one) => one.raw.line_index)).toEqual([1, 3, 5])
  })

  test('Unicode line separators inside strings do not end a line', async () => {
    const words = 'a\u2028b\u2029c\rd\u0085e'
    const found = await read(text([header(), assistant(2, words)]))
    expect(textsOfRole(found, 'assistant')).toEqual([words])
    expect(codesOf(found)).toEqual([])
  })

  test('bytes that are not UTF-8 are replaced and reported', async () => {
    const [before, after] = text([header(), user(1, 'caf@'), user(2, 'fine')]).split('@')
    const found = await read(
      Buffer.concat([Buffer.from(before ?? ''), Buffer.from([0xe9, 0xff]), Buffer.from(after ?? '')]),
    )
    expect(codesOf(found)).toEqual(['bad_utf8'])
    expect(textsOfRole(found, 'user')).toEqual(['caf\uFFFD\uFFFD', 'fine'])
  })

  test('lone surrogates survive and are written as escapes', async () => {
    const found = await read(text([header(), user(1, 'cut here').replace('cut', '\\ud83d')]))
    expect(textsOfRole(found, 'user')).toEqual(['\ud83d here'])
    const user1 = found.messages[1]
    expect(user1 && Buffer.from(serializeMessage(user1).json).toString()).toContain('\\ud83d here')
  })

  test('lines without an object', async () => {
    const found = await read(text([header(), '42', '"words"', 'null', '[1]', user(1, ASKED)]))
    expect(codesOf(found)).toEqual(['not_an_object', 'not_an_object', 'not_an_object', 'not_an_object'])
    expect(textsOfRole(found, 'user')).toEqual([ASKED])
  })

  test('a payload that is missing, a string or a list', async () => {
    const found = await read(
      text([
        header(),
        `{"timestamp":"${at(1)}","type":"event_msg"}`,
        line(2, 'response_item', 'just text'),
        line(3, 'event_msg', [1]),
        user(4, ASKED),
      ]),
    )
    expect(codesOf(found)).toEqual(['no_payload', 'no_payload', 'no_payload'])
    expect(found.messages.map((one) => one.role)).toEqual(['meta', 'meta', 'meta', 'meta', 'user'])
    expect(found.messages[2]?.segments[0]?.text).toBe('just text')
  })

  test('a line of 50 MB, and what follows it', async () => {
    const found = await read(text([header(), call(1, 'c', {}), result(2, 'c', 'x'.repeat(50_000_000)), user(3, ASKED)]))
    expect(found.messages[2]?.tool_call?.output).toHaveLength(50_000_000)
    expect(textsOfRole(found, 'user')).toEqual([ASKED])
  })

  test('nesting deeper than a stack', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    const found = await read(
      text([
        header(),
        call(1, 'c', 0).replace('"arguments":"0"', `"arguments":${deep}`),
        result(2, 'c', deep),
        user(3, ASKED),
      ]),
    )
    expect(textsOfRole(found, 'user')).toEqual([ASKED])
    const written = found.messages.map(serializeMessage)
    expect(written.some((one) => one.cut)).toBe(true)
    for (const { json } of written) expect(JSON.parse(json)).toHaveProperty('id')
  })

  test('unclosed nesting of any depth, and a complete record after it', async () => {
    const open = '{"id":'.repeat(200_000)
    const found = await read(text([header(), open, `${open}]`, open + user(1, ASKED), user(2, 'after')]))
    expect(codesOf(found)).toEqual(['bad_json', 'bad_json', 'glued'])
    expect(textsOfRole(found, 'user')).toEqual([ASKED, 'after'])
  })

  test('names of object members are ordinary words', async () => {
    const odd = [
      line(1, 'event_msg', { type: 'constructor' }),
      line(2, 'response_item', { type: '__proto__', name: 'toString' }),
      line(3, 'hasOwnProperty', { type: 'valueOf' }),
      `{"timestamp":"${at(4)}","type":"event_msg","payload":{"type":"x","__proto__":{"role":"user"}}}`,
    ]
    const found = await read(text([header(), ...odd, user(5, ASKED)]))
    expect(found.messages.map((one) => one.role)).toEqual(['meta', 'meta', 'meta', 'meta', 'meta', 'user'])
    expect(codesOf(found)).toEqual([])
  })

  test('the same call id twice: each result goes to the nearest call before it', async () => {
    const found = await read(
      text([
        header(),
        call(1, 'c', { n: 1 }),
        result(2, 'c', 'first'),
        call(3, 'c', { n: 2 }),
        result(4, 'c', 'second'),
        result(5, 'c', 'third'),
      ]),
    )
    const joined = found.messages
      .filter((one) => one.source_type === 'tool_result')
      .map((one) => [one.tool_call?.arguments, one.tool_call?.output])
    expect(joined).toEqual([
      ['{"n":1}', 'first'],
      ['{"n":2}', 'second'],
      [undefined, 'third'],
    ])
  })

  test('repeated headers are merged, foreign ones are marked', async () => {
    const found = await read(
      text([header(), header({ git: { branch: 'main' } }), header({ id: 'other', cwd: '/elsewhere' }), user(3, ASKED)]),
    )
    expect(codesOf(found)).toEqual(['foreign_session'])
    expect(found.session).toMatchObject({ cwd: '/w/app', git: { branch: 'main' }, ancestors: ['codex:other'] })
    expect(found.messages.filter((one) => one.source_type === 'session')).toHaveLength(3)
    expect(found.messages[2]?.metadata?.['ancestor']).toBe(true)
  })
})

describe('a file that changes while it is read', () => {
  test('records appended in time are read, and the cursor continues after them', async () => {
    const path = tempLog(text(shortSession()))
    const reads: ReadItem[] = []
    for await (const batch of codex.read(sourceOf(path))) {
      if (reads.length === 0) appendFileSync(path, text([user(9, 'One more.')]))
      reads.push(...batch)
    }
    const found = collectReads(reads)
    expect(textsOfRole(found, 'user')).toContain('One more.')
    expect(found.issues).toEqual([])
  })

  test('a file that is replaced is read to its end and reported', async () => {
    const path = tempLog(text(shortSession()))
    const reads: ReadItem[] = []
    for await (const batch of codex.read(sourceOf(path))) {
      if (reads.length === 0) {
        writeFileSync(`${path}.new`, text([header({ id: 'new' })]))
        renameSync(`${path}.new`, path)
      }
      reads.push(...batch)
    }
    expect(collectReads(reads).messages).toHaveLength(shortSession().length)
    expect(codesOf(collectReads(reads))).toEqual(['changed_while_read'])
  })

  test('a cursor into a replaced or truncated file restarts and reports it', async () => {
    const path = tempLog(text(shortSession()))
    const from = (await readAll(path)).cursors.at(-1)?.cursor
    truncateSync(path, 100)
    expect(codesOf(await readAll(path, from ? { from } : {}))).toContain('changed_while_read')
    writeFileSync(path, text([header({ id: 'new' }), ...Array.from({ length: 40 }, (_, n) => user(n, `prompt ${n}`))]))
    const found = await readAll(path, from ? { from } : {})
    expect(codesOf(found)).toContain('changed_while_read')
    expect(textsOfRole(found, 'user')).toHaveLength(40)
  })

  test('a deleted file, and a folder in its place', async () => {
    const folder = tempFolder()
    expect(codesOf(await readAll(join(folder, 'none.jsonl')))).toEqual(['unreadable'])
    mkdirSync(join(folder, 'rollout.jsonl'))
    expect(codesOf(await readAll(join(folder, 'rollout.jsonl')))).toEqual(['unreadable'])
    for (const name of ['none.jsonl', 'rollout.jsonl']) {
      const scans: ScanItem[] = []
      for await (const batch of codex.scan(sourceOf(join(folder, name)))) scans.push(...batch)
      expect(scans).toMatchObject([{ kind: 'issue', issue: { code: 'unreadable' } }])
    }
  })
})

test('a first line broken in two loses only that line', async () => {
  const log = text(shortSession())
  for (const gap of ['\n', '\n  ']) {
    const found = await readAll(tempLog(`{${gap}${log.slice(1)}`))
    expect(found.issues.map(({ line }) => line)).toEqual([1, 2])
    expect(found.messages).toHaveLength(shortSession().length - 1)
  }
})

describe('laws', () => {
  const whole = Buffer.from(text(shortSession()))

  test('any mutation of a log is read without throwing, and every line is accounted for', async () => {
    const path = tempLog('')
    const change = fc.record({ at: fc.nat(whole.length - 1), bytes: fc.uint8Array({ maxLength: 6 }), drop: fc.nat(12) })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        let bytes = whole
        for (const { at: place, bytes: more, drop } of changes) {
          bytes = Buffer.concat([bytes.subarray(0, place), more, bytes.subarray(place + drop)])
        }
        writeFileSync(path, bytes)
        const found = await readAll(path)
        const accounted = new Set([
          ...found.messages.map((one) => one.raw.line_index),
          ...found.issues.map((issue) => issue.line),
        ])
        bytes
          .toString('latin1')
          .split('\n')
          .forEach((one, index) => {
            if (
              /[^\s\0]/.test(
                Buffer.from(one, 'latin1')
                  .toString('utf8')
                  .replace(/^\uFEFF/, '')
                  .trim(),
              )
            )
              expect(accounted).toContain(index + 1)
          })
        for (const message of found.messages) serializeMessage(message)
      }),
      { numRuns: 300 },
    )
  })

  test('any bytes are read without throwing', async () => {
    const path = tempLog('')
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (bytes) => {
        writeFileSync(path, bytes)
        await readAll(path)
        for await (const _ of codex.scan(sourceOf(path)));
        codex.recognize(bytes, path)
      }),
      { numRuns: 300 },
    )
  })
})

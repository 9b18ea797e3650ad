/** Long tests of reading Codex logs: `npm run soak`. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Cursor } from '../../src/agents/agent.ts'
import codex from '../../src/agents/codex/agent.ts'
import { serializeMessage } from '../../src/model/normalized.ts'
import { header, shortSession, tempFolder, tempLog, text, tokens, user } from '../support/codex-log.ts'
import { readAll, sourceOf } from '../support/read-codex-log.ts'
import { fumi } from '../support/run-fumi.ts'
import { sharedFolder } from '../support/shared-material.ts'

const FILES = Number(process.env['FUMI_SOAK_FILES'] ?? 1_000_000)
const RUNS = Number(process.env['FUMI_SOAK_RUNS'] ?? 20_000)
const FIXTURES = join(import.meta.dirname, '..', '..', 'src', 'agents', 'codex', 'fixtures')

test(`${FILES} logs in one folder`, () => {
  const folder = join(tempFolder(), 'sessions')
  mkdirSync(folder)
  const id = (n: number): string => `019c0000-0000-7000-8000-${String(n).padStart(12, '0')}`
  for (let n = 0; n < FILES; n++) {
    const log = text([header({ id: id(n) }), user(1, `Number ${n}?`), tokens(2, 3, 1)])
    writeFileSync(join(folder, `rollout-2026-02-03T09-15-00-${id(n)}.jsonl`), log)
  }
  expect(JSON.parse(fumi(['stats', folder, '--json']).out)).toMatchObject({
    sessions: FILES,
    messages: FILES,
    usage: { total_tokens: FILES * 4 },
  })
})

describe('any damage to any fixture', () => {
  const fixtures = readdirSync(FIXTURES, { withFileTypes: true }).filter((entry) => entry.isFile())

  test.each(fixtures.map((entry) => entry.name))('%s', async (name) => {
    const complete = readFileSync(join(FIXTURES, name))
    const path = tempLog('', name)
    const change = fc.record({ at: fc.nat(complete.length), bytes: fc.uint8Array({ maxLength: 8 }), drop: fc.nat(64) })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
        let bytes: Uint8Array = complete
        for (const { at, bytes: more, drop } of changes) {
          bytes = Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at + drop)])
        }
        writeFileSync(path, bytes)
        const { messages, locators } = await readAll(path)
        for (const message of messages) serializeMessage(message)
        const [locator] = locators.slice(-1)
        if (locator) expect(await codex.readMessage(sourceOf(path), locator)).toEqual(messages.at(-1))
        for await (const _ of codex.scan(sourceOf(path)));
      }),
      { numRuns: Math.ceil(RUNS / fixtures.length) },
    )
  })
})

test('a log that is followed while it grows, in pieces of any size', async () => {
  const complete = Buffer.from(
    text([...shortSession(), ...Array.from({ length: 400 }, (_, n) => user(20 + n, `Prompt ${n} 日本語`))]),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 40 }), async (pieces) => {
      const path = tempLog('')
      const ids: string[] = []
      let from: Cursor | undefined
      let written = 0
      for (const piece of [...pieces, complete.length]) {
        appendFileSync(path, complete.subarray(written, written + piece))
        written = Math.min(complete.length, written + piece)
        const { messages, cursors } = await readAll(path, from ? { from } : {})
        const last = cursors.at(-1)
        ids.push(...messages.slice(0, last?.after ?? 0).map((one) => one.id))
        from = last?.cursor ?? from
      }
      expect(ids).toEqual((await readAll(path)).messages.map((one) => one.id))
    }),
    { numRuns: Math.ceil(RUNS / 100) },
  )
})

const generator = sharedFolder('bench', 'gen.mjs')

describe.skipIf(!generator)('totals of 100 MB equal the generator', () => {
  test.each(
    [1, 2, 3].flatMap(
      (seed) =>
        [
          [seed, '0'],
          [seed, '0.6'],
        ] as const,
    ),
  )('seed %i, forks %s', (seed, forks) => {
    const out = tempFolder()
    const options = ['--out', out, '--mb', '100', '--seed', String(seed), '--forks', forks]
    execFileSync(process.execPath, [generator ?? '', ...options])
    const manifest = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8'))
    expect(JSON.parse(fumi(['stats', out, '--json']).out)).toMatchObject({
      sessions: manifest.files,
      lines: manifest.lines,
      usage: manifest.usage,
      by_model: manifest.usage_by_model,
      by_day: manifest.usage_by_day,
    })
  })
})

/** The published figures of the redaction are true, and reach their targets. `npm run redaction-docs` writes them. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { findSecrets } from '../../src/redact/secrets.ts'
import { type BenchmarkResult, runBenchmark } from './benchmark/measure.ts'
import { recallOf, renderTables } from './benchmark/report.ts'

const DOCUMENT = join(import.meta.dirname, '../../docs/redaction.md')
const BEGIN = '<!-- benchmark: npm run redaction-docs -->\n'
const END = '\n<!-- end of benchmark -->'
const CORPUS = join(import.meta.dirname, '../../../shared/corpus')

let result: BenchmarkResult
beforeAll(async () => {
  result = await runBenchmark()
})

const missedOf = (isDocumented: boolean): readonly string[] =>
  result.kinds
    .filter((kind) => kind.isDocumented === isDocumented)
    .flatMap(({ name, missed }) => missed.map(() => name))

describe('redaction benchmark', () => {
  test('has at least 10 secrets of each of 60 kinds, and 300 look-alikes', () => {
    expect(result.kinds.length).toBeGreaterThanOrEqual(60)
    expect(Math.min(...result.kinds.map(({ secrets }) => secrets))).toBeGreaterThanOrEqual(10)
    expect(result.lookAlikes).toBeGreaterThanOrEqual(300)
  })

  test('finds 99 % of documented formats', () => {
    const documented = result.kinds.filter(({ isDocumented }) => isDocumented)
    expect(recallOf(documented), missedOf(true).join()).toBeGreaterThanOrEqual(0.99)
  })

  test('finds 95 % of secrets in context', () => {
    const contextual = result.kinds.filter(({ isDocumented }) => !isDocumented)
    expect(recallOf(contextual), missedOf(false).join()).toBeGreaterThanOrEqual(0.95)
  })

  test('leaves look-alikes', () => {
    expect(result.falsePositives).toEqual([])
  })

  test('is published as it is', () => {
    const document = readFileSync(DOCUMENT, 'utf8')
    const start = document.indexOf(BEGIN) + BEGIN.length
    const end = document.indexOf(END)
    const tables = renderTables(result)
    if (process.env['FUMI_WRITE_DOCS'] === '1')
      writeFileSync(DOCUMENT, document.slice(0, start) + tables + document.slice(end))
    expect(readFileSync(DOCUMENT, 'utf8').slice(start, start + tables.length)).toBe(tables)
  })
})

describe.skipIf(!existsSync(CORPUS))('ordinary logs (skipped without ../shared/corpus)', () => {
  /** Upper bound of false positives: some of the findings are secrets of the logs' examples. */
  const MAX_PER_MEGABYTE = 1

  test('give few findings', async () => {
    let size = 0
    let found = 0
    for (const path of filesBelow(join(CORPUS, 'codex'))) {
      const texts = readFileSync(path, 'utf8').split('\n')
      size += texts.join('\n').length
      for (const spans of (await findSecrets(texts)).values()) found += spans.length
    }
    expect(size).toBeGreaterThan(1_000_000)
    expect(found / (size / 1_000_000)).toBeLessThanOrEqual(MAX_PER_MEGABYTE)
  })
})

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => path.endsWith('.jsonl') && statSync(path).size < 3_000_000)

/** Generated logs with known token totals. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { header, tempFolder, text, tokens, user } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'
import { sharedFolder } from '../support/shared-material.ts'

interface Manifest {
  readonly files: number
  readonly lines: number
  readonly kinds: { readonly [kind: string]: number }
  readonly usage: object
  readonly usage_by_model: object
  readonly usage_by_day: object
}

const generator = sharedFolder('bench', 'gen.mjs')

describe.skipIf(!generator)('totals equal the generator', () => {
  test.each([
    ['plain', []],
    ['all kinds of forks', ['--forks', '0.6', '--mean-kb', '40']],
    ['replaying forks', ['--forks', '0.7', '--fork-kinds', 'replay', '--mean-kb', '60']],
    ['inheriting forks', ['--forks', '0.7', '--fork-kinds', 'inherit', '--mean-kb', '60']],
    ['fresh forks', ['--forks', '0.7', '--fork-kinds', 'fresh', '--mean-kb', '60']],
    ['faults', ['--faults']],
    ['faults in forks', ['--faults', '--forks', '0.9', '--mean-kb', '40']],
    ['logs before the envelope', ['--format', 'legacy']],
  ])('%s', (_, options) => {
    const out = tempFolder()
    execFileSync(process.execPath, [generator ?? '', '--out', out, '--mb', '2', '--seed', '11', ...options])
    const manifest = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8')) as Manifest
    const { kinds } = manifest
    const texts = (kinds['response_item/message'] ?? kinds['legacy/message'] ?? 0) - manifest.files
    const cutLines = options.includes('--faults') ? manifest.files : 0
    expect(JSON.parse(fumi(['stats', out, '--json']).out)).toMatchObject({
      sessions: manifest.files,
      lines: manifest.lines + cutLines,
      messages: texts,
      usage: manifest.usage,
      by_model: manifest.usage_by_model,
      by_day: manifest.usage_by_day,
    })
  })
})

test('2,000 logs in one folder', () => {
  const folder = join(tempFolder(), 'sessions')
  mkdirSync(folder)
  const id = (n: number): string => `019c0000-0000-7000-8000-${String(n).padStart(12, '0')}`
  for (let n = 0; n < 2000; n++) {
    const name = `rollout-2026-02-03T09-15-00-${id(n)}.jsonl`
    writeFileSync(join(folder, name), text([header({ id: id(n) }), user(1, `Number ${n}?`), tokens(2, 3, 1)]))
  }
  expect(JSON.parse(fumi(['stats', folder, '--json']).out)).toMatchObject({
    sessions: 2000,
    lines: 6000,
    messages: 2000,
    usage: { input_tokens: 6000, total_tokens: 8000 },
  })
})

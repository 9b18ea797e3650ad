/** Secrets leave through no command: export redacts by default, the others with `--redact`. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { assistant, call, header, result, tempFolder, text, user } from '../support/codex-log.ts'
import { fumi, type RunResult } from '../support/run-fumi.ts'
import { Random } from './benchmark/random.ts'

const random = new Random(11)
const TOKEN = `ghp_${random.alnum(36)}`
const PASSWORD = `Vorn8_${random.letters(6)}4x`

const folder = tempFolder()
const home = join(folder, 'home')
const env = { HOME: home, FUMI_HOME: join(folder, 'fumi'), CODEX_HOME: join(home, '.codex') }
const run = (...args: readonly string[]): RunResult => fumi(args, { env })
const log = join(folder, 'rollout-2026-02-03T09-15-00-test.jsonl')
const workplace = join(folder, 'work')
mkdirSync(workplace)
writeFileSync(
  log,
  text([
    header({ cwd: workplace }),
    user(1, `The password is ${PASSWORD}. Write to mika@example.org.`),
    call(2, 'call_1', { command: ['psql', `postgres://app@db/${PASSWORD}`], secret_note: TOKEN }),
    result(3, 'call_1', `connected with ${PASSWORD}`),
    assistant(4, `Done, ${TOKEN} works.`),
  ]),
)
const expectClean = (written: string): void => {
  expect(written).toContain('[redacted-')
  expect(written).not.toMatch(new RegExp(`${TOKEN}|${PASSWORD}`))
}

describe('fumi export', () => {
  test.each(['md', 'html', 'txt', 'json', 'sft'])('removes secrets from %s unless it was asked not to', (format) => {
    const { out, err } = run('export', log, '--format', format, '--all')
    expectClean(out)
    expect(err).toMatch(/redacted: .*github 1/)
    expect(out).toContain('mika@')
    expect(run('export', log, '--format', format, '--all', '--redact').out).not.toContain('mika@')
    expect(run('export', log, '--format', format, '--all', '--no-redact').out).toContain(PASSWORD)
  })
})

test.each([
  ['convert', ['convert', log, '--to', 'openai'], /Contains 2 secrets \(.*github 1.*\)\. .*--redact/],
  ['handoff', ['handoff', log, '--to', 'codex', '--dry-run'], /Contains 2 secrets \(.*github 1.*\), which .*--redact/],
])('fumi %s without --redact says how many secrets there are, never which', (_, args, said) => {
  mkdirSync(join(home, '.codex', 'sessions'), { recursive: true })
  const { code, err } = run(...args)
  expect(code, err).toBe(0)
  expect(err).toMatch(said)
  expect(err).not.toMatch(new RegExp(`${TOKEN}|${PASSWORD}`))
})

test('fumi convert says nothing if there are none', () => {
  const clean = join(tempFolder(), 'rollout-2026-02-03T09-15-00-clean.jsonl')
  writeFileSync(clean, text([header({ cwd: workplace }), user(1, 'Make tea.'), assistant(2, 'It is made.')]))
  expect(run('convert', clean, '--to', 'openai').err).not.toContain('--redact')
})

test('fumi normalize --redact', () => {
  const { out, err } = run('normalize', log, '--redact')
  expectClean(out)
  expect(out.trim().split('\n').length).toBe(run('normalize', log).out.trim().split('\n').length)
  expect(err).toMatch(/redacted: .*setting 1/)
  expect(run('normalize', log).out).toContain(PASSWORD)
})

describe('fumi convert --redact', () => {
  test.each(['openai', 'codex', 'amazon-q', 'sft', 'normalized'])('%s, with its sidecar', (to) => {
    const target = join(tempFolder(), 'talk')
    const { code, err } = run('convert', log, '--to', to, '-o', target, '--redact')
    expect(code, err).toBe(0)
    expect(err).toMatch(/redacted: .*github 1/)
    for (const name of readdirSync(join(target, '..'))) expectClean(readFileSync(join(target, '..', name), 'utf8'))
  })

  test('a sidecar that is read does not bring them back', () => {
    const there = join(tempFolder(), 'talk.json')
    expect(run('convert', log, '--to', 'amazon-q', '-o', there).code).toBe(0)
    const back = join(tempFolder(), 'back.jsonl')
    expect(run('convert', there, '--to', 'codex', '-o', back, '--redact').code).toBe(0)
    for (const name of readdirSync(join(back, '..'))) expectClean(readFileSync(join(back, '..', name), 'utf8'))
  })
})

test('fumi handoff --redact delivers and verifies a conversation without them, in its own directory', () => {
  mkdirSync(join(home, '.codex', 'sessions'), { recursive: true })
  const { code, err } = run('handoff', log, '--to', 'codex', '--redact')
  expect(code, err).toBe(0)
  const [delivered = ''] = readdirSync(join(home, '.codex', 'sessions'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.jsonl'),
  )
  const written = readFileSync(join(home, '.codex', 'sessions', delivered), 'utf8')
  expectClean(written)
  expect(written).toContain(workplace)
  expect(written).toContain('mika@example.org')
})

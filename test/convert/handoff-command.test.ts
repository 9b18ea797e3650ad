/** `fumi handoff` on the command line. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as log from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'

function given(): {
  readonly at: (name: string) => string
  readonly run: (...args: string[]) => ReturnType<typeof fumi>
} {
  const home = log.tempFolder()
  const at = (name: string): string => join(home, name)
  mkdirSync(at('code'))
  writeFileSync(at('rollout.jsonl'), log.text(log.shortSession()))
  const env = { FUMI_HOME: at('fumi'), HOME: home }
  const run = (...args: string[]) =>
    fumi(['handoff', at('rollout.jsonl'), '--to', 'fumibako', '--cwd', at('code'), ...args], { env })
  return { at, run }
}

test('the report of losses and repairs is written to a file', () => {
  const { at, run } = given()
  const done = run('--report', at('report.json'))
  expect(done).toMatchObject({ code: 0, out: expect.stringContaining('Continue with: ') })
  const report = JSON.parse(readFileSync(at('report.json'), 'utf8'))
  expect(report).toMatchObject({
    records: log.shortSession().length,
    losses: expect.any(Array),
    repairs: expect.any(Array),
  })
})

test('what the target would not read is said on standard error, and in the JSON', () => {
  const { at } = given()
  const env = { FUMI_HOME: at('fumi'), HOME: at('.'), CODEX_HOME: at('codex') }
  mkdirSync(at('codex/sessions'), { recursive: true })
  writeFileSync(at('orphan.jsonl'), log.text([...log.shortSession(), log.result(9, 'call_nobody_made', 'lost')]))
  const args = ['handoff', at('orphan.jsonl'), '--to', 'codex', '--cwd', at('code'), '--dry-run']
  expect(fumi(args, { env }).err).toContain('fumi: Codex CLI may not read all of this conversation. No call before it')
  const { err, out } = fumi([...args, '--json'], { env })
  expect(err).toBe('')
  expect(JSON.parse(out)).toMatchObject({ warnings: [expect.stringContaining('No call before it')] })
})

test('a report that cannot be written does not hide what was done', () => {
  const { at, run } = given()
  const done = run('--report', at('nowhere/report.json'))
  expect(done.code).not.toBe(0)
  expect(done.out).toContain('Continue with: ')
  expect(done.err).toContain('cannot be written (ENOENT)')
})

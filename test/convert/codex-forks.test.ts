/** Conversations of Codex that begin in another log: forks, and threads that were reverted. */
import { cpSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { check } from '../../src/agents/codex/check/check-log.ts'
import { allAgents } from '../../src/agents/load-agents.ts'
import { openBackupDatabase } from '../../src/backup/backup-database.ts'
import type { ConversionSource } from '../../src/convert/convert.ts'
import { handoff } from '../../src/convert/handoff.ts'
import { tempFolder } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'
import { agentOf, convertTo, messagesOf } from './conversions.ts'

const FIXTURES = join(import.meta.dirname, '../../src/agents/codex/fixtures/paginated-forks')
const DAY = 'sessions/2026/11/02'
const BASE = 'rollout-2026-11-02T08-00-00-019d0000-aaaa-7000-8000-000000000011.jsonl'
const FORK = 'rollout-2026-11-02T08-01-40-019d0000-bbbb-7000-8000-000000000012.jsonl'
const REVERTED =
  'rollout-2026-11-02T08-03-20-019d0000-aaaa-7000-8000-000000000011_019d0000-cccc-7000-8000-000000000013.jsonl'
const ORPHAN = 'rollout-2026-11-02T08-05-00-019d0000-cccc-7000-8000-000000000013.jsonl'

async function logNamed(name: string): Promise<ConversionSource & { readonly path: string }> {
  const home = tempFolder()
  cpSync(FIXTURES, home, { recursive: true })
  const path = join(home, DAY, name)
  return { agent: await agentOf('codex'), source: { agent: 'codex', path, root: home }, path }
}

const promptsIn = async (from: ConversionSource): Promise<readonly (string | undefined)[]> =>
  (await messagesOf(from)).flatMap(({ role, segments }) => (role === 'user' ? [segments[0]?.text] : []))

const BEGINNING = await promptsIn(await logNamed(BASE))

test.each([
  [FORK, 'Count the trees.'],
  [REVERTED, 'Count the owls.'],
])('a conversion has the beginning, and the way back has the same bytes: %s', async (name, first) => {
  const from = await logNamed(name)
  const own = await promptsIn(from)
  const there = await convertTo(from, 'openai')
  expect(there.report.losses.map(({ code }) => code)).not.toContain('beginning_elsewhere')
  const all = await promptsIn(there)
  expect(all[0]).toBe('Count the trees.')
  expect(all).toEqual([...BEGINNING.slice(0, all.length - own.length), ...own])
  expect(all).toContain(first)
  const back = await convertTo(there, 'codex')
  expect(readFileSync(back.path, 'utf8')).toBe(readFileSync(from.path, 'utf8'))
  expect((await convertTo(from, 'codex')).report.losses).toEqual([])
})

test('a reverted turn is not converted', async () => {
  const undone = BEGINNING.at(-1)
  expect(BEGINNING.length).toBeGreaterThan(1)
  expect(await promptsIn(await convertTo(await logNamed(REVERTED), 'openai'))).not.toContain(undone)
})

test('show begins a reverted thread with its own first turns, and a fork with a note', async () => {
  const { path } = await logNamed(REVERTED)
  const { out } = fumi(['show', path])
  const prompts = [...out.matchAll(/❯ (\d+) .*\n {2}(.*)/g)].map(([, number, text]) => `${number} ${text}`)
  const own = await promptsIn(await logNamed(REVERTED))
  const kept = BEGINNING.slice(0, prompts.length - own.length)
  expect(kept.length).toBeGreaterThan(0)
  expect(prompts).toEqual([...kept, ...own].map((text, at) => `${at + 1} ${text}`))
  expect(fumi(['show', (await logNamed(FORK)).path]).out).toMatch(/\d+ records copied from the parent conversation/)
})

test.each([FORK, REVERTED])('is handed over as a log of its own, with numbered lines: %s', async (name) => {
  const from = await logNamed(name)
  const home = realpathSync(tempFolder())
  mkdirSync(join(home, '.codex'))
  const given = await handoff(from, 'codex', {
    agents: await allAgents(),
    environment: { platform: 'linux', home, variables: {} },
    directory: join(home, 'fumibako'),
    keep: openBackupDatabase(join(home, 'fumibako')),
    cwd: home,
    now: () => new Date('2026-11-03T00:00:00.000Z'),
    newId: () => '019f0000-0000-7000-8000-000000000000',
  })
  expect(given.report.losses).toEqual([])
  const text = readFileSync(given.source.path, 'utf8')
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ ordinal }) => ordinal)).toEqual(lines.map((_, at) => at))
  expect(text).not.toMatch(/history_base|forked_from_ordinal/)
  expect(lines[0].payload).toMatchObject({ history_mode: 'paginated', cwd: home })
  expect(await promptsIn({ agent: from.agent, source: given.source })).toEqual(
    await promptsIn(await convertTo(from, 'openai')),
  )
  const errors: string[] = []
  async function* bytes(): AsyncGenerator<Buffer> {
    yield Buffer.from(text)
  }
  for await (const { rule, severity } of check(bytes)) if (severity === 'error') errors.push(rule)
  expect(errors).toEqual([])
})

test('a beginning that is not on this machine is reported', async () => {
  const there = await convertTo(await logNamed(ORPHAN), 'openai')
  expect(there.report.losses.map(({ code }) => code)).toContain('beginning_elsewhere')
})

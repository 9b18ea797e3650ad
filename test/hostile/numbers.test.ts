/** Impossible numbers, times and sizes: each one only gives its record an issue. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Agent, Source } from '../../src/agents/agent.ts'
import { allAgents } from '../../src/agents/load-agents.ts'
import { addUsage, NO_USAGE, type Usage } from '../../src/model/usage.ts'
import { shortSession, tempFolder, text } from '../support/codex-log.ts'
import { isThorough } from '../support/extent.ts'
import { readAll, scanAll, summarizeScans } from '../support/fixtures.ts'
import { rollout, testHome } from '../support/test-home.ts'
import { type NumberCase, numberCases } from './number-cases.ts'

const CASES = isThorough ? 2000 : 400
const SEED = 18
const AT_ONCE = 250

const TIME = /^(?:19[7-9]\d|[2-9]\d{3})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0

const isUsage = (usage: Usage): boolean => Object.values(usage).every(isCount)

/** Errors in the result as one text; undefined without errors. */
async function faultsOf(agent: Agent, source: Source): Promise<readonly string[]> {
  const faults: string[] = []
  const { messages, sessions, issues, reads } = await readAll(agent, source)
  const scan = summarizeScans(await scanAll(agent, source))
  let usage = NO_USAGE
  for (const { timestamp, tool_call, metadata, segments } of messages) {
    if (!TIME.test(timestamp)) faults.push(`time ${timestamp}`)
    const { exit_code = 0, duration_ms = 0 } = tool_call ?? {}
    if (!Number.isSafeInteger(exit_code) || !isCount(duration_ms)) faults.push(`tool ${exit_code} ${duration_ms}`)
    for (const { media } of segments) if (!isCount(media?.size_bytes ?? 0)) faults.push(`size ${media?.size_bytes}`)
    if (metadata?.['usage'] && metadata['replayed'] !== true) usage = addUsage(usage, metadata['usage'] as Usage)
  }
  for (const { started_at } of sessions)
    if (started_at !== null && !TIME.test(started_at)) faults.push(`header ${started_at}`)
  if (!isUsage(usage) || JSON.stringify(usage) !== JSON.stringify(scan.usage))
    faults.push(`usage ${JSON.stringify(usage)}, counted ${JSON.stringify(scan.usage)}`)
  if (!isCount(scan.lines) || !isCount(scan.messages)) faults.push(`counts ${scan.lines} ${scan.messages}`)
  for (const { at } of scan.usages) if (at !== null && !TIME.test(at)) faults.push(`counted at ${at}`)
  for (const { line = 1 } of [...issues, ...scan.issues]) if (!isCount(line)) faults.push(`issue at ${line}`)
  const last = reads.findLast((one) => one.kind === 'message')
  if (last && JSON.stringify(await agent.readMessage(source, last.locator)) !== JSON.stringify(last.message))
    faults.push('body')
  return faults
}

async function sourcesAt(agent: Agent, path: string): Promise<readonly Source[]> {
  const found: Source[] = []
  for await (const source of agent.find(path)) found.push(source)
  return found
}

test(`${CASES} hostile values: all passes agree, and all of it can be indexed`, async () => {
  const agents = await allAgents()
  const cases = numberCases(agents, CASES, SEED)
  expect(cases).toHaveLength(CASES)
  const wrong: string[] = []
  for (let from = 0; from < cases.length; from += AT_ONCE) {
    const batch = cases.slice(from, from + AT_ONCE)
    const folder = tempFolder()
    const logs = join(folder, 'logs')
    mkdirSync(logs)
    for (const one of batch) one.write(join(logs, one.file))
    for (const one of batch)
      for (const source of await sourcesAt(one.agent, join(logs, one.file)))
        for (const fault of await faultsOf(one.agent, source).catch((error: unknown) => [String(error)]))
          wrong.push(`${one.name}: ${fault}`)
    wrong.push(...(await indexFaults(folder, logs, batch)))
    rmSync(folder, { recursive: true })
  }
  expect(wrong).toEqual([])
})

/** All logs of a batch and a valid one in one index. */
async function indexFaults(folder: string, logs: string, batch: readonly NumberCase[]): Promise<readonly string[]> {
  const { app, write } = testHome({ roots: [logs] }, folder)
  write(rollout('good'), text(shortSession()))
  const outcome = await app.sync()
  if (outcome.kind !== 'synced') return ['not synced']
  const faults = app.index.unreadable().filter(({ code }) => code === 'internal_error')
  const { sessions, total } = app.list({ kind: 'any', children: 'all', limit: -1 })
  const bad = sessions.filter(
    ({ started_at, last_at, usage, lines, messages, tools, size }) =>
      (started_at !== null && !TIME.test(started_at)) ||
      (last_at !== null && !TIME.test(last_at)) ||
      !isUsage(usage) ||
      ![lines, messages, tools, size].every(isCount),
  )
  const stats = await app.stats()
  const sums = JSON.stringify(stats, (_, value: unknown) => {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`a sum is ${value}`)
    return value
  })
  const found = await app.search('"List the files"')
  app.close()
  const isComplete = total > batch.length / 3 && found.kind === 'found' && found.hits.length === 1 && sums.length > 2
  return [
    ...faults.map(({ reason, path }) => `${batch.find(({ file }) => path.endsWith(file))?.name}: ${reason}`),
    ...bad.map((one) => `${batch.find(({ file }) => one.path.endsWith(file))?.name}: listed ${JSON.stringify(one)}`),
    ...(isComplete ? [] : [`${total} sessions, search ${JSON.stringify(found).slice(0, 200)}`]),
  ]
}

/** Tests that tokens of forked and spawned sessions are counted once, in every form that Codex wrote. */
import { copyFileSync, cpSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../../../test/support/codex-log.ts'
import { readAll, scanAll, summarizeScans } from '../../../test/support/fixtures.ts'
import { countTotals } from '../../cli/count-totals.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { LIST_PRICES } from '../../model/prices.ts'
import { addUsage, NO_USAGE, type Usage } from '../../model/usage.ts'
import { logsAt } from '../../normalize.ts'
import codex from './agent.ts'
import { AGENT_ID, findThreadLog } from './find.ts'

const FORKS = fileURLToPath(new URL('./fixtures/forks/', import.meta.url))
const DAY = 'sessions/2026/05/01'

const PARENT = 'rollout-2026-05-01T09-00-00-019d0000-aaaa-7000-8000-000000000001.jsonl'

/** Tokens that each session used itself: input, cached input, output, reasoning; added up by hand. */
const SESSIONS: readonly (readonly [what: string, file: string, usage: Usage, said: number, copies: number])[] = [
  ['the parent', PARENT, tokens(2500, 1100, 250, 90), 2, 0],
  [
    'replay',
    'rollout-2026-05-01T10-00-00-019d0000-bbbb-7000-8000-000000000002.jsonl',
    tokens(4100, 3400, 100, 30),
    3,
    12,
  ],
  [
    'replay of what was said',
    'rollout-2026-05-01T11-00-00-019d0000-bbbb-7000-8000-000000000003.jsonl',
    tokens(600, 0, 60, 6),
    2,
    9,
  ],
  [
    'replay of a replay',
    'rollout-2026-05-01T12-00-00-019d0000-bbbb-7000-8000-000000000004.jsonl',
    tokens(50, 0, 5, 0),
    2,
    23,
  ],
  ['inherit', 'rollout-2026-05-01T13-00-00-019d0000-cccc-7000-8000-000000000005.jsonl', tokens(700, 300, 70, 10), 2, 0],
  [
    'inherit, reported late',
    'rollout-2026-05-01T14-00-00-019d0000-cccc-7000-8000-000000000006.jsonl',
    tokens(810, 300, 81, 8),
    2,
    0,
  ],
  [
    'fresh',
    'rollout-2026-05-01T15-00-00-019d0000-dddd-7000-8000-000000000007.jsonl',
    tokens(1850, 1000, 100, 10),
    2,
    0,
  ],
  [
    'numbered lines',
    'rollout-2026-05-01T16-00-00-019d0000-eeee-7000-8000-000000000008.jsonl',
    tokens(300, 100, 30, 3),
    2,
    4,
  ],
]

const ALL = tokens(10_910, 6200, 696, 157)

const PAGINATED = fileURLToPath(new URL('./fixtures/paginated-forks/', import.meta.url))

/** Usage that each log of paginated threads adds, by the time in its name. */
const PAGINATED_LOGS: readonly (readonly [what: string, time: string, usage: Usage])[] = [
  ['a thread', '08-00-00', tokens(2100, 1100, 210, 50)],
  ['a fork that restates its parent before its first answer', '08-01-40', tokens(1200, 300, 120, 20)],
  ['a thread that was reverted to its first turn', '08-03-20', tokens(1300, 400, 130, 30)],
  ['a fork without usage records, whose parent is gone', '08-05-00', tokens(600, 60, 60, 6)],
]

describe('a log that continues another one', () => {
  it.each(PAGINATED_LOGS)('%s', async (_, time, usage) => {
    const folder = join(PAGINATED, 'sessions/2026/11/02')
    const file = readdirSync(folder).find((name) => name.includes(`T${time}`)) ?? ''
    const source = { agent: AGENT_ID, path: join(folder, file), root: PAGINATED }
    expect(summarizeScans(await scanAll(codex, source)).usage).toEqual(usage)
    expect(usageIn((await readAll(codex, source)).messages)).toEqual(usage)
  })
})

it('counts from 0 after a restart, and no window that was set as the total', async () => {
  const source = { agent: AGENT_ID, path: fileURLToPath(new URL('./fixtures/restarted-totals.jsonl', import.meta.url)) }
  const usage = tokens(700 + 720 + 740, 100 + 110 + 120, 70 + 75 + 80, 7 + 8 + 9)
  expect(summarizeScans(await scanAll(codex, source)).usage).toEqual(usage)
  expect(usageIn((await readAll(codex, source)).messages)).toEqual(usage)
})

describe('with the parent available', () => {
  it.each(SESSIONS)('%s', async (_, file, usage, messageCount, copies) => {
    await expectCounts(join(FORKS, DAY, file), usage, messageCount, copies)
  })
})

describe('with the parent missing', () => {
  it.each(SESSIONS)('%s', async (_, file, usage, messageCount, copies) => {
    const copy = join(tempFolder(), file)
    copyFileSync(join(FORKS, DAY, file), copy)
    await expectCounts(copy, usage, messageCount, copies)
  })
})

describe('a folder of forked logs', () => {
  it('counts every token once', async () => {
    const totals = await totalsIn(FORKS)
    expect(totals.sessions).toBe(SESSIONS.length)
    expect(totals.usage).toEqual(ALL)
    expect(totals.messages).toBe(SESSIONS.reduce((sum, [, , , messageCount]) => sum + messageCount, 0))
  })

  it('counts a session once when an archived copy exists', async () => {
    const home = tempFolder()
    cpSync(FORKS, home, { recursive: true })
    mkdirSync(join(home, 'archived_sessions'))
    for (const [, file] of SESSIONS) copyFileSync(join(home, DAY, file), join(home, 'archived_sessions', file))
    const totals = await totalsIn(home)
    expect(totals.sessions).toBe(2 * SESSIONS.length)
    expect(totals.usage).toEqual(ALL)
    expect(Object.keys(totals.by_session)).toHaveLength(SESSIONS.length)
  })

  it('finds a log that was moved', () => {
    const home = tempFolder()
    const file = join('sessions', PARENT)
    const thread = '019d0000-aaaa-7000-8000-000000000001'
    for (const folder of ['sessions', 'archived_sessions']) mkdirSync(join(home, folder))
    const source = { agent: AGENT_ID, path: join(home, file), root: home }
    expect(findThreadLog(source, thread)).toBeUndefined()
    copyFileSync(join(FORKS, DAY, PARENT), join(home, file))
    expect(findThreadLog(source, thread, true)).toBe(join(home, file))
    renameSync(join(home, file), join(home, 'archived_sessions', PARENT))
    expect(findThreadLog(source, thread)).toBe(join(home, 'archived_sessions', PARENT))
  })

  it('names parents and kinds', async () => {
    const relations = await Promise.all(
      SESSIONS.map(
        async ([, file]) => (await readAll(codex, { agent: AGENT_ID, path: join(FORKS, DAY, file) })).session,
      ),
    )
    expect(relations.map((session) => session?.relation)).toEqual([
      undefined,
      'fork',
      'subagent',
      'fork',
      'subagent',
      'subagent',
      'subagent',
      'subagent',
    ])
    expect(relations[1]?.parent).toBe(relations[0]?.id)
    expect(relations[3]?.parent).toBe(relations[1]?.id)
  })
})

async function expectCounts(path: string, usage: Usage, messageCount: number, copies: number): Promise<void> {
  const source = { agent: AGENT_ID, path }
  const { messages } = await readAll(codex, source)
  const scan = summarizeScans(await scanAll(codex, source))
  expect(scan.usage, basename(path)).toEqual(usage)
  expect(usageIn(messages), basename(path)).toEqual(usage)
  expect(scan.messages, dirname(path)).toBe(messageCount)
  const marked = messages.filter(({ metadata }) => metadata?.['replayed'] === true)
  expect(marked.map(({ raw }) => raw.line_index)).toEqual(Array.from({ length: copies }, (_, at) => at + 2))
  expect(marked.every(({ metadata }) => metadata?.['usage'] === undefined)).toBe(true)
}

async function totalsIn(folder: string) {
  const logs = []
  for await (const log of logsAt(folder)) logs.push(log)
  return (await countTotals(logs, { utc: true, prices: LIST_PRICES }, { at: () => {}, done: () => {}, stop: () => {} }))
    .totals
}

const usageIn = (messages: readonly NormalizedMessage[]): Usage =>
  messages.reduce(
    (sum, { metadata }) => addUsage(sum, (metadata?.['usage'] as Usage | undefined) ?? NO_USAGE),
    NO_USAGE,
  )

function tokens(input: number, cached: number, output: number, reasoning: number): Usage {
  return {
    input_tokens: input,
    cached_input_tokens: cached,
    output_tokens: output,
    reasoning_output_tokens: reasoning,
    total_tokens: input + output,
  }
}

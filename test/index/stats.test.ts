/** Statistics count each token and each call once, despite copies and forks. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { toUtcDay } from '../../src/model/totals.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import {
  assistant,
  call,
  header,
  line,
  result,
  shortSession,
  THREAD,
  tempFolder,
  text,
  tokens,
  user,
} from '../support/codex-log.ts'
import { sharedFolder } from '../support/shared-material.ts'
import { rollout, testHome } from '../support/test-home.ts'

const OTHER = '019c0000-0000-7000-8000-000000000002'

test('tokens by day, model, project, agent and session; tools; activity', async () => {
  const { app: application, write, folder } = testHome()
  write(rollout(THREAD), text(shortSession()))
  write(rollout(THREAD, 'archived_sessions'), text(shortSession()))
  write(
    rollout(OTHER),
    text([
      header({ id: OTHER, cwd: '/w/other' }),
      line(1, 'turn_context', { model: 'gpt-5', cwd: '/w/other' }),
      user(2, 'Once more.'),
      call(3, 'c', { command: ['false'], path: 'src/deep/file.ts' }),
      result(4, 'c', 'Exit code: 1\nWall time: 2 seconds\nOutput:\n'),
      tokens(5, 10, 5),
    ]),
  )
  const store = makeStore(join(folder, 'data', 'amazon-q', 'data.sqlite3'))
  store.put('/code', stateOf('one', [{ prompt: 'First?', answer: 'Yes.', tools: ['fs_read'] }]))
  store.close()
  await application.sync()
  const { estimate, estimated_sessions, ...totals } = (await application.totals()) ?? {}
  expect(estimated_sessions).toBe(1)
  expect(estimate?.user_bytes).toBeGreaterThan(0)
  expect(application.list({ agents: ['amazon-q'] }).sessions[0]?.estimate).toMatchObject({ estimated: true })
  expect(application.list({ agents: ['codex'] }).sessions[0]?.estimate).toBeUndefined()
  expect(totals).toMatchObject({
    sessions: 3,
    usage: { input_tokens: 2110, output_tokens: 85, total_tokens: 2195 },
    by_day: { '2026-02-03': { total_tokens: 2195 } },
    by_model: { 'gpt-5-codex': { total_tokens: 2180 }, 'gpt-5': { total_tokens: 15 } },
    by_project: { '/w/app': { total_tokens: 2180 }, '/w/other': { total_tokens: 15 } },
    by_agent: { codex: { total_tokens: 2195 } },
    by_session: { [`codex:${THREAD}`]: { total_tokens: 2180 }, [`codex:${OTHER}`]: { total_tokens: 15 } },
    tools: { shell: 2, fs_read: 1 },
  })
  expect(application.stats()).toMatchObject({
    tools: [
      { tool: 'shell', calls: 2, results: 2, errors: 1, timed: 2, duration_ms: 2100 },
      { tool: 'fs_read', calls: 1 },
    ],
    unread: 0,
  })
  expect(application.stats()?.by_hour[9]).toBeGreaterThan(0)
  expect(application.histories()).toMatchObject([{ toolUses: 1 }])
  expect(application.fileTouches('file.ts')).toMatchObject({
    total: 1,
    touched: [{ path: '/w/other/src/deep/file.ts', tool: 'shell' }],
  })
  expect(application.fileTouches('deep/file.ts').total).toBe(1)
  expect(application.fileTouches('eep/file.ts')).toEqual({ total: 0, touched: [] })
})

test('usage in both an event and an item is counted once, even if read separately', async () => {
  const lines = [
    header(),
    user(1, 'Hello?'),
    line(1, 'event_msg', { type: 'user_message', message: 'Hello?' }),
    line(2, 'event_msg', { type: 'agent_message', message: 'Yes.' }),
    assistant(2, 'Yes.'),
  ]
  for (const first of [lines.length, 4, 2]) {
    const { app: application, write } = testHome()
    const path = write(rollout(THREAD), text(lines.slice(0, first)))
    await application.sync()
    appendFileSync(
      path,
      lines
        .slice(first)
        .map((one) => `${one}\n`)
        .join(''),
    )
    await application.sync()
    expect(application.stats()?.by_hour[9]).toBe(2)
  }
})

const generator = sharedFolder('bench', 'gen.mjs')

describe.skipIf(!generator)('totals are those of the manifest', () => {
  test.each([
    ['plain', []],
    ['all kinds of forks', ['--forks', '0.5', '--mean-kb', '60']],
    ['faults', ['--faults']],
    ['faults in forks', ['--faults', '--forks', '0.9', '--mean-kb', '40']],
    ['logs before the envelope', ['--format', 'legacy']],
  ])('%s', async (_, options) => {
    const folder = tempFolder()
    const logs = join(folder, '.codex')
    execFileSync(process.execPath, [generator ?? '', '--out', logs, '--mb', '3', '--seed', '11', ...options])
    const { app: application } = testHome({}, folder)
    await application.sync()
    const { files, lines, kinds, ...truth } = JSON.parse(readFileSync(join(logs, 'manifest.json'), 'utf8'))
    const texts = (kinds['response_item/message'] ?? kinds['legacy/message'] ?? 0) - files
    expect(application.stats()?.unread).toBe(0)
    expect(await application.totals({}, toUtcDay)).toMatchObject({
      sessions: files,
      lines: lines + (options.includes('--faults') ? files : 0),
      messages: texts,
      usage: truth.usage,
      by_model: truth.usage_by_model,
      by_day: truth.usage_by_day,
    })
  })
})

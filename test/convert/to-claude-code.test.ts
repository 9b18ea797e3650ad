/** Conversations as sessions that Claude Code resumes, by the requirements that are known; and their way back. */
import { createReadStream, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { HostEnvironment } from '../../src/agents/agent.ts'
import { allAgents } from '../../src/agents/load-agents.ts'
import { openBackupDatabase } from '../../src/backup/backup-database.ts'
import type { ConversionSource } from '../../src/convert/convert.ts'
import { type HandedOver, type HandoffOptions, handoff } from '../../src/convert/handoff.ts'
import * as log from '../support/codex-log.ts'
import { agentOf, convertTo, sourceAt, writeSourceFile } from './conversions.ts'

const FIXTURES = join(import.meta.dirname, '..', '..', 'src', 'agents', 'claude-code', 'fixtures')

interface Line {
  readonly type: string
  readonly uuid?: string
  readonly parentUuid?: string | null
  readonly sessionId?: string
  readonly cwd?: string
  readonly message?: { readonly role: string; readonly content: unknown }
}

const linesAt = (path: string): readonly Line[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

async function findingsAt(path: string): Promise<readonly string[]> {
  const { check } = await agentOf('claude-code')
  const found: string[] = []
  for await (const { rule, severity } of check?.(() => createReadStream(path), {}) ?? [])
    if (severity === 'error') found.push(rule)
  return found
}

let home = ''
let cwd = ''
beforeEach(() => {
  home = realpathSync(log.tempFolder())
  cwd = join(home, 'my tea.shop')
  mkdirSync(cwd)
  mkdirSync(join(home, '.claude'))
})

const environment = (): HostEnvironment => ({ platform: 'linux', home, variables: {} })

async function give(from: ConversionSource, to: string, more: Partial<HandoffOptions> = {}): Promise<HandedOver> {
  const directory = join(home, 'fumibako')
  const keep = openBackupDatabase(directory)
  try {
    return await handoff(from, to, {
      ...{ agents: await allAgents(), environment: environment(), directory, keep, cwd },
      now: () => new Date('2026-07-08T09:10:11.000Z'),
      newId: () => '019f0000-0000-7000-8000-000000000000',
      ...more,
    })
  } finally {
    keep.close()
  }
}

async function codexSession(lines = log.shortSession()): Promise<ConversionSource> {
  const path = join(home, `rollout-2026-01-02T03-04-05-${log.THREAD}.jsonl`)
  writeFileSync(path, log.text(lines))
  const agent = await agentOf('codex')
  return { agent, source: await sourceAt(agent, path) }
}

async function fixture(name: string): Promise<ConversionSource> {
  const agent = await agentOf('claude-code')
  return { agent, source: await sourceAt(agent, join(FIXTURES, name)) }
}

describe('from Codex', () => {
  test('the session stands where resume looks, as one chain in one directory', async () => {
    const done = await give(await codexSession(), 'claude-code')
    const key = cwd.replaceAll(/[^A-Za-z0-9-]/g, '-')
    expect(done.source.path).toBe(join(home, '.claude', 'projects', key, `${log.THREAD}.jsonl`))
    expect(done.resume).toEqual({ program: 'claude', arguments: ['--resume', log.THREAD], cwd })
    const chain = linesAt(done.source.path).filter(({ uuid }) => uuid !== undefined)
    expect(chain.map(({ parentUuid }) => parentUuid)).toEqual([null, ...chain.slice(0, -1).map(({ uuid }) => uuid)])
    expect(new Set(chain.map((one) => `${one.sessionId} ${one.cwd}`))).toEqual(new Set([`${log.THREAD} ${cwd}`]))
    expect(await findingsAt(done.source.path)).toEqual([])
  })

  test('a call without a result is answered, free text becomes an object, foreign thoughts are left out', async () => {
    const from = await codexSession([
      log.header(),
      log.user(1, 'Go'),
      log.line(2, 'response_item', { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }),
      log.line(3, 'response_item', { type: 'custom_tool_call', call_id: 'c.1', name: 'apply_patch', input: 'x' }),
      log.assistant(4, 'Done.'),
    ])
    const there = await convertTo(from, 'claude-code')
    const blocks = linesAt(there.path).flatMap(({ message }) =>
      Array.isArray(message?.content) ? message.content : [],
    )
    expect(blocks).toMatchObject([
      { type: 'tool_use', name: 'apply_patch', input: { input: 'x' } },
      { type: 'text', text: 'Done.' },
      { type: 'tool_result', content: 'aborted', is_error: true },
    ])
    expect(await findingsAt(there.path)).toEqual([])
  })

  test('and back, the log is the same', async () => {
    const from = await codexSession()
    const back = await convertTo(await convertTo(from, 'claude-code'), 'codex')
    expect(readFileSync(back.path, 'utf8')).toBe(readFileSync(from.source.path, 'utf8'))
  })

  test('a second hand-over replaces nothing unasked, and nothing newer', async () => {
    const done = await give(await codexSession(), 'claude-code')
    const before = readFileSync(done.source.path, 'utf8')
    await expect(give(await codexSession(), 'claude-code')).rejects.toMatchObject({ code: 'bad_usage' })
    writeFileSync(done.source.path, `${before}${before.split('\n')[0]?.replaceAll('2026-', '2027-')}\n`)
    await expect(give(await codexSession(), 'claude-code', { mayReplace: true })).rejects.toMatchObject({
      code: 'busy',
    })
    writeFileSync(done.source.path, before)
    const again = await give(await codexSession(), 'claude-code', { mayReplace: true })
    expect(again.isReplacement).toBe(true)
  })

  test('a session that is open in Claude Code is left alone', async () => {
    const done = await give(await codexSession(), 'claude-code')
    mkdirSync(join(home, '.claude', 'sessions'))
    const state = JSON.stringify({ pid: process.pid, sessionId: log.THREAD })
    writeFileSync(join(home, '.claude', 'sessions', `${process.pid}.json`), state)
    await expect(give(await codexSession(), 'claude-code', { mayReplace: true })).rejects.toMatchObject({
      code: 'busy',
    })
    expect(done.isReplacement).toBe(false)
  })

  test('nothing is written in a dry run', async () => {
    const done = await give(await codexSession(), 'claude-code', { isDry: true })
    expect(() => readFileSync(done.source.path)).toThrow('ENOENT')
  })
})

describe('from Claude Code', () => {
  test.each(['turns.jsonl', 'tools.jsonl', 'injected.jsonl', 'branches.jsonl', 'old-version.jsonl'])(
    '%s comes back byte for byte from every format',
    async (name) => {
      const from = await fixture(name)
      for (const to of ['claude-code', 'codex', 'amazon-q', 'fumibako', 'openai', 'normalized']) {
        const there = await convertTo(from, to)
        const back = to === 'claude-code' ? there : await convertTo(there, 'claude-code')
        expect(readFileSync(back.path, 'utf8'), to).toBe(readFileSync(join(FIXTURES, name), 'utf8'))
      }
    },
  )

  test('a hand-over to Codex takes what the model has: the summary and what follows', async () => {
    mkdirSync(join(home, '.codex'))
    const done = await give(await fixture('branches.jsonl'), 'codex')
    const text = readFileSync(done.source.path, 'utf8').replaceAll(/"x_conv":\{.*/g, '')
    expect(text).toContain('The sencha was brewed at 70 degrees.')
    expect(text).toContain('Pour it.')
    expect(text).not.toContain('Brew the sencha.')
    expect(done.exchanges).toBe(1)
  })

  test('a sub-agent that is handed over becomes a session of its own', async () => {
    const path = '.claude/projects/-home-mio-tea/88888888-aaaa-4000-8000-000000000008/subagents'
    const done = await give(await fixture(join(path, 'agent-a1b2c3d4e5f60718a.jsonl')), 'claude-code')
    const lines = readFileSync(done.source.path, 'utf8')
    expect(lines).not.toContain('"isSidechain":true')
    expect(lines).not.toContain('agentId')
    expect(await findingsAt(done.source.path)).toEqual([])
  })
})

describe('validate', () => {
  const record = (fields: object): string =>
    JSON.stringify({
      ...{
        parentUuid: null,
        sessionId: 'a',
        cwd: '/',
        timestamp: '2026-01-02T03:04:05.000Z',
        uuid: 'u1',
        type: 'user',
      },
      message: { role: 'user', content: 'Hello' },
      ...fields,
    })
  const answer = (content: object) =>
    record({ uuid: 'u2', parentUuid: 'u1', type: 'assistant', message: { role: 'assistant', content: [content] } })

  test.each([
    ['parent', [record({ parentUuid: 'gone' })]],
    ['session_id', [record({}), record({ uuid: 'u2', parentUuid: 'u1', sessionId: 'b' })]],
    ['chain_fields', [record({ cwd: 1 })]],
    ['time', [record({ timestamp: 'noon' })]],
    ['message', [record({ message: { role: 'user', content: 5 } })]],
    ['block', [record({}), answer({ type: 'poem' })]],
    ['thinking_signature', [record({}), answer({ type: 'thinking', thinking: 'x' })]],
    ['call_fields', [record({}), answer({ type: 'tool_use', id: 't', name: 'Bash', input: 'ls' })]],
    ['call_answered', [record({}), answer({ type: 'tool_use', id: 't', name: 'Bash', input: {} })]],
    ['result_call', [record({ message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't' }] } })]],
    ['summary_leaf', ['{"type":"summary","summary":"x","leafUuid":"gone"}', record({})]],
    ['json', ['{', record({})]],
  ])('finds %s', async (rule, lines) => {
    const { path } = await writeSourceFile('claude-code', `${lines.join('\n')}\n`, '.jsonl')
    expect(await findingsAt(path)).toContain(rule)
  })

  test('finds nothing in a sound session', async () => {
    expect(await findingsAt(join(FIXTURES, 'turns.jsonl'))).toEqual([])
  })
})

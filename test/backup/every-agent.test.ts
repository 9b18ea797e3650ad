/** What each agent stores is backed up, given back to the byte, and put where the agent resumes it. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agentIdsOf } from '../../src/agents/agent-roots.ts'
import { allAgents } from '../../src/agents/load-agents.ts'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { tempFolder } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'

const AGENTS = join(import.meta.dirname, '../../src/agents')

interface Stored {
  readonly agent: string
  /** Backed up from first sight, because its program overwrites or deletes. */
  readonly isAtRisk: boolean
  /** Fixtures by their place below the home. */
  readonly fixtures: { readonly [place: string]: string }
  readonly session: string
  readonly resume: RegExp
}

const CODEX = '.codex/sessions/2026/03/05/rollout-2026-03-05T09-00-00-019c22d1-0000-7000-8000-000000000004.jsonl'
const CLAUDE = '.claude/projects/-home-mio-tea/11111111-aaaa-4000-8000-000000000001.jsonl'
const JOURNAL = 'fumi/conversations/5b1f0c52-0000-4000-8000-000000000001.jsonl'
const OPENCODE = '.local/share/opencode'

const FILES: readonly Stored[] = [
  {
    agent: 'claude-code',
    isAtRisk: true,
    fixtures: { [CLAUDE]: 'claude-code/fixtures/turns.jsonl' },
    session: 'claude-code:11111111',
    resume: /claude --resume 11111111/,
  },
  {
    agent: 'codex',
    isAtRisk: false,
    fixtures: { [CODEX]: 'codex/fixtures/events.jsonl' },
    session: 'codex:019c22d1',
    resume: /codex resume 019c22d1/,
  },
  {
    agent: 'codex',
    isAtRisk: false,
    fixtures: { [`${CODEX}.zst`]: 'codex/fixtures/compressed.jsonl.zst' },
    session: 'codex:019c22d1',
    resume: /codex resume 019c22d1/,
  },
  {
    agent: 'copilot',
    isAtRisk: false,
    fixtures: { '.copilot': 'copilot/fixtures/home' },
    session: 'copilot:3f0c7a10-0000-4000-8000-00000000c002',
    resume: /copilot --resume=3f0c7a10/,
  },
  {
    agent: 'fumibako',
    isAtRisk: false,
    fixtures: { [JOURNAL]: 'fumibako/fixtures/talk.jsonl' },
    session: 'fumibako:5b1f0c52',
    resume: /fumi chat --resume 5b1f0c52/,
  },
  {
    agent: 'gemini',
    isAtRisk: true,
    fixtures: { '.': 'gemini/fixtures/home' },
    session: 'gemini:3f0c7a10-0000-4000-8000-000000000009',
    resume: /gemini --resume 3f0c7a10/,
  },
  {
    agent: 'kiro',
    isAtRisk: true,
    fixtures: { '.kiro': 'amazon-q/fixtures/kiro-files' },
    session: 'kiro:3f0c7a10-0000-4000-8000-00000000d001',
    resume: /kiro-cli chat --resume-id 3f0c7a10/,
  },
  {
    agent: 'pi',
    isAtRisk: false,
    fixtures: { '.pi/agent/sessions': 'pi/fixtures/sessions' },
    session: 'pi:7a000000-0000-4000-8000-000000000001',
    resume: /pi --session/,
  },
  {
    agent: 'qwen',
    isAtRisk: false,
    fixtures: { '.': 'qwen/fixtures/home' },
    session: 'qwen:5e000000',
    resume: /qwen --resume 5e000000/,
  },
]

interface Rows {
  readonly agent: string
  readonly fixture: string
  readonly store: string
  readonly table: string
  readonly key: string
  readonly session: string
}

/** Rows of a database that its program may overwrite at any time. */
const ROWS: readonly Rows[] = [
  {
    agent: 'amazon-q',
    fixture: 'amazon-q/fixtures/stores/amazon-q/data.sqlite3',
    store: '.local/share/amazon-q/data.sqlite3',
    table: 'conversations',
    key: 'key',
    session: 'amazon-q:6d2f0a10-0000-4000-8000-000000000008',
  },
  {
    agent: 'kiro',
    fixture: 'amazon-q/fixtures/stores/kiro-cli/data.sqlite3',
    store: '.local/share/kiro-cli/data.sqlite3',
    table: 'conversations_v2',
    key: 'conversation_id',
    session: 'kiro:6d2f0a10-0000-4000-8000-0000000000b1',
  },
]

/** @param keep the setting; default: what fumibako does by itself */
function machine(fixtures: { readonly [place: string]: string }, keep?: string) {
  const home = tempFolder()
  for (const [place, fixture] of Object.entries(fixtures)) {
    mkdirSync(dirname(join(home, place)), { recursive: true })
    cpSync(join(AGENTS, fixture), join(home, place), { recursive: true })
  }
  const env = {
    HOME: home,
    FUMI_HOME: join(home, 'fumi'),
    XDG_DATA_HOME: join(home, '.local/share'),
    ...(keep !== undefined && { FUMI_KEEP: keep }),
  }
  return {
    home,
    json: (...args: readonly string[]) => {
      const { code, out, err } = fumi([...args, '--json'], { env, cwd: home })
      expect({ args, code, err }).toEqual({ args, code: 0, err: '' })
      return JSON.parse(out)
    },
    run: (...args: readonly string[]) => fumi(args, { env, cwd: home }),
  }
}

/** What is backed up of an agent. */
const backupOf = (status: { agents: readonly { agent: string; kept: boolean; items: number }[] }, agent: string) =>
  status.agents.find((one) => one.agent === agent)

test('each agent that keeps sessions on disk is tested here', async () => {
  const tested = new Set([...FILES, ...ROWS, { agent: 'opencode' }].map(({ agent }) => agent))
  const resumable = (await allAgents()).filter(({ resume }) => resume).flatMap(agentIdsOf)
  expect(resumable.filter((id) => !tested.has(id))).toEqual([])
})

describe.each(FILES)('$agent $session', ({ agent, isAtRisk, fixtures, session, resume }) => {
  test('is backed up from first sight if its program loses sessions', () => {
    const { run, json } = machine(fixtures)
    run('sync')
    const backup = backupOf(json('backup', '--status'), agent)
    expect({ agent, kept: backup?.kept ?? false, some: (backup?.items ?? 0) > 0 }).toEqual({
      agent,
      kept: isAtRisk,
      some: isAtRisk,
    })
  })

  test('comes back to the byte, with its side files, and can be resumed', () => {
    const { home, run, json } = machine(fixtures, 'all')
    run('sync')
    const before = filesIn(home)
    for (const path of before.keys()) rmSync(join(home, path))
    const restored = json('restore', session, '--install')
    expect(restored.resume).toMatch(resume)
    const after = filesIn(home)
    expect(after.size).toBeGreaterThan(0)
    for (const [path, bytes] of after) expect(before.get(path)?.equals(bytes), path).toBe(true)
    expect(json('show', session).session.id).toContain(session)
    expect(run('restore', session, '--undo').code).toBe(0)
    expect(filesIn(home).size).toBe(0)
  })
})

describe.each(ROWS)('$agent $session', ({ agent, fixture, store, table, key, session }) => {
  test('is backed up from first sight, and its row comes back to the byte', () => {
    const { home, run, json } = machine({ [store]: fixture })
    run('sync')
    expect(backupOf(json('backup', '--status'), agent)).toMatchObject({ kept: true })
    const database = openSqlite(join(home, store))
    const read = (): unknown => database.prepare(`SELECT ${key}, value FROM ${table} ORDER BY 1, 2`).all()
    const rowOf = (): unknown => (read() as { value: string }[]).find(({ value }) => value.includes(session.slice(-12)))
    const before = rowOf()
    expect(before).toBeDefined()
    database.prepare(`DELETE FROM ${table}`).run()
    run('sync')
    json('restore', session, '--install')
    expect(rowOf()).toEqual(before)
    expect(read()).toHaveLength(1)
    database.close()
  })
})

describe('opencode', () => {
  test.each([
    [
      'in the database',
      { [`${OPENCODE}/opencode.db`]: 'opencode/fixtures/database/opencode.db' },
      'ses_ffeffffffffegarden00000002',
    ],
    ['in files', { [`${OPENCODE}/storage`]: 'opencode/fixtures/files/storage' }, 'ses_ffeffffffff9garden00000007'],
    [
      'in files by project',
      { [`${OPENCODE}/project`]: 'opencode/fixtures/opencode/project' },
      'ses_ffeffffffff8garden00000008',
    ],
  ])('sessions %s are backed up from first sight, and come back for opencode import', (_, fixtures, id) => {
    const { home, run, json } = machine(fixtures)
    run('sync')
    expect(backupOf(json('backup', '--status'), 'opencode')).toMatchObject({ kept: true })
    const texts = messagesOf(run('convert', `opencode:${id}`, '--to', 'normalized').out)
    expect(texts.length).toBeGreaterThan(0)
    rmSync(join(home, OPENCODE), { recursive: true })
    const file = join(home, 'session.json')
    const done = run('restore', `opencode:${id}`, '--to', file)
    expect(done).toMatchObject({ code: 0, out: expect.stringContaining(`opencode import ${file}`) })
    expect(messagesOf(run('convert', file, '--to', 'normalized').out)).toEqual(texts)
  })
})

/** What was said, whatever file holds it. */
const messagesOf = (lines: string): readonly string[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.stringify((JSON.parse(line) as { segments: unknown }).segments))

/** Files of the agent below the home, without ours. */
function filesIn(home: string): ReadonlyMap<string, Buffer> {
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(
    (path) => (!path.startsWith('fumi') || path.startsWith(join('fumi', 'conversations'))) && isFile(join(home, path)),
  )
  return new Map(files.map((path) => [path, readFileSync(join(home, path))]))
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile()

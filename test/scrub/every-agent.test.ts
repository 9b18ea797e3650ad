/** Secrets are removed from the store of each agent: it reads as before, and comes back to the byte. */
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agentIdsOf } from '../../src/agents/agent-roots.ts'
import { allAgents } from '../../src/agents/load-agents.ts'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { Random } from '../redact/benchmark/random.ts'
import { tempFolder } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'

const AGENTS = join(import.meta.dirname, '../../src/agents')
const random = new Random(31)
const TOKEN = `ghp_${random.alnum(36)}`
/** No format gives it away. */
const PASSWORD = `Tarn6_${random.letters(6)}8k`
const SECRETS = [PASSWORD, TOKEN]

interface Stored {
  readonly agent: string
  /** Fixtures by their place below the home. */
  readonly fixtures: { readonly [place: string]: string }
  readonly session: string
  /** What is replaced in the fixture to put secrets there: in a prompt, and in what a tool returned. */
  readonly prompt: string
  readonly output: string
}

const STORES: readonly Stored[] = [
  {
    agent: 'claude-code',
    fixtures: {
      '.claude/projects/-home-mio-tea/11111111-aaaa-4000-8000-000000000001.jsonl': 'claude-code/fixtures/turns.jsonl',
    },
    session: 'claude-code:11111111',
    prompt: 'in the pantry?',
    output: 'hojicha',
  },
  {
    agent: 'codex',
    fixtures: {
      '.codex/sessions/2026/03/05/rollout-2026-03-05T09-00-00-019c22d1-0000-7000-8000-000000000004.jsonl':
        'codex/fixtures/events.jsonl',
    },
    session: 'codex:019c22d1',
    prompt: 'Round the table, please.',
    output: 'done',
  },
  {
    agent: 'copilot',
    fixtures: { '.copilot': 'copilot/fixtures/home' },
    session: 'copilot:3f0c7a10-0000-4000-8000-00000000c002',
    prompt: 'Ask someone to look at the roses.',
    output: 'They bloom.',
  },
  {
    agent: 'fumibako',
    fixtures: { 'fumi/conversations/5b1f0c52-0000-4000-8000-000000000001.jsonl': 'fumibako/fixtures/talk.jsonl' },
    session: 'fumibako:5b1f0c52',
    prompt: 'Which files are there?',
    output: 'tide.ts',
  },
  {
    agent: 'gemini',
    fixtures: { '.': 'gemini/fixtures/home' },
    session: 'gemini:3f0c7a10-0000-4000-8000-000000000001',
    prompt: 'Which kettle is warm? 湯',
    output: 'tin.txt',
  },
  {
    agent: 'kiro',
    fixtures: { '.kiro': 'amazon-q/fixtures/kiro-files' },
    session: 'kiro:3f0c7a10-0000-4000-8000-00000000d001',
    prompt: 'What grows in bed 3? 豆',
    output: 'cat: beds.txt',
  },
  {
    agent: 'pi',
    fixtures: { '.pi/agent/sessions': 'pi/fixtures/sessions' },
    session: 'pi:7a000000-0000-4000-8000-000000000001',
    prompt: 'How warm is the oven? 窯',
    output: 'cold',
  },
  {
    agent: 'qwen',
    fixtures: { '.': 'qwen/fixtures/home' },
    session: 'qwen:5e000000-0000-4000-8000-000000000001',
    prompt: 'Count the plums. すもも',
    output: '12 plums',
  },
]

interface Rows extends Omit<Stored, 'fixtures'> {
  readonly fixture: string
  readonly store: string
  readonly table: string
}

const ROWS: readonly Rows[] = [
  {
    agent: 'amazon-q',
    fixture: 'amazon-q/fixtures/stores/amazon-q/data.sqlite3',
    store: '.local/share/amazon-q/data.sqlite3',
    table: 'conversations',
    session: 'amazon-q:6d2f0a10-0000-4000-8000-000000000008',
    prompt: 'hello',
    output: '"hi"',
  },
  {
    agent: 'kiro',
    fixture: 'amazon-q/fixtures/stores/kiro-cli/data.sqlite3',
    store: '.local/share/kiro-cli/data.sqlite3',
    table: 'conversations_v2',
    session: 'kiro:6d2f0a10-0000-4000-8000-0000000000b1',
    prompt: 'こんにちは 0',
    output: '"はい 0"',
  },
]

function machine(fixtures: { readonly [place: string]: string }) {
  const home = tempFolder()
  for (const [place, fixture] of Object.entries(fixtures)) {
    mkdirSync(dirname(join(home, place)), { recursive: true })
    cpSync(join(AGENTS, fixture), join(home, place), { recursive: true })
  }
  const env = { HOME: home, FUMI_HOME: join(home, 'fumi'), XDG_DATA_HOME: join(home, '.local/share'), FUMI_KEEP: 'all' }
  const run = (...args: readonly string[]) => fumi(args, { env, cwd: home })
  const shown = (session: string): { messages: readonly { segments: readonly object[] }[] } => {
    const { code, out, err } = run('show', session, '--json')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    return JSON.parse(out)
  }
  const ids = (): readonly string[] =>
    (JSON.parse(run('list', '--children', '--json').out) as { sessions: { id: string }[] }).sessions
      .map(({ id }) => id)
      .sort()
  return { home, run, shown, ids }
}

/** With a secret in a prompt that gives it away, and both in what a tool returned. */
const withSecrets = (text: string, { prompt, output }: Pick<Stored, 'prompt' | 'output'>): string =>
  text.replaceAll(prompt, `${prompt} The password is ${PASSWORD}.`).replaceAll(
    output,
    output.replace(/"?$/, (end) => ` ${PASSWORD} ${TOKEN}${end}`),
  )

test('each agent that keeps sessions on disk is tested here', async () => {
  const tested = new Set([...STORES, ...ROWS, { agent: 'opencode' }].map(({ agent }) => agent))
  const resumable = (await allAgents()).filter(({ resume }) => resume).flatMap(agentIdsOf)
  expect(resumable.filter((id) => !tested.has(id))).toEqual([])
})

describe.each(STORES)('$agent $session', (stored) => {
  test('is scrubbed, reads as before, and comes back to the byte', () => {
    const { session, fixtures } = stored
    const { home, run, shown, ids } = machine(fixtures)
    for (const path of filesIn(home)) writeFileSync(path, withSecrets(readFileSync(path, 'utf8'), stored))
    const before = textsIn(home)
    const { messages } = shown(session)
    for (const secret of SECRETS) expect(JSON.stringify(messages)).toContain(secret)
    const sessions = ids()

    const scrubbed = run('secrets', session, '--scrub', '--yes', '--json')
    expect(scrubbed).toMatchObject({ code: 0, err: '' })
    const { files } = JSON.parse(scrubbed.out) as { files: readonly string[] }
    expect(files.length).toBeGreaterThan(0)
    for (const path of files) for (const secret of SECRETS) expect(readFileSync(path, 'utf8')).not.toContain(secret)
    expect(shown(session).messages).toHaveLength(messages.length)
    expect(ids()).toEqual(sessions)
    expect(run('secrets', session)).toMatchObject({ code: 0 })

    expect(run('secrets', session, '--undo')).toMatchObject({ code: 0, err: '' })
    expect(textsIn(home)).toEqual(before)
    expect(run('secrets', session, '--scrub', '--yes')).toMatchObject({ code: 0, err: '' })
    expect(run('secrets', session, '--erase', '--yes')).toMatchObject({ code: 0, err: '' })
    expect(ids()).toEqual(sessions)
    expect(run('secrets', session)).toMatchObject({ code: 0 })
    expect(readdirSync(join(home, 'fumi/scrubbed'))).toEqual([])
  })
})

describe.each(ROWS)('$agent $session', (stored) => {
  test('is scrubbed, reads as before, and comes back to the byte', () => {
    const { session, fixture, store, table } = stored
    const { home, run, shown, ids } = machine({ [store]: fixture })
    const database = openSqlite(join(home, store))
    const read = () => database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all() as { value: string }[]
    const put = database.prepare(`UPDATE ${table} SET value = ? WHERE value = ?`)
    for (const { value } of read()) if (value.includes(session.slice(-12))) put.run(withSecrets(value, stored), value)
    const before = read()
    const { messages } = shown(session)
    const sessions = ids()
    expect(run('secrets', session, '--scrub', '--yes')).toMatchObject({ code: 0, err: '' })
    for (const secret of SECRETS) expect(JSON.stringify(read())).not.toContain(secret)
    expect(shown(session).messages).toHaveLength(messages.length)
    expect(run('secrets', session, '--undo')).toMatchObject({ code: 0, err: '' })
    expect(read()).toEqual(before)
    expect(run('secrets', session, '--scrub', '--yes')).toMatchObject({ code: 0, err: '' })
    expect(run('secrets', session, '--erase', '--yes')).toMatchObject({ code: 0, err: '' })
    // A row whose first entry changed is another session of the same conversation.
    const after = ids().map((id) => id.replace(/~[\da-f]+$/, ''))
    expect(after).toEqual(sessions)
    for (const id of ids()) expect(run('secrets', id)).toMatchObject({ code: 0 })
    database.close()
  })
})

describe('opencode', () => {
  test('without its program, nothing changes and the message says what is missing', () => {
    const { home, run } = machine({ '.local/share/opencode/opencode.db': 'opencode/fixtures/database/opencode.db' })
    const store = join(home, '.local/share/opencode/opencode.db')
    const database = openSqlite(store)
    database.prepare("UPDATE part SET data = replace(data, 'count the beds.', ?)").run(`beds ${TOKEN}`)
    database.prepare('UPDATE session SET directory = ?').run(home)
    const read = () => database.prepare('SELECT id, data FROM part ORDER BY id').all()
    const before = read()
    const { code, err } = run('secrets', 'opencode:ses_ffeffffffffegarden00000002', '--scrub', '--yes')
    expect(code).not.toBe(0)
    expect(err).toContain('opencode')
    expect(read()).toEqual(before)
    database.close()
  })
})

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('fumi') || path.startsWith(join('fumi', 'conversations')))
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile())

const textsIn = (folder: string): ReadonlyMap<string, string> =>
  new Map(filesIn(folder).map((path) => [path, readFileSync(path, 'utf8')]))

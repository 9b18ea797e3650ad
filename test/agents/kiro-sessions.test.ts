/** Sessions that Kiro keeps as files: counted once, with their credits, backed up, handed over and resumed. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { stateOf } from '../support/amazon-q-store.ts'
import { tempFolder } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'

const ID = '3f0c7a10-0000-4000-8000-00000000d001'
const FIXTURES = join(import.meta.dirname, '..', '..', 'src', 'agents', 'amazon-q', 'fixtures', 'kiro-files')

let home = ''
let work = ''
let env: Record<string, string> = {}
beforeEach(() => {
  home = tempFolder()
  work = join(home, 'work')
  mkdirSync(work)
  env = { HOME: home, USERPROFILE: home, FUMI_HOME: join(home, 'fumi'), XDG_DATA_HOME: join(home, 'data') }
  cpSync(FIXTURES, join(home, '.kiro'), { recursive: true })
})

const journal = (id = ID): string => join(home, '.kiro', 'sessions', 'cli', `${id}.jsonl`)
const sidecar = (id = ID): string => journal(id).replace('.jsonl', '.json')

interface Listed {
  readonly id: string
  readonly agent: string
  readonly path: string
  readonly title: string | null
  readonly credits?: number
  readonly parent: string | null
  readonly relation: string | null
}

function listed(): readonly Listed[] {
  const { out, err, code } = fumi(['list', '--json', '--limit', '0', '--agent', 'kiro'], { env })
  expect(code, err).toBe(0)
  return (JSON.parse(out) as { readonly sessions: readonly Listed[] }).sessions
}

const one = (id = ID): Listed | undefined => listed().find((session) => session.id === `kiro:${id}`)

test('sessions of both engines are listed with parents, titles and credits', () => {
  const sessions = listed()
  expect(sessions).toHaveLength(4)
  expect(one()).toMatchObject({ agent: 'kiro', title: 'The beds', credits: 0.75 })
  expect(sessions.map(({ parent, relation }) => [parent, relation]).filter(([parent]) => parent)).toEqual(
    expect.arrayContaining([
      [`kiro:${ID}`, 'fork'],
      [`kiro:${ID}`, 'subagent'],
    ]),
  )
  expect(sessions.find(({ title }) => title === 'The shed')?.credits).toBe(0.34)
  expect(fumi(['show', ID], { env }).out).toContain('0.75 credits')
})

test('a turn that only the description tells the price of is seen', () => {
  expect(one()?.credits).toBe(0.75)
  const value = JSON.parse(readFileSync(sidecar(), 'utf8'))
  value.title = 'The long bed'
  value.session_state.conversation_metadata.user_turn_metadatas.push({ metering_usage: [{ value: 1, unit: 'credit' }] })
  writeFileSync(sidecar(), JSON.stringify(value))
  expect(one()).toMatchObject({ title: 'The long bed', credits: 1.75 })
})

test('a session that is in the database too counts once', () => {
  const store = join(home, 'data', 'kiro-cli', 'data.sqlite3')
  mkdirSync(dirname(store), { recursive: true })
  const database = openSqlite(store)
  database.exec(
    'CREATE TABLE conversations_v2 (key TEXT, conversation_id TEXT, value TEXT, created_at INT, updated_at INT)',
  )
  const put = database.prepare('INSERT INTO conversations_v2 VALUES (?, ?, ?, ?, ?)')
  for (const id of [ID, '3f0c7a10-0000-4000-8000-00000000e001'])
    put.run(work, id, stateOf(id, [{ prompt: 'And leeks?', answer: 'In spring.' }]), 1, 2)
  database.close()
  expect(listed()).toHaveLength(5)
  expect(one()?.path).toBe(journal())
})

test('a deleted session is restored with its description', () => {
  expect(listed()).toHaveLength(4)
  const files = [journal(), sidecar(), journal().replace('.jsonl', '.history')]
  const before = files.map((file) => readFileSync(file, 'utf8'))
  for (const file of files) rmSync(file)
  const { code, err } = fumi(['restore', ID, '--install'], { env })
  expect(code, err).toBe(0)
  expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(before)
})

test('a conversation is handed over as files, not into a session that is open', () => {
  const saved = join(home, 'saved.json')
  const id = '1b4e28ba-2fa1-41d2-883f-0016d3cca427'
  writeFileSync(saved, stateOf(id, [{ prompt: 'When do I sow beans?', answer: 'In May.', tools: ['fs_read'] }]))
  const handOver = (...more: string[]) =>
    fumi(['handoff', saved, '--to', 'kiro', '--cwd', work, '--json', ...more], { env })
  const done = handOver()
  expect(done.code, done.err).toBe(0)
  expect(JSON.parse(done.out)).toMatchObject({
    path: journal(id),
    resume: { arguments: ['chat', '--resume-id', id] },
  })
  expect(JSON.parse(readFileSync(sidecar(id), 'utf8'))).toMatchObject({ session_id: id, cwd: work })
  expect(fumi(['validate', journal(id)], { env }).code).toBe(0)
  expect(fumi(['show', id], { env }).out).toContain('In May.')
  writeFileSync(
    journal(id).replace('.jsonl', '.lock'),
    JSON.stringify({ pid: process.pid, started_at: '2026-01-01T00:00:00Z' }),
  )
  expect(handOver('--replace').err).toContain(`(${process.pid}) has this session open`)
  expect(existsSync(journal(id))).toBe(true)
})

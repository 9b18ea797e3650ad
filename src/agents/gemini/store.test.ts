/** Which files of a Gemini home are conversations, and what the program does to them. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempFolder } from '../../../test/support/codex-log.ts'
import { readAll } from '../../../test/support/fixtures.ts'
import { sha256 } from '../../lib/hash.ts'
import type { Session } from '../../model/session.ts'
import type { Source } from '../agent.ts'
import gemini from './agent.ts'

const ID = '3f0c7a10-0000-4000-8000-000000000001'
const SESSION = 'session-2026-05-02T08-00-3f0c7a10.jsonl'

function stageHome(): { readonly home: string; readonly chats: string } {
  const home = join(tempFolder(), '.gemini')
  cpSync(join(import.meta.dirname, 'fixtures', 'home', '.gemini'), home, { recursive: true })
  return { home, chats: join(home, 'tmp', 'kettle', 'chats') }
}

async function found(root: string): Promise<ReadonlyMap<string, Session>> {
  const sources: Source[] = []
  for await (const source of gemini.find(root)) sources.push(source)
  const sessions = new Map<string, Session>()
  for (const source of sources) {
    const { session } = await readAll(gemini, source)
    if (session) sessions.set(source.path.slice(root.length + 1).replaceAll('\\', '/'), session)
  }
  return sessions
}

it('finds sessions, sub-agents with their parent, checkpoints and prompts, each in its directory', async () => {
  const sessions = await found(stageHome().home)
  expect([...sessions.keys()].sort()).toEqual([
    `tmp/kettle/chats/${ID}/3f0c7a10-0000-4000-8000-000000000009.jsonl`,
    `tmp/kettle/chats/${SESSION}`,
    'tmp/kettle/checkpoint-spout.json',
    'tmp/kettle/logs.json',
  ])
  expect([...sessions.values()].map(({ cwd }) => cwd)).toEqual(Array(4).fill('/work/kettle'))
  const child = sessions.get(`tmp/kettle/chats/${ID}/3f0c7a10-0000-4000-8000-000000000009.jsonl`)
  expect(child).toMatchObject({ parent: `gemini:${ID}`, relation: 'subagent' })
  expect(child?.first_prompt).toBeUndefined()
  expect(sessions.get('tmp/kettle/logs.json')?.kind).toBe('prompts')
})

it('takes the one of several files of a session that holds all of it, and both where neither does', async () => {
  const { home, chats } = stageHome()
  const copy = join(home, 'tmp', 'c'.repeat(64), 'chats')
  mkdirSync(copy, { recursive: true })
  cpSync(join(chats, SESSION), join(copy, SESSION))
  const sessionFiles = async () => [...(await found(home)).keys()].filter((path) => path.includes('session-'))
  expect(await sessionFiles()).toHaveLength(1)
  const other = '{"id":"x9","timestamp":"2026-05-02T09:00:10.000Z","type":"user","content":"Elsewhere"}\n'
  const header = `{"sessionId":"${ID}","projectHash":"p","startTime":"2026-05-02T09:00:00.000Z","kind":"main"}\n`
  writeFileSync(join(copy, SESSION), header + other)
  expect(await sessionFiles()).toHaveLength(2)
})

it('does not take the empty file that a resumed session leaves for a session, even if nothing else is left', async () => {
  const { home, chats } = stageHome()
  rmSync(join(chats, SESSION))
  expect([...(await found(home)).keys()].filter((path) => path.includes('session-'))).toEqual([])
})

it('finds the directory of a folder that is named by a hash', async () => {
  const { home, chats } = stageHome()
  const hash = join(home, 'tmp', sha256('/work/kettle'), 'chats')
  mkdirSync(hash, { recursive: true })
  cpSync(join(chats, SESSION), join(hash, SESSION))
  rmSync(join(chats, SESSION))
  const sessions = await found(home)
  expect(sessions.get(`tmp/${sha256('/work/kettle')}/chats/${SESSION}`)?.cwd).toBe('/work/kettle')
})

it.each([
  [undefined, { kind: 'deletes', days: 30 }],
  [{ enabled: false }, { kind: 'keeps' }],
  [
    { enabled: true, maxAge: '2w' },
    { kind: 'deletes', days: 14 },
  ],
  [{ maxAge: 'soon' }, { kind: 'deletes' }],
])('reads the retention from the settings: %j', (sessionRetention, expected) => {
  const home = tempFolder()
  mkdirSync(join(home, '.gemini'))
  writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify({ general: { sessionRetention } }))
  const stated = gemini.retention?.({ platform: 'linux', home, variables: {} })
  expect(stated).toMatchObject(expected)
  if (!('days' in expected)) expect(stated?.days).toBeUndefined()
})

it('changes the directory of a restored session by its hash', () => {
  const line = `{"sessionId":"${ID}","projectHash":"${sha256('/old')}","kind":"main"}\n`
  const change = { from: '/old', to: '/new' }
  const relocated = [...(gemini.originals?.relocate?.([Buffer.from(line)], change) ?? [])]
  expect(Buffer.concat(relocated).toString()).toBe(line.replace(sha256('/old'), sha256('/new')))
})

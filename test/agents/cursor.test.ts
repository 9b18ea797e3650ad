/** Cursor in a home: conversations of its database are listed, followed, and kept when the editor deletes them. */
import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import cursor from '../../src/agents/cursor/agent.ts'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { testHome } from '../support/test-home.ts'

const FIXTURES = join(import.meta.dirname, '..', '..', 'src', 'agents', 'cursor', 'fixtures')
const KETTLE = 'c0c0a000-0000-4000-8000-000000000001'
const OLD = 'c0c0a000-0000-4000-8000-000000000002'

test('conversations are listed, follow what is written, and stay when they are deleted', async () => {
  const made = testHome()
  const path = join(made.folder, '.config', 'Cursor', 'User', 'globalStorage', 'state.vscdb')
  mkdirSync(dirname(path), { recursive: true })
  copyFileSync(join(FIXTURES, 'globalStorage', 'state.vscdb'), path)
  const list = async () => {
    await made.app.sync()
    const { sessions } = await made.app.list({ kind: 'any', children: 'all' })
    return new Map(sessions.map((one) => [one.native_id, one]))
  }
  const before = await list()
  expect([...before.keys()].sort()).toEqual([KETTLE, OLD])
  expect(before.get(KETTLE)).toMatchObject({ title: 'Kettle', project: '/work/tea room', tools: 3 })
  expect(before.get(KETTLE)?.usage).toMatchObject({ input_tokens: 120, output_tokens: 30 })
  expect(before.get(OLD)).toMatchObject({ project: 'C:\\work\\tea', messages: 2 })

  const owner = openSqlite(path)
  const put = owner.prepare('INSERT INTO cursorDiskKV VALUES (?, ?)')
  const count = { inputTokens: 200, outputTokens: 40 }
  const bubble = { type: 2, bubbleId: 'b7', text: 'It is in kettle.txt.', tokenCount: count }
  put.run(`bubbleId:${KETTLE}:b7`, JSON.stringify(bubble))
  const after = await list()
  expect(after.get(KETTLE)?.usage).toMatchObject({ input_tokens: 320, output_tokens: 70 })

  owner.exec(`DELETE FROM cursorDiskKV WHERE key LIKE '%${KETTLE}%'`)
  owner.close()
  const rest = await list()
  expect(rest.get(KETTLE)).toMatchObject({ kept: true, title: 'Kettle' })
  expect(rest.get(KETTLE)?.usage).toMatchObject({ input_tokens: 320, output_tokens: 70 })
  made.app.close()
})

test('the database is that of the system', () => {
  const home = '/home/mio'
  expect(cursor.roots({ platform: 'linux', home, variables: { XDG_CONFIG_HOME: '/data/config' } })).toEqual([
    '/data/config/Cursor/User/globalStorage/state.vscdb',
  ])
  expect(cursor.roots({ platform: 'darwin', home, variables: {} })).toEqual([
    '/home/mio/Library/Application Support/Cursor/User/globalStorage/state.vscdb',
  ])
})

import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stateOf } from '../../../test/support/amazon-q-store.ts'
import { tempFolder } from '../../../test/support/codex-log.ts'
import { readAll } from '../../../test/support/fixtures.ts'
import { openSqlite } from '../../lib/sqlite/driver.ts'
import amazonQ from './agent.ts'
import { agentOfStore, roots, storePaths } from './stores.ts'

describe('store locations', () => {
  test('on each platform', () => {
    expect(storePaths({ platform: 'linux', home: '/home/u', variables: {} })).toEqual([
      '/home/u/.local/share/amazon-q/data.sqlite3',
      '/home/u/.local/share/kiro-cli/data.sqlite3',
    ])
    expect(storePaths({ platform: 'linux', home: '/home/u', variables: { XDG_DATA_HOME: '/data' } })[0]).toBe(
      '/data/amazon-q/data.sqlite3',
    )
    expect(storePaths({ platform: 'darwin', home: '/Users/u', variables: { XDG_DATA_HOME: '/data' } })[1]).toBe(
      '/Users/u/Library/Application Support/kiro-cli/data.sqlite3',
    )
    expect(storePaths({ platform: 'win32', home: 'C:\\Users\\u', variables: { LOCALAPPDATA: 'D:\\local' } })[0]).toBe(
      'D:\\local\\amazon-q\\data.sqlite3',
    )
    expect(storePaths({ platform: 'win32', home: 'C:\\Users\\u', variables: {} })[0]).toBe(
      'C:\\Users\\u\\AppData\\Local\\amazon-q\\data.sqlite3',
    )
    expect(roots({ platform: 'linux', home: '/home/u', variables: {} })).toContain(
      '/home/u/.aws/amazonq/.cli_bash_history',
    )
  })

  test('the folder identifies the owner of a store, otherwise tables that only Kiro writes', () => {
    expect(agentOfStore('/x/kiro-cli/data.sqlite3', () => false)).toBe('kiro')
    expect(agentOfStore('/x/amazon-q/data.sqlite3', () => true)).toBe('amazon-q')
    expect(agentOfStore('/x/backup/data.sqlite3', () => true)).toBe('kiro')
    expect(agentOfStore('/x/backup/data.sqlite3', () => false)).toBe('amazon-q')
  })
})

test('other tables are not read, so their pages may be corrupt', async () => {
  const path = join(tempFolder(), 'data.sqlite3')
  const database = openSqlite(path)
  for (const name of ['auth_kv', 'state', 'history'])
    database.exec(`CREATE TABLE ${name} (key TEXT PRIMARY KEY, value TEXT)`)
  database.exec('CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT)')
  database
    .prepare('INSERT INTO conversations VALUES (?, ?)')
    .run('/code', stateOf('c-1', [{ prompt: 'hello', answer: 'hi' }]))
  const pages = database
    .prepare("SELECT rootpage FROM sqlite_schema WHERE tbl_name IN ('auth_kv', 'state', 'history')")
    .pluck()
    .all() as number[]
  const size = database.pragma('page_size', { simple: true }) as number
  database.close()
  const fd = openSync(path, 'r+')
  for (const page of pages) writeSync(fd, Buffer.alloc(size, 0xff), 0, size, (page - 1) * size)
  closeSync(fd)
  const sources = []
  for await (const source of amazonQ.find(path)) sources.push(source)
  const [only] = sources
  if (!only || sources.length !== 1) throw new Error('one row was expected')
  const { messages, issues } = await readAll(amazonQ, only)
  expect(issues).toEqual([])
  expect(messages.map(({ segments }) => segments[0]?.text)).toContain('hi')
})

/** Cline and Roo Code in a home: both are found, related, counted as their own totals say, and searched. */
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import cline from '../../src/agents/cline/agent.ts'
import { classify } from '../../src/model/classify.ts'
import { readAll } from '../support/fixtures.ts'
import { testHome } from '../support/test-home.ts'

const FIXTURES = join(import.meta.dirname, '..', '..', 'src', 'agents', 'cline', 'fixtures')
const TASK = '1767600000000'

test('tasks of both programs are listed with their parents, and tokens equal those of the program', async () => {
  const made = testHome()
  cpSync(join(FIXTURES, 'User'), join(made.folder, '.config', 'Code', 'User'), { recursive: true })
  cpSync(join(FIXTURES, 'data'), join(made.folder, '.cline', 'data'), { recursive: true })
  await made.app.sync()
  const { sessions } = await made.app.list({ kind: 'any', children: 'all' })
  const byId = new Map(sessions.map((one) => [one.id as string, one]))
  expect([...byId.keys()].sort()).toEqual([
    'cline:1767600000000',
    'cline:1767600000000_ab12c',
    'roo:0c0ffee0-0000-4000-8000-000000000001',
    'roo:0c0ffee0-0000-4000-8000-000000000002',
  ])
  expect(byId.get('roo:0c0ffee0-0000-4000-8000-000000000002')).toMatchObject({
    parent: 'roo:0c0ffee0-0000-4000-8000-000000000001',
    relation: 'subagent',
    project: '/work/garden',
  })
  const history = join(FIXTURES, 'User', 'globalStorage', 'saoudrizwan.claude-dev', 'state', 'taskHistory.json')
  const [told] = JSON.parse(readFileSync(history, 'utf8')) as {
    readonly tokensIn: number
    readonly tokensOut: number
    readonly cacheWrites: number
    readonly cacheReads: number
  }[]
  expect(byId.get(`cline:${TASK}`)?.usage).toMatchObject({
    input_tokens: (told?.tokensIn ?? 0) + (told?.cacheReads ?? 0) + (told?.cacheWrites ?? 0),
    cached_input_tokens: told?.cacheReads,
    cache_write_tokens: told?.cacheWrites,
    output_tokens: told?.tokensOut,
  })
  const found = await made.app.search('lid agent:cline')
  expect(found.kind === 'found' && found.total).toBeGreaterThan(0)
  made.app.close()
})

test('only what a person typed is a prompt, and every result answers a call', async () => {
  for await (const source of cline.find(join(FIXTURES, 'User'))) {
    const { messages } = await readAll(cline, source)
    const typed = messages.filter((message) => classify(message).isTyped).length
    if (source.path.includes(`${TASK}/`)) expect(typed).toBe(2)
    const calls = new Set(messages.flatMap((one) => (one.source_type === 'tool_call' ? [one.tool_call?.call_id] : [])))
    for (const { source_type, tool_call } of messages)
      if (source_type === 'tool_result') expect(calls.has(tool_call?.call_id)).toBe(true)
  }
})

test('homes follow the system and the variables', () => {
  const home = '/home/mio'
  expect(cline.roots({ platform: 'linux', home, variables: { CLINE_DIR: '/data/cline' } })).toEqual([
    '/home/mio/.config/Code/User/globalStorage/saoudrizwan.claude-dev',
    join('/data/cline', 'data'),
  ])
  expect(cline.roots({ platform: 'darwin', home, variables: { CLINE_DATA_DIR: '/data/tasks' } })).toEqual([
    '/home/mio/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev',
    '/data/tasks',
  ])
})

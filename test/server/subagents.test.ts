/** Sub-agents under the calls that started them, branches that were left, and what a compaction dropped. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { idOf, type Reply, serve } from './test-server.ts'

const FIXTURES = join(import.meta.dirname, '..', '..', 'src', 'agents', 'claude-code', 'fixtures')
const PROJECT = '.claude/projects/-home-mio-tea'
const SESSION = '88888888-aaaa-4000-8000-000000000008'
const LOGS = [`${SESSION}.jsonl`, `${SESSION}/subagents/agent-a1b2c3d4e5f60718a.jsonl`]
const SIDECAR = `${SESSION}/subagents/agent-a1b2c3d4e5f60718a.meta.json`

const withFiles = (names: readonly string[]) =>
  serve(Object.fromEntries(names.map((name) => [join(PROJECT, name), readFileSync(join(FIXTURES, PROJECT, name))])))

test('what a compaction dropped is marked, and the model continues from the summary', async () => {
  const path = join(PROJECT, '44444444-aaaa-4000-8000-000000000004.jsonl')
  const served = serve({ [path]: readFileSync(join(FIXTURES, 'branches.jsonl')) })
  await served.app.sync()
  const session = `/api/sessions/${idOf('claude-code:44444444-aaaa-4000-8000-000000000004')}`
  await served.get(`${session}/turns`)
  const { data } = await served.get<Reply>(`${session}/messages?limit=50`, 'WindowReply')
  const shown = data.filter(({ show }: Reply) => ['prompt', 'answer', 'summary'].includes(show))
  expect(
    shown.map(({ show, flags }: Reply) => `${show}${flags.cut ? ' cut' : ''}${flags.rolled_back ? ' left' : ''}`),
  ).toEqual([
    'prompt cut',
    'answer cut',
    'prompt cut left',
    'answer cut left',
    'prompt cut',
    'answer cut',
    'summary',
    'prompt',
    'answer',
  ])
  await served.close()
})

const servers = {
  'the call that its sidecar names': withFiles([...LOGS, SIDECAR]),
  'its id in the result': withFiles(LOGS),
}
afterAll(() => Promise.all(Object.values(servers).map((one) => one.close())))

test.each(Object.entries(servers))('a sub-agent is found by %s', async (_, served) => {
  await served.app.sync()
  const session = `/api/sessions/${idOf(`claude-code:${SESSION}`)}`
  const { data } = await served.get<Reply>(`${session}/messages?limit=50`, 'WindowReply')
  const call = data.find((one: Reply) => one.tool_call?.name === 'Agent')
  expect(call.tool_call.child_session).toBe('claude-code:agent-a1b2c3d4e5f60718a')
  expect((await served.get<Reply>(session)).data.child_count).toBe(1)
})

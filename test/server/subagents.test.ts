/** Calls that started a sub-agent name its session, so that the page shows it under the call. */
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

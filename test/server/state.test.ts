/** Conversations with a state: the agent's context, patterns, and the source's own record. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { idOf, type Reply, serve, type TestServer } from './test-server.ts'

const TOOL = (name: string): object => ({
  ToolSpecification: { name, description: `does ${name}`, input_schema: { json: {} } },
})

let served: TestServer
let id: string
beforeAll(async () => {
  served = serve({ 'code/notes.md': 'x'.repeat(400) })
  const store = makeStore(join(served.folder, 'data', 'amazon-q', 'data.sqlite3'), 'wal')
  const state = stateOf(
    'c-1',
    [
      { prompt: 'first', answer: 'one', tools: ['fs_read'] },
      { prompt: 'second', answer: 'two' },
    ],
    {
      valid_history_range: [1, 3],
      tools: { native___: [TOOL('fs_read'), TOOL('execute_bash')], github: [TOOL('issues')] },
      context_manager: {
        max_context_files_size: 150_000,
        current_profile: 'q_cli_default',
        paths: ['notes.md', 'none.md'],
        hooks: {},
      },
      model_info: { model_name: 'Sonnet', model_id: 'claude-sonnet-4', context_window_tokens: 200_000 },
      latest_summary: ['What went **before**', { request_id: null }],
      file_line_tracker: { 'a.ts': { lines_added_by_agent: 3, lines_removed_by_agent: 1 } },
    },
  )
  store.put(join(served.folder, 'code'), state)
  store.close()
  await served.app.sync()
  id = (await served.get<Reply>('/api/sessions')).data[0].id
})
afterAll(() => served.close())

test('returns model, context with sizes, tools by origin, summary and range', async () => {
  const { data } = await served.get<Reply>(`/api/sessions/${idOf(id)}/state`, 'StateReply')
  expect(data).toMatchObject({
    conversation_id: 'c-1',
    model: { id: 'claude-sonnet-4', window_tokens: 200_000 },
    agent_profile: 'q_cli_default',
    history: { entries: 3, start: 1, end: 3 },
    summary: { text: 'What went **before**', html: '<p>What went <strong>before</strong></p>\n' },
    context: {
      limit_tokens: 150_000,
      patterns: [
        { pattern: 'notes.md', tokens: 100, files: [{ bytes: 400 }] },
        { pattern: 'none.md', files: [] },
      ],
    },
    tools: [
      {
        origin: 'native',
        native: true,
        tools: [{ name: 'fs_read', description: 'does fs_read' }, { name: 'execute_bash' }],
      },
      { origin: 'github', native: false, tools: [{ name: 'issues' }] },
    ],
    tangent: null,
    files: [{ path: 'a.ts', added: 3, removed: 1 }],
  })
  expect((await served.get<Reply>(`/api/sessions/${idOf(id)}`, 'SessionReply')).data.has_state).toBe(true)
})

test('calls and results of entries are joined, and each has its record', async () => {
  const { data } = await served.get<Reply>(`/api/sessions/${idOf(id)}/messages`, 'WindowReply')
  const asked = data.find((one: Reply) => one.source_type === 'tool_call')
  expect(asked.tool_call).toMatchObject({ name: 'fs_read', status: 'success', output: 'done first fs_read' })
  expect(data.find((one: Reply) => one.id === asked.tool_call.joined)).toMatchObject({ show: 'joined' })
  expect(data.filter((one: Reply) => one.flags.cut).length).toBeGreaterThan(0)
  const raw = await served.get<Reply>(`/api/sessions/${idOf(id)}/messages/${idOf(asked.id)}/raw`, 'RawReply')
  expect(raw.data.records[0].assistant.ToolUse.tool_uses[0].name).toBe('fs_read')
})

test('a row that is still in its store is no backup, and can be resumed', async () => {
  expect((await served.get<Reply>('/api/sessions', 'SessionsReply')).data[0]).toMatchObject({
    kept: false,
    gone: false,
  })
  const detail = (await served.get<Reply>(`/api/sessions/${idOf(id)}`, 'SessionReply')).data
  expect(detail).toMatchObject({ resume: { command: expect.any(String) }, resume_reason: null })
})

test('patterns, estimates and turns', async () => {
  const { data } = await served.get<Reply>('/api/stats/patterns', 'PatternsReply')
  const none = { count: 0, percent: 0 }
  expect(data).toMatchObject({
    conversations: 1,
    patterns: { single: { count: 1, percent: 100 } },
    incomplete: none,
    turns: { total: 2, incomplete: none, cancelled: none },
  })
  expect((await served.get<Reply>(`/api/sessions/${idOf(id)}/totals`, 'SessionTotalsReply')).data.pattern).toBe(
    'single',
  )
  const turns = (await served.get<Reply>(`/api/sessions/${idOf(id)}/turns`, 'TurnsReply')).data
  expect(turns.map((one: Reply) => one.prompt)).toEqual(['first', 'second'])
  expect((await served.get<Reply>('/api/sessions', 'SessionsReply')).data[0].estimate.total_tokens).toBeGreaterThan(0)
})

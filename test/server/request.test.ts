/** Requests as sent to the model, for Amazon Q and our own journals. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { idOf, type Reply, serve, type TestServer } from './test-server.ts'

const JOURNAL = join(import.meta.dirname, '..', '..', 'src', 'agents', 'fumibako', 'fixtures', 'talk.jsonl')

let served: TestServer
beforeAll(async () => {
  served = serve({ 'code/notes.md': 'the notes', 'secret.txt': 'not of the project' })
  served.write('fumi/conversations/5b1f0c52-0000-4000-8000-000000000001.jsonl', readFileSync(JOURNAL))
  const store = makeStore(join(served.folder, 'data', 'amazon-q', 'data.sqlite3'), 'wal')
  const entries = [
    { prompt: 'first', answer: 'one', tools: ['fs_read'] },
    { prompt: 'second', answer: 'two' },
    { prompt: 'third', answer: 'three' },
  ]
  const context_manager = {
    max_context_files_size: 150_000,
    current_profile: 'q_cli_default',
    paths: ['notes.md', '../secret.txt'],
    hooks: {},
  }
  const state = stateOf('c-1', entries, { context_manager, latest_summary: 'in short' })
  store.put(join(served.folder, 'code'), state)
  store.close()
  await served.app.sync()
})
afterAll(() => served.close())

async function requestOf(agent: string, prompt: string): Promise<Reply> {
  const sessions = (await served.get<Reply>('/api/sessions')).data as Reply[]
  const { id } = sessions.find((one) => one.agent === agent)
  const messages = (await served.get<Reply>(`/api/sessions/${idOf(id)}/messages`)).data as Reply[]
  const asked = messages.find((one) => one.segments.some(({ text }: Reply) => text?.includes(prompt)))
  return (await served.get<Reply>(`/api/sessions/${idOf(id)}/messages/${idOf(asked.id)}/request`, 'RequestReply')).data
}

const kinds = (parts: Reply[]): string[] =>
  parts.map(({ kind, name }) => (name === undefined ? kind : `${kind} ${name}`))

test('of Amazon Q: summary, project files, sent history, prompt', async () => {
  const { parts, entry, budget, supposed } = await requestOf('amazon-q', 'third')
  expect(entry).toBe(4)
  const texts = new Map(parts.map((one: Reply) => [`${one.kind} ${one.name ?? ''}`.trim(), one.text]))
  expect(texts.get('summary')).toContain('in short')
  expect(texts.get(`context_file ${join(served.folder, 'code', 'notes.md')}`)).toContain('the notes')
  const content = ['history_user 1', 'history_assistant 1', 'tool_results 2', 'history_assistant 2']
  const last = ['history_user 3', 'history_assistant 3', 'time_header', 'marker', 'prompt', 'marker', 'environment']
  expect(kinds(parts).slice(3)).toEqual(['acknowledgement', ...content, ...last])
  expect(texts.get('prompt')).toBe('third')
  expect(budget.window).toBe(200_000)
  expect(budget.free).toBeLessThan(200_000)
  expect(supposed).toEqual(['files_of_now', 'files_elsewhere', 'state_of_now'])
})

test('a file outside the project is named but not shown', async () => {
  const { parts } = await requestOf('amazon-q', 'second')
  const secret = parts.find(({ name }: Reply) => name?.endsWith('secret.txt'))
  expect(secret).toMatchObject({ kind: 'context_file', text: '', bytes: 18 })
})

test('of fumibako: the pending message with its tools', async () => {
  const { parts, model, entry } = await requestOf('fumibako', 'Which files are there?')
  expect([model, entry]).toEqual(['qwen3-coder', 1])
  expect(parts.find(({ kind }: Reply) => kind === 'prompt').text).toContain('Which files are there?')
  expect(parts.find(({ kind }: Reply) => kind === 'tools')).toMatchObject({ name: 'native___' })
  const answered = await requestOf('fumibako', 'There are notes.md and tide.ts.')
  expect(kinds(answered.parts)).toEqual(
    expect.arrayContaining(['history_user 1', 'history_assistant 1', 'tool_results']),
  )
})

test('a message outside any request is refused', async () => {
  const sessions = (await served.get<Reply>('/api/sessions')).data as Reply[]
  const { id } = sessions.find((one) => one.agent === 'fumibako')
  const path = `/api/sessions/${idOf(id)}/messages`
  expect((await served.ask(`${path}/${idOf('2026-01-01T00:00:00.000Z#999')}/request`)).status).toBe(404)
})

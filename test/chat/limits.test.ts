/** Limits of a conversation: the model's window, and the number of exchanges sent. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Entries } from '../../src/conversation/entries.ts'
import { promptOf } from '../../src/conversation/message-text.ts'
import { newPrompt, newResponse } from '../../src/conversation/new-message.ts'
import { newState } from '../../src/conversation/state.ts'
import { tempFolder } from '../support/codex-log.ts'
import { answer } from '../support/model-chunks.ts'
import { listingServer, modelServer } from '../support/model-server.ts'
import { chatSession, outputText, readJournalOf, sendLine } from './support/chat-session.ts'
import { openTestChat } from './support/open-chat.ts'

test('/model lists, chooses, and the budgets follow the window of the model', async () => {
  const server = await listingServer(
    [
      { id: 'm', max_model_len: 4000 },
      { id: 'large', max_model_len: 100_000 },
    ],
    [answer('Small.'), answer('Large.')],
  )
  const cwd = tempFolder()
  writeFileSync(join(cwd, 'README.md'), `A long text. ${'word '.repeat(3000)}`)
  const { session: chat } = await openTestChat({ server, cwd })
  expect(outputText(await sendLine(chat, '/model'))).toMatch(/^\* 1 {2}m {2}4,000\n {2}2 {2}large {2}100,000\n/)
  const first = await sendLine(chat, 'Hello')
  expect(first).toContainEqual(expect.objectContaining({ kind: 'notice', code: 'context_dropped' }))
  expect(chat.state.context_manager?.max_context_files_size).toBe(3000)

  expect(outputText(await sendLine(chat, '/model large'))).toMatch(/context window: 100,000 tokens/)
  expect(chat.state.model_info).toMatchObject({ model_id: 'large', context_window_tokens: 100_000 })
  expect(chat.state.context_manager?.max_context_files_size).toBe(75_000)
  expect(outputText(await sendLine(chat, '/usage'))).toMatch(/of 100,000 tokens/)
  await sendLine(chat, 'Hello again')
  expect(server.asked.map(({ body }) => body['model'])).toEqual(['m', 'large'])
  expect(server.asked.map(({ body }) => JSON.stringify(body.messages).includes('A long text.'))).toEqual([false, true])

  expect(await sendLine(chat, '/model elsewhere')).toContainEqual(
    expect.objectContaining({ kind: 'notice', text: expect.stringMatching(/does not list elsewhere/) }),
  )
})

test('swapping the agent switches to its model unless the user chose one', async () => {
  const models = [
    { id: 'm', max_model_len: 4000 },
    { id: 'large', max_model_len: 100_000 },
  ]
  const server = await listingServer(models, [answer('I am large.'), answer('I am m.')])
  const cwd = tempFolder()
  const agents = join(cwd, '.amazonq', 'cli-agents')
  mkdirSync(agents, { recursive: true })
  writeFileSync(join(agents, 'big.json'), '{"name": "big", "model": "large", "tools": []}')
  const free = await openTestChat({ server, cwd, model: null })
  expect(free.session.setup.server.model).toBe('m')
  await sendLine(free.session, '/agent swap big')
  expect(free.session.state.context_manager?.max_context_files_size).toBe(75_000)
  await sendLine(free.session, 'Who are you?')
  const chosen = await openTestChat({ server, cwd, model: 'm' })
  await sendLine(chosen.session, '/agent swap big')
  await sendLine(chosen.session, 'Who are you?')
  expect(server.asked.map(({ body }) => body['model'])).toEqual(['large', 'm'])
})

test('at most ten thousand messages are sent; the journal drops nothing, and /rewind reaches the first', async () => {
  const server = await modelServer(answer('Still here.'), answer('At the beginning.'))
  const entries = 5100
  const env = { env_state: null }
  const history = Entries.over(
    Array.from({ length: entries }, (_, at) => ({
      user: newPrompt(`question ${at + 1}`, null, env),
      assistant: newResponse(null, 'yes'),
      request_metadata: null,
    })),
  )
  const model_info = { model_id: 'm', context_window_tokens: 1_000_000 }
  const chat = chatSession({ ...server, state: { ...newState('c', { model_info }), history } })
  await sendLine(chat, 'And now?')
  const sent = server.asked[0]?.body.messages ?? []
  expect(sent.length).toBeLessThanOrEqual(10_000)
  expect(sent.length).toBeGreaterThan(9_900)
  expect(JSON.stringify(sent)).not.toContain('question 1"')
  expect(JSON.stringify(sent.at(-3))).toContain(`question ${entries}`)
  expect(chat.state.history.length).toBe(entries + 1)
  expect(readJournalOf(chat).filter(({ event }) => event === 'copied' || event === 'entry')).toHaveLength(entries + 1)

  await sendLine(chat, '/rewind 1')
  await sendLine(chat, 'What then?')
  expect(chat.state.history.toArray().map(({ user }) => promptOf(user))).toEqual(['question 1', 'What then?'])
  expect(JSON.stringify(server.asked[1]?.body.messages)).toContain('question 1')
  expect(outputText(await sendLine(chat, '/rewind branches'))).toMatch(/5,100 exchanges/)
})

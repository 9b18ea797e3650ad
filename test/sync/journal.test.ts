/** Our own conversations are listed, searched and watched like those of any other agent. */
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createJournal, type JournalFile, openJournal } from '../../src/chat/journal/journal-file.ts'
import type { JournalEvent, UntimedEvent } from '../../src/conversation/journal/event.ts'
import { journalOf } from '../../src/conversation/journal/state-to-events.ts'
import { NO_ENVIRONMENT, newPrompt, newResponse, newToolUse } from '../../src/conversation/new-message.ts'
import { newState } from '../../src/conversation/state.ts'
import type { SessionId } from '../../src/model/ids.ts'
import { testHome } from '../support/test-home.ts'

const ID = '5b1f0c52-0000-4000-8000-00000000000a'
const SESSION = `fumibako:${ID}` as SessionId
const closing: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

let second = 0
const timed = (event: UntimedEvent): JournalEvent =>
  ({ ...event, at: new Date(Date.UTC(2026, 3, 2, 8, 0, second++)).toISOString() }) as JournalEvent

function begun(folder: string): JournalFile {
  second = 1
  const header = { at: '2026-04-02T08:00:00.000Z', cwd: '/code/tidepool', program: '0.1.0' }
  const journal = createJournal(join(folder, 'fumi'), journalOf(newState(ID), header))
  closing.push(() => journal.close())
  return journal
}

const ask = (text: string): JournalEvent =>
  timed({ event: 'next_message', message: newPrompt(text, null, NO_ENVIRONMENT) })
const answer = (number: number, text: string): JournalEvent =>
  timed({ event: 'entry', number, assistant: newResponse(null, text), request_metadata: null })
const used = (input: number, output: number): JournalEvent =>
  timed({
    event: 'usage',
    model: 'qwen3-coder',
    usage: {
      input_tokens: input,
      cached_input_tokens: 0,
      output_tokens: output,
      reasoning_output_tokens: 0,
      total_tokens: input + output,
    },
    estimated: false,
    purpose: 'answer',
  })
const piece = (text: string): JournalEvent => timed({ event: 'delta', text })

test('a journal is listed with prompt, directory, tokens and models, and its text is searchable', async () => {
  const { app, folder } = testHome()
  const journal = begun(folder)
  journal.append([ask('How high is the tide?'), used(120, 8), answer(1, 'Two metres at the breakwater.')])
  await app.sync()
  expect(app.list()).toMatchObject({
    total: 1,
    sessions: [
      {
        id: SESSION,
        agent: 'fumibako',
        title: 'How high is the tide?',
        project: '/code/tidepool',
        models: ['qwen3-coder'],
        messages: 2,
        usage: { input_tokens: 120, output_tokens: 8, total_tokens: 128 },
        indexed: true,
      },
    ],
  })
  expect(await app.search('breakwater')).toMatchObject({ hits: [{ session_id: SESSION }] })
})

test('added entries are indexed once, and the complete answer replaces a partial one', async () => {
  const { app, folder } = testHome()
  const journal = begun(folder)
  journal.append([ask('How high is the tide?')])
  journal.append([piece('Two met')])
  await app.sync()
  expect(app.session(SESSION)).toMatchObject({ messages: 2 })
  expect((await texts(app))[1]).toBe('Two met')
  journal.append([piece('res.')])
  await app.sync()
  expect(await texts(app)).toEqual(['How high is the tide?', 'Two metres.'])
  journal.append([used(120, 8), answer(1, 'Two metres.')])
  await app.sync()
  expect(app.session(SESSION)).toMatchObject({ messages: 2, usage: { total_tokens: 128 } })
  expect(await texts(app)).toEqual(['How high is the tide?', 'Two metres.'])
})

test('a tool result that the next message repeats is found once', async () => {
  const { app, folder } = testHome()
  const journal = begun(folder)
  const use = { id: 't', name: 'look', orig_name: 'look', args: {}, orig_args: {} }
  const result = { tool_use_id: 't', content: [{ Text: 'a periwinkle' }], status: 'Success' }
  const message = {
    ...newPrompt('', null, NO_ENVIRONMENT),
    content: { ToolUseResults: { tool_use_results: [result] } },
  }
  journal.append([
    ask('What is there?'),
    timed({ event: 'entry', number: 1, assistant: newToolUse(null, '', [use]), request_metadata: null }),
    timed({ event: 'tool_started', tool_use_id: 't', name: 'look' }),
    timed({ event: 'tool_finished', result, duration_ms: 7 }),
    timed({ event: 'next_message', message }),
    answer(2, 'A snail.'),
  ])
  await app.sync()
  expect(await app.search('periwinkle')).toMatchObject({ hits: [{ session_id: SESSION }] })
  expect(app.session(SESSION)).toMatchObject({ messages: 2, tools: 1 })
})

test('a chat in progress is followed, also when another process continues it', async () => {
  const { app, folder } = testHome()
  const journal = begun(folder)
  journal.append([ask('One?'), answer(1, 'Yes.')])
  const watch = await app.watch()
  if (watch.kind !== 'watching') throw new Error('somebody else watches')
  closing.push(watch.close)
  await watch.ready
  const changes = app.events.subscribe()
  const until = async (count: number): Promise<void> => {
    while (app.session(SESSION)?.messages !== count) await changes.next()
  }
  setTimeout(() => journal.append([ask('Two?'), answer(2, 'Also.')]), 20)
  await until(4)
  journal.close()
  setTimeout(() => {
    const options = { at: '2026-04-02T09:00:00.000Z', cwd: '/code/tidepool', program: '0.1.0', env: NO_ENVIRONMENT }
    const again = openJournal(join(folder, 'fumi'), ID, options).journal
    closing.push(() => again.close())
    again.append([ask('Three?')])
  }, 20)
  await until(5)
})

async function texts(app: ReturnType<typeof testHome>['app']): Promise<readonly string[]> {
  const bodies = await app.messages(SESSION)
  return bodies.flatMap((one) => {
    if (one.kind !== 'body') throw new Error('gone')
    const { role, segments } = one.message
    return role === 'user' || role === 'assistant' ? [segments.map(({ text }) => text ?? '').join('')] : []
  })
}

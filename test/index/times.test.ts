/** Times: what a log records, or none. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { allAgents } from '../../src/agents/load-agents.ts'
import { listLogSessions } from '../../src/cli/find-session.ts'
import type { SessionId } from '../../src/model/ids.ts'
import { recordedTime } from '../../src/model/recorded-time.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { assistant, at, header, line, shortSession, THREAD, tempFolder, text, user } from '../support/codex-log.ts'
import { readAll } from '../support/fixtures.ts'
import { rollout, testHome } from '../support/test-home.ts'

const ID = `codex:${THREAD}` as SessionId
const agents = await allAgents()
const agentNamed = (id: string) => agents.find((one) => one.id === id) ?? expect.fail(id)

/** Long after anything that a log says. */
const COPIED = new Date('2031-05-06T07:08:09.000Z')

const example = (prompt: string): string =>
  JSON.stringify({
    messages: [
      { role: 'user', content: prompt },
      { role: 'assistant', content: `About ${prompt}` },
    ],
  })

function writeCopied(path: string, content: string): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  utimesSync(path, COPIED, COPIED)
  return path
}

test('the first pass finds the last time of a log without token counts, whatever the file time', async () => {
  const { app, folder } = testHome()
  const path = writeCopied(join(folder, rollout(THREAD)), text([header(), user(1, 'Hello.'), assistant(90, 'Hi.')]))
  await app.sync({ passes: 'first' })
  expect(app.list().sessions).toMatchObject([{ id: ID, started_at: at(0), last_at: at(90), indexed: false }])
  expect(app.list({ since: Date.parse(at(91)) }).total).toBe(0)
  expect(app.list({ since: Date.parse(at(89)) }).total).toBe(1)
  expect((await listLogSessions(app, [path])).sessions).toMatchObject([{ last_at: at(90) }])
  await app.sync()
  expect(app.list().sessions).toMatchObject([{ started_at: at(0), last_at: at(90), indexed: true }])
})

test('a log that grows moves its last time, and one that is replaced by a shorter one moves it back', async () => {
  const { app, write } = testHome()
  const last = () => app.list().sessions[0]?.last_at
  const begin = [header(), user(1, 'Hello.')]
  write(rollout(THREAD), text(begin))
  await app.sync({ passes: 'first' })
  write(rollout(THREAD), text([...begin, assistant(60, 'Hi.'), user(70, 'Thanks.')]))
  await app.sync({ passes: 'first' })
  expect(last()).toBe(at(70))
  write(rollout(THREAD), text([header(), user(2, 'Another beginning.')]))
  await app.sync()
  expect(last()).toBe(at(2))
})

test('a session starts at the first time in its log, where the first records have none', async () => {
  const { app, write } = testHome()
  const timeless = JSON.stringify({ type: 'response_item', payload: { type: 'message', role: 'user', content: [] } })
  write(rollout(THREAD), text([timeless, user(5, 'Hello.'), assistant(6, 'Hi.')]))
  await app.sync()
  expect(app.list().sessions).toMatchObject([{ started_at: at(5), last_at: at(6) }])
})

test('conversations without times are in no period, no activity and no duration, and come last', async () => {
  const folder = tempFolder()
  const files = join(folder, 'files')
  const { app, write } = testHome({ roots: [files] }, folder)
  writeCopied(join(files, 'train.jsonl'), ['ferry', 'harbour', 'lantern'].map((one) => `${example(one)}\n`).join(''))
  write(rollout(THREAD), text(shortSession()))
  await app.sync()
  const { sessions } = app.list()
  expect(sessions.map(({ id, last_at }) => [id.split(':')[0], last_at === null])).toEqual([
    ['codex', false],
    ['openai', true],
    ['openai', true],
    ['openai', true],
  ])
  for (const filter of [{ since: 0 }, { until: Date.parse('2040-01-01') }])
    expect(app.list(filter).sessions.map(({ id }) => id)).toEqual([ID])
  const stats = app.stats()
  expect(stats?.longest.map(({ session }) => session)).toEqual([ID])
  // A prompt, an answer and a call.
  expect(stats?.by_hour.reduce((a, b) => a + b, 0)).toBe(3)
  const found = (query: string) => app.search(query)
  expect(await found('ferry before:2040')).toMatchObject({ total: 0 })
  expect(await found('ferry after:1971')).toMatchObject({ total: 0 })
  expect(await found('ferry')).toMatchObject({ hits: [{ timestamp: null }, { timestamp: null }] })
  expect(await found('ferry -before:2040')).toMatchObject({ total: 2 })
})

test('tokens of an undated answer count, but on no day', async () => {
  const folder = tempFolder()
  const files = join(folder, 'files')
  const { app } = testHome({ roots: [files] }, folder)
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
  const message = { role: 'assistant', content: 'Hello.' }
  writeCopied(
    join(files, 'answer.json'),
    JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model: 'gpt-5',
      choices: [{ index: 0, message }],
      usage,
    }),
  )
  await app.sync()
  const totals = await app.totals()
  expect(totals?.usage.total_tokens).toBe(120)
  expect(Object.keys(totals?.by_day ?? {})).toEqual(['unknown'])
  expect((await app.totals({ until: Date.parse('2040-01-01') }))?.usage.total_tokens).toBe(0)
})

test('an Amazon Q conversation without times has none, in the index and in its backup', async () => {
  const { app, folder } = testHome()
  const path = join(folder, 'data/amazon-q/data.sqlite3')
  mkdirSync(dirname(path), { recursive: true })
  const store = makeStore(path)
  const state = JSON.parse(stateOf('c1', [{ prompt: 'Where is the key?', answer: 'Below the mat.' }]))
  for (const entry of state.history) {
    const [user] = Array.isArray(entry) ? entry : [entry.user]
    delete user.timestamp
    if (!Array.isArray(entry)) entry.request_metadata = null
  }
  store.put('/w/app', JSON.stringify(state))
  await app.sync()
  expect(app.list().sessions).toMatchObject([{ agent: 'amazon-q', started_at: null, last_at: null }])
})

test('ids do not depend on file times or on when a log was read', async () => {
  const legacy = [
    { id: 'old', instructions: null },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello.' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] },
  ]
  const logs = [
    ['codex', 'rollout-old.jsonl', text(legacy.map((one) => JSON.stringify(one)))],
    ['openai', 'train.jsonl', `${example('ferry')}\n`],
    ['amazon-q', '.cli_bash_history', '#V2\nfirst\nsecond\n'],
  ] as const
  for (const [agent, name, content] of logs) {
    const path = writeCopied(join(tempFolder(), name), content)
    const read = async () => (await readAll(agentNamed(agent), { agent, path })).messages
    const before = await read()
    utimesSync(path, new Date(0), new Date(86_400_000))
    const after = await read()
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id))
    expect(before.map(({ id }) => id.slice(0, 10))).toEqual(before.map(() => '1970-01-01'))
    expect(before.map(recordedTime)).toEqual(before.map(() => null))
    expect(before.every(({ metadata }) => metadata?.timestamp_inferred && metadata.timestamp_basis)).toBe(true)
  }
})

test('an old Codex log without any time takes that of its file, as specified, and is listed without a date', async () => {
  const { app, folder } = testHome()
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello.' }] }
  const path = writeCopied(join(folder, rollout('old')), text([JSON.stringify(item), JSON.stringify(item)]))
  const { messages } = await readAll(agentNamed('codex'), { agent: 'codex', path })
  expect(messages.map(({ timestamp }) => timestamp)).toEqual(['2031-05-06T07:08:09.000Z', '2031-05-06T07:08:10.000Z'])
  expect(messages.map(({ metadata }) => metadata?.timestamp_basis)).toEqual(['file', 'file'])
  await app.sync()
  const [session] = app.list().sessions
  expect(session).toMatchObject({ started_at: null, last_at: null })
  const listed = await app.messages(session?.id as SessionId)
  expect(listed.map(({ known }) => [known.id, known.timestamp])).toEqual(messages.map(({ id }) => [id, null]))
  expect(listed.map(({ kind }) => kind)).toEqual(['body', 'body'])
})

test('times of a session are the least and the greatest of its records, in any order of the clock', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(100_000), { minLength: 1, maxLength: 8 }), async (seconds) => {
      const { app, write } = testHome()
      // Of each kind, some lines are parsed by the first pass and some are not.
      const records = seconds.map((second, n) =>
        n % 2 === 0 ? assistant(second, 'Hi.') : line(second, 'event_msg', { type: 'something_new', n }),
      )
      write(rollout(THREAD), text([header(), ...records]))
      await app.sync({ passes: 'first' })
      expect(app.list().sessions).toMatchObject([{ started_at: at(0), last_at: at(Math.max(...seconds)) }])
    }),
    { numRuns: 15 },
  )
})

/** The list of sessions: one entry per conversation, whatever happens to its files. */
import { appendFileSync, readFileSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { SessionId } from '../../src/model/ids.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { assistant, header, line, shortSession, THREAD, text, tokens, user } from '../support/codex-log.ts'
import { rollout, testHome } from '../support/test-home.ts'
import { contentOf } from './index-content.ts'

const OTHER = '019c0000-0000-7000-8000-000000000002'
const ID = `codex:${THREAD}` as SessionId

test('a session is listed with its title, project, counts and tokens', async () => {
  const { app: application, write } = testHome()
  write(rollout(THREAD), text(shortSession()))
  expect(await application.sync()).toMatchObject({ kind: 'synced', synced: { sources: 1, scanned: 1, read: 1 } })
  expect(application.list()).toMatchObject({
    total: 1,
    sessions: [
      {
        id: ID,
        agent: 'codex',
        title: 'List the files, please.',
        project: '/w/app',
        models: ['gpt-5-codex'],
        messages: 2,
        tools: 1,
        usage: { input_tokens: 2100, output_tokens: 80, total_tokens: 2180 },
        indexed: true,
        gone: false,
      },
    ],
  })
})

test('a log without messages was last active when it began, not at its file time', async () => {
  const { app: application, write } = testHome()
  write(rollout(THREAD), text([header()]))
  await application.sync()
  const [session] = application.list().sessions
  expect(session?.last_at).toBe(session?.started_at)
  expect(application.stats()?.longest).toMatchObject([{ duration_ms: 0 }])
})

test('excluded logs are not read and are removed from the index', async () => {
  const { app: application, write, folder } = testHome()
  write(rollout(THREAD), text(shortSession()))
  write(rollout(OTHER, 'sessions/2026/02/04'), text([header({ id: OTHER }), user(1, 'A secret.')]))
  await application.sync()
  expect(application.list().total).toBe(2)
  await application.configure('agents.codex.skip', [join(folder, '.codex/sessions/2026/02/04')])
  await application.sync()
  expect(application.list()).toMatchObject({ total: 1, sessions: [{ id: ID, gone: false }] })
  expect(await application.search('secret')).toMatchObject({ total: 0, titles: [] })
  expect(application.changesSince(0)).toContainEqual(
    expect.objectContaining({ kind: 'removed', session: `codex:${OTHER}` }),
  )
  await application.configure('agents.codex.skip', undefined)
  await application.sync()
  expect(application.list().total).toBe(2)
  await application.configure('agents.codex.enabled', ['false'])
  await application.sync()
  expect(application.list().total).toBe(0)
})

test('an unreadable root does not stop the sync of the others', async () => {
  const { app: application, folder, write } = testHome()
  write(rollout(THREAD), text(shortSession()))
  symlinkSync('data', join(folder, 'data'))
  await application.sync()
  expect(application.list().total).toBe(1)
  const watch = await application.watch()
  if (watch.kind !== 'watching') throw new Error('somebody else watches')
  expect(await watch.ready).toMatchObject({ sources: 1 })
  await watch.close()
})

test('a thread that was reverted twice is one conversation: its latest log, with the replaced ones under it', async () => {
  const { app: application, write } = testHome()
  const ordered = (lines: readonly string[], first: number): readonly string[] =>
    lines.map((one, at) => JSON.stringify({ ...JSON.parse(one), ordinal: first + at }))
  const [second, third] = ['019c0000-aaaa-7000-8000-000000000002', '019c0000-aaaa-7000-8000-000000000003']
  const basedOn = (timestamp: string) =>
    header({ timestamp, history_base: { thread_id: THREAD, end_ordinal_exclusive: 3 } })
  write(
    rollout(THREAD),
    text(ordered([header(), user(1, 'Plan a garden.'), assistant(2, 'Roses?'), user(3, 'No.')], 0)),
  )
  write(rollout(`${THREAD}_${second}`), text(ordered([basedOn('2026-02-03T09:20:00.000Z'), user(10, 'Herbs.')], 3)))
  write(rollout(`${THREAD}_${third}`), text(ordered([basedOn('2026-02-03T09:30:00.000Z'), user(20, 'Trees.')], 3)))
  write(rollout(OTHER), text([header({ id: OTHER, forked_from_id: THREAD }), user(30, 'And a pond?')]))
  await application.sync()
  const { sessions, total } = application.list()
  expect(total).toBe(1)
  expect(sessions).toMatchObject([
    { relation: 'revert', title: 'Plan a garden.', children: 3, last_at: expect.any(String) },
  ])
  const [latest] = sessions
  expect(latest?.path).toContain(third)
  const children = application.list({ children: { of: latest?.id ?? '' } }).sessions
  expect(children.map(({ relation, id }) => relation ?? id)).toEqual(['fork', 'revert', ID])
  expect(application.list({ children: 'all' }).total).toBe(4)
  expect(application.findSessions(latest?.id.replace('codex:', '') ?? '')).toMatchObject([{ id: latest?.id }])
})

test('sub-agents are listed under their parents', async () => {
  const { app: application, write } = testHome()
  write(rollout(THREAD), text(shortSession()))
  const spawned = { subagent: { thread_spawn: { parent_thread_id: THREAD, depth: 1 } } }
  write(rollout(OTHER), text([header({ id: OTHER, source: spawned }), user(9, 'Look around.')]))
  await application.sync()
  expect(application.list()).toMatchObject({ total: 1, sessions: [{ id: ID, children: 1 }] })
  expect(application.list({ children: { of: ID } })).toMatchObject({
    total: 1,
    sessions: [{ id: `codex:${OTHER}`, parent: ID }],
  })
  expect(application.list({ children: 'all' }).total).toBe(2)
})

test('a name that another file gives is the title', async () => {
  const { app: application, write } = testHome()
  write(rollout(THREAD), text(shortSession()))
  await application.sync()
  write(
    '.codex/session_index.jsonl',
    text([JSON.stringify({ id: THREAD, thread_name: 'Files', updated_at: '2026-02-03T10:00:00Z' })]),
  )
  await application.sync()
  expect(application.session(ID)?.title).toBe('Files')
})

test('rows of a store stay when their owner overwrites them', async () => {
  const { app: application, folder } = testHome()
  const store = makeStore(join(folder, 'data', 'amazon-q', 'data.sqlite3'))
  store.put('/code', stateOf('one', [{ prompt: 'First?', answer: 'Yes.' }]))
  await application.sync()
  store.put('/code', stateOf('two', [{ prompt: 'Second?', answer: 'No.' }]))
  await application.sync()
  store.put(
    '/code',
    stateOf('two', [
      { prompt: 'Second?', answer: 'No.' },
      { prompt: 'Third?', answer: 'So.' },
    ]),
  )
  await application.sync()
  store.close()
  const { total, sessions } = application.list()
  expect(total).toBe(2)
  expect(sessions.map(({ id }) => id).sort()).toEqual(['amazon-q:one', 'amazon-q:two'])
  for (const { id } of sessions) {
    const bodies = await application.messages(id)
    expect(bodies.every(({ kind }) => kind === 'body')).toBe(true)
  }
  expect(JSON.stringify(await application.messages('amazon-q:two' as SessionId))).toContain('Third?')
})

test('sessions of an empty or deleted store are marked as backup only', async () => {
  const { app: application, folder } = testHome()
  const path = join(folder, 'data', 'amazon-q', 'data.sqlite3')
  const store = makeStore(path)
  const alive = async () => {
    await application.sync()
    return application.backup.list({ alive: true }).map(({ session }) => session)
  }
  store.put('/a', stateOf('one', [{ prompt: 'First?', answer: 'Yes.' }]))
  store.put('/b', stateOf('two', [{ prompt: 'Second?', answer: 'No.' }]))
  expect(await alive()).toEqual(['amazon-q:one', 'amazon-q:two'])
  store.remove('/a')
  expect(await alive()).toEqual(['amazon-q:two'])
  store.remove('/b')
  expect(await alive()).toEqual([])
  store.put('/b', stateOf('two', [{ prompt: 'Second?', answer: 'No.' }]))
  store.close()
  expect(await alive()).toEqual(['amazon-q:two'])
  renameSync(path, `${path}.away`)
  expect(await alive()).toEqual([])
  renameSync(`${path}.away`, path)
  expect(await alive()).toEqual(['amazon-q:two'])
  const bytes = readFileSync(path)
  writeFileSync(path, 'no database')
  expect(await alive()).toEqual(['amazon-q:two'])
  writeFileSync(path, bytes)
  renameSync(join(folder, 'data'), join(folder, 'away'))
  expect(await alive()).toEqual([])
  expect(application.list().total).toBe(2)
})

test('the list is filtered, sorted and paged', async () => {
  const { app: application, write } = testHome()
  for (let n = 0; n < 5; n++) {
    const id = `019c0000-0000-7000-8000-00000000000${n}`
    const model = n % 2 ? 'gpt-5' : 'gpt-5-codex'
    write(
      rollout(id),
      text([
        header({ id, cwd: `/w/p${n}/sub` }),
        line(n, 'turn_context', { model, cwd: `/w/p${n}/sub` }),
        user(n * 10, `Number ${n}`),
        tokens(n * 10 + 1, n * 100, 1),
      ]),
    )
  }
  await application.sync()
  expect(application.list({ limit: 2, sort: 'tokens' })).toMatchObject({
    total: 5,
    sessions: [{ title: 'Number 4' }, { title: 'Number 3' }],
  })
  expect(application.list({ limit: 2, offset: 4, sort: 'tokens' }).sessions.map(({ title }) => title)).toEqual([
    'Number 0',
  ])
  expect(application.list({ model: 'gpt-5' }).total).toBe(2)
  expect(application.list({ project: '/w/p3' }).sessions.map(({ title }) => title)).toEqual(['Number 3'])
  expect(application.list({ project: '/w/p' }).total).toBe(0)
  expect(application.list({ agents: ['kiro'] }).total).toBe(0)
  expect(application.list({ since: Date.parse('2026-02-03T09:15:30Z') }).total).toBe(2)
})

test('unchanged sources are not read again', async () => {
  const { app: application, write } = testHome()
  const path = write(rollout(THREAD), text(shortSession()))
  await application.sync()
  const { revision } = application.index
  expect(await application.sync()).toMatchObject({ synced: { sources: 1, scanned: 0, read: 0 } })
  expect(application.index.revision).toBe(revision)
  expect(application.changesSince(revision)).toEqual([])
  appendFileSync(path, text([user(40, 'News.')]))
  await application.sync()
  expect(application.changesSince(revision)).toMatchObject([{ session: ID }])
})

test('a clock that goes back, in a log or between syncs, does not change the order', async () => {
  const { app: application, write, folder } = testHome()
  const path = write(
    rollout(THREAD),
    text([header(), user(500, 'Late.'), assistant(501, 'Later.'), tokens(502, 10, 1)]),
  )
  write(rollout(OTHER), text([header({ id: OTHER }), user(300, 'Between.')]))
  await application.sync()
  const before = await idsOf(application)
  const { revision } = application.index
  appendFileSync(path, text([user(100, 'Early.'), assistant(99, 'Earlier.'), tokens(98, 20, 2)]))
  // The clock of the file system also went back, to before the first sync.
  utimesSync(path, 1, 1)
  await application.sync()
  expect((await idsOf(application)).slice(0, before.length)).toEqual(before)
  expect((await application.messages(ID)).map(({ known }) => known.line)).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(application.session(ID)).toMatchObject({ messages: 4, usage: { total_tokens: 22 } })
  expect(application.changesSince(revision)).toMatchObject([{ session: ID }])
  const hits = await application.search('early OR late OR between')
  expect(hits.kind === 'found' && hits.hits.map(({ snippet }) => snippet?.text)).toEqual([
    'Late.',
    'Between.',
    'Early.',
  ])
  expect(await application.search('earlier after:2026-02-03T09:16 before:2026-02-03T09:17')).toMatchObject({ total: 1 })
  const fresh = testHome({}, folder, join(folder, 'fresh')).app
  await fresh.sync()
  expect(await contentOf(application)).toEqual(await contentOf(fresh))
})

async function idsOf(application: ReturnType<typeof testHome>['app']): Promise<readonly string[]> {
  const bodies = await application.messages(ID, { limit: 1000 })
  for (const body of bodies) if (body.kind === 'body') expect(body.message.id).toBe(body.known.id)
  return bodies.map(({ known }) => known.id)
}

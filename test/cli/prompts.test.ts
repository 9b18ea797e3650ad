/** All prompts, from conversations and from prompt histories. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { App } from '../../src/app.ts'
import { collectPrompts } from '../../src/cli/commands/prompts.ts'
import { linkPrompts } from '../../src/cli/link-prompts.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { at, header, line, shortSession, THREAD, tempFolder, text, user } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'

function machine() {
  const home = tempFolder()
  const env = {
    HOME: home,
    FUMI_HOME: join(home, 'fumi'),
    CODEX_HOME: join(home, 'codex'),
    XDG_DATA_HOME: join(home, 'data'),
  }
  const codex = (name: string, content: string) => {
    mkdirSync(join(env.CODEX_HOME, 'sessions'), { recursive: true })
    writeFileSync(join(env.CODEX_HOME, name), content)
  }
  const run = (...args: readonly string[]) => fumi(['prompts', ...args], { env })
  const prompts = async () => {
    const application = new App({ platform: process.platform, home, variables: env })
    const { prompts: texts, lists } = await collectPrompts(application)
    application.close()
    return linkPrompts(texts, lists).map((one) => [one.text, one.session, one.typed])
  }
  return { home, env, codex, run, prompts }
}

const SESSION = `codex:${THREAD}`
const LOG = 'sessions/rollout-2026-02-03T09-15-00-test.jsonl'
const seconds = (iso: string): number => Date.parse(iso) / 1000

test('a Codex prompt in both the history and a session is listed once, and injected text is not listed', async () => {
  const { codex, prompts, run } = machine()
  codex(LOG, text(shortSession()))
  codex('sessions/rollout-2026-02-03T09-15-00-copy.jsonl', text(shortSession()))
  codex(
    'sessions/rollout-2026-02-03T09-16-00-child.jsonl',
    text([
      header({
        id: THREAD.replace(/1$/, '2'),
        source: { subagent: { thread_spawn: { parent_thread_id: THREAD, depth: 1 } } },
      }),
      user(30, 'Look into it, sub-agent.'),
    ]),
  )
  codex(
    'history.jsonl',
    text([
      JSON.stringify({ session_id: THREAD, ts: seconds(at(3)), text: 'List the files, please.' }),
      JSON.stringify({ session_id: THREAD, ts: seconds(at(40)), text: '/status' }),
    ]),
  )
  expect(await prompts()).toEqual([
    ['/status', SESSION, true],
    ['List the files, please.', SESSION, true],
  ])
  expect(run('--limit', '1').out).toContain('1 older prompt not shown')
  expect(JSON.parse(run('--json', '--limit', '1').out)).toMatchObject({
    total: 2,
    prompts: [{ text: '/status', at: at(40), agent: 'codex', message_id: null, cwd: null }],
  })
})

test('a log that was trimmed to its events has prompts too', async () => {
  const { codex, prompts } = machine()
  codex(LOG, text([header(), line(1, 'event_msg', { type: 'user_message', message: 'only an event' })]))
  expect(await prompts()).toEqual([['only an event', SESSION, false]])
})

test('what Amazon Q writes in the user’s place is not listed, starts no turn and names no session', async () => {
  const { home, env, prompts } = machine()
  const store = makeStore(join(home, 'data', 'amazon-q', 'data.sqlite3'))
  const denied = 'I deny this tool request. Ask a follow up question clarifying the expected action'
  const resumed = 'In a few words, summarize our conversation so far.'
  store.put(
    '/code/a',
    stateOf('11111111-aaaa', [
      { prompt: resumed, answer: 'We said nothing.' },
      { prompt: 'first question', answer: 'x', tools: ['fs_read'] },
      { prompt: denied, answer: 'What should I do instead?' },
      { prompt: 'second question', answer: 'y' },
    ]),
  )
  expect((await prompts()).map(([prompt]) => prompt).toSorted()).toEqual(['first question', 'second question'])
  const shown = fumi(['show', '11111111-aaaa'], { env }).out
  expect(shown).toMatch(/^first question\n/)
  expect(shown).toMatch(/❯ 1 .*\n {2}first question\n[\s\S]*· context: tool_denied\n[\s\S]*❯ 2 .*\n {2}second question/)
  expect(shown).not.toContain('❯ 3')
  const { sessions } = JSON.parse(fumi(['list', '--json'], { env }).out)
  expect(sessions).toMatchObject([{ title: 'first question' }])
})

test('a prompt typed to Amazon Q names its session, even one that exists only in the backup', async () => {
  const { home, env, run, prompts } = machine()
  const store = makeStore(join(home, 'data', 'amazon-q', 'data.sqlite3'))
  store.put('/code/a', stateOf('11111111-aaaa', [{ prompt: 'first question', answer: 'x' }]))
  fumi(['keep'], { env })
  store.put('/code/a', stateOf('22222222-bbbb', [{ prompt: '二つ目の質問\nと続き', answer: 'x' }]))
  fumi(['keep'], { env })
  store.close()
  const typed = join(home, '.aws', 'amazonq', '.cli_bash_history')
  mkdirSync(join(home, '.aws', 'amazonq'), { recursive: true })
  writeFileSync(typed, '#V2\nfirst question\n/help\n二つ目の質問\\nと続き\n/quit\n')
  utimesSync(typed, new Date('2026-06-01T00:00:00Z'), new Date('2026-06-01T00:00:00Z'))
  const all = await prompts()
  expect(new Set(all.map((one) => JSON.stringify(one)))).toEqual(
    new Set(
      [
        ['first question', 'amazon-q:11111111-aaaa', true],
        ['二つ目の質問\nと続き', 'amazon-q:22222222-bbbb', true],
        ['/help', null, true],
        ['/quit', null, true],
      ].map((one) => JSON.stringify(one)),
    ),
  )
  expect(all[0]?.[0]).toBe('/quit')
  const found = (...words: readonly string[]) => JSON.parse(run(...words, '--json').out).total
  expect([found('三つ目'), found('二つ目'), found('ＦＩＲＳＴ', 'Question')]).toEqual([0, 1, 1])
})

test('reports when there are no prompts, and rejects an invalid limit', () => {
  const { run } = machine()
  expect(run()).toEqual({ code: 0, out: 'No matching prompts.\n', err: '' })
  expect(run('--limit', 'many')).toMatchObject({ code: 2 })
})

/** Everything that was ever asked, from conversations and from the lists of what was typed. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { at, header, line, THREAD, talk, tempFolder, text, user } from './support/log.ts'
import { makeStore, stateOf } from './support/q-store.ts'
import { fumi } from './support/run.ts'

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
  const prompts = (...args: readonly string[]) =>
    (JSON.parse(run('--json', ...args).out).prompts as { text: string; session: string | null; typed: boolean }[]).map(
      (one) => [one.text, one.session, one.typed],
    )
  return { home, env, codex, run, prompts }
}

const SESSION = `codex:${THREAD}`
const LOG = 'sessions/rollout-2026-02-03T09-15-00-test.jsonl'
const seconds = (iso: string): number => Date.parse(iso) / 1000

test('a prompt of Codex that was typed and said comes once, and what nobody typed does not come', () => {
  const { codex, prompts, run } = machine()
  codex(LOG, text(talk()))
  codex('sessions/rollout-2026-02-03T09-15-00-copy.jsonl', text(talk()))
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
  expect(prompts()).toEqual([
    ['/status', SESSION, true],
    ['List the files, please.', SESSION, true],
  ])
  expect(run('--limit', '1').out).toContain('1 older prompt left out')
  expect(JSON.parse(run('--json', '--limit', '1').out)).toMatchObject({
    total: 2,
    prompts: [{ text: '/status', at: at(40), at_inferred: false, agent: 'codex', message_id: null, cwd: null }],
  })
})

test('a log that was trimmed to its events has prompts too', () => {
  const { codex, prompts } = machine()
  codex(LOG, text([header(), line(1, 'event_msg', { type: 'user_message', message: 'only an event' })]))
  expect(prompts()).toEqual([['only an event', SESSION, false]])
})

test('what was typed to Amazon Q names the session that holds it, also one that is only kept', () => {
  const { home, env, prompts } = machine()
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
  const all = prompts()
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
  expect(prompts('ﾌﾀﾂ')).toEqual([])
  expect(prompts('２つ')).toEqual([])
  expect(prompts('二つ目')).toHaveLength(1)
  expect(prompts('FIRST', 'Question')).toHaveLength(1)
  expect(prompts('ｆｉｒｓｔ')).toHaveLength(1)
})

test('says so when there is nothing, and when the limit is none', () => {
  const { run } = machine()
  expect(run()).toEqual({ code: 0, out: 'None.\n', err: '' })
  expect(run('--limit', 'many')).toMatchObject({ code: 2 })
})

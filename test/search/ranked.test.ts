/** Questions in any language find the messages that say most about them. */
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { App, RankedHit, RankedSearchOptions } from '../../src/app.ts'
import { termsOfQuestion } from '../../src/search/text-index/question-terms.ts'
import { formsOf } from '../../src/search/words/word-forms.ts'
import { assistant, call, header, result, THREAD, text, user } from '../support/codex-log.ts'
import { rollout, testHome } from '../support/test-home.ts'

const OTHER = '019c0000-0000-7000-8000-000000000002'
const THIRD = '019c0000-0000-7000-8000-000000000003'

async function ask(app: App, options: RankedSearchOptions) {
  const answer = await app.searchRanked(options)
  if (answer.kind !== 'found') throw new Error(answer.what)
  return answer
}

const placeOf = ({ session_id, message_id }: RankedHit): string =>
  `${session_id.slice(-1)}${message_id.slice(message_id.indexOf('#'))}`

async function best(app: App, question: string, more: Partial<RankedSearchOptions> = {}) {
  const { hits } = await ask(app, { text: question, ...more })
  return hits.map(placeOf)
}

async function homeWithSessions() {
  const home = testHome()
  home.write(
    rollout(THREAD),
    text([
      header(),
      user(1, 'The migration of the orders table times out. Can you have a look?'),
      call(2, 'c1', { command: ['npm', 'test'] }),
      result(
        3,
        'c1',
        "TypeError: Cannot read properties of undefined (reading 'map')\n    at renderList (src/list.ts:41:12)",
      ),
      assistant(4, 'The migrations lock the table. I split the update into batches of 1,000 rows, which fixed it.'),
      user(5, 'Please look at the list as well.'),
    ]),
  )
  home.write(
    rollout(OTHER),
    text([
      header({ id: OTHER }),
      user(11, '暗号化キーの保存先を決めたい。'),
      assistant(12, '暗号化キーは環境変数ではなく、キーチェーンに保存することに決めました。'),
      user(13, '設定ファイルの書式はどうする？'),
      assistant(14, '書式は TOML にします。'),
    ]),
  )
  home.write(
    rollout(THIRD),
    text([
      header({ id: THIRD }),
      user(21, '为什么登录页面会崩溃？'),
      assistant(22, '登录页面崩溃是因为令牌过期后没有刷新。'),
      user(23, 'Which colour should the button have?'),
      assistant(24, 'The button becomes blue.'),
      result(25, 'c9', `the map of undefined things ${'and other words '.repeat(200)}`),
    ]),
  )
  await home.app.sync()
  return home
}

test('a question finds its answer, although they share only some words', async () => {
  const { app } = await homeWithSessions()
  expect(
    (await best(app, 'How did we fix the migration of the orders table that timed out?')).slice(0, 2).sort(),
  ).toEqual(['1#2', '1#5'])
  expect((await best(app, 'what colour did we choose for buttons'))[0]).toBe('3#4')
  expect((await best(app, '暗号化キーはどこに保存することにした？'))[0]).toBe('2#3')
  expect((await best(app, '登录页面怎么崩溃了'))[0]).toMatch(/^3#[23]$/)
  expect((await best(app, "TypeError: Cannot read properties of undefined (reading 'map')"))[0]).toBe('1#4')
})

test('a hit says what it contains and what it lacks', async () => {
  const { app } = await homeWithSessions()
  const { hits, unknown, total } = await ask(app, { text: 'Which keychain or button is blue, quamirole?' })
  expect(hits[0]).toMatchObject({ terms: ['button', 'blue'], missing: [], coverage: 1, scope: 'answer' })
  expect(hits[0]?.snippet?.text).toContain('button becomes blue')
  expect(hits[0]?.snippet?.highlights).toHaveLength(2)
  expect(hits[1]).toMatchObject({ terms: ['button'], missing: ['blue'] })
  expect(unknown).toEqual(['keychain', 'quamirole'])
  expect(total).toBeGreaterThan(0)
})

test('filters hold for every hit, and the answer says how many they hide', async () => {
  const { app } = await homeWithSessions()
  const question = 'migration of the orders table'
  expect(await best(app, question, { filters: 'role:assistant' })).toEqual(['1#5'])
  expect(await best(app, question, { scopes: ['output'] })).toEqual([])
  expect(await best(app, 'undefined map', { filters: 'scope:output session:019c' })).toContain('1#4')
  const excluded = await ask(app, { text: question, exclude: [`codex:${THREAD}` as never] })
  expect(excluded).toMatchObject({ hits: [], total: 0, hidden: 2 })
  expect(await ask(app, { text: question, filter: { agents: ['gemini'] } })).toMatchObject({ hits: [], hidden: 2 })
  expect(await app.searchRanked({ text: question, filters: 'role:nobody' })).toMatchObject({ kind: 'problem' })
  expect(await app.searchRanked({ text: question, filters: 'words' })).toMatchObject({ kind: 'problem' })
})

test('a message whose source is gone is found without a snippet', async () => {
  const { app, folder } = await homeWithSessions()
  rmSync(`${folder}/${rollout(OTHER)}`)
  const { hits } = await ask(app, { text: '暗号化キーの保存' })
  expect(hits.map(placeOf)).toContain('2#3')
  expect(hits[0]).not.toHaveProperty('snippet')
})

test('words that mean nearly the same find each other, also in another language', async () => {
  const home = testHome()
  home.write(
    rollout(THREAD),
    text([
      header(),
      user(1, 'The p95 latency of the checkout went up.'),
      assistant(2, 'One query per row; a join brings it back.'),
    ]),
  )
  home.write(
    rollout(OTHER),
    text([header({ id: OTHER }), user(11, 'Write a README for the checkout.'), assistant(12, 'Done, in docs.')]),
  )
  await home.app.sync()
  const [first] = (await ask(home.app, { text: 'How did we speed up the checkout?' })).hits
  expect(first).toMatchObject({ session_id: `codex:${THREAD}`, terms: ['checkout'], missing: [] })
  expect(first?.related).toContain('latency')
  expect((await best(home.app, 'checkout が遅くなった原因は？'))[0]).toMatch(/^1#/)
  // A word that nobody used has only its relatives; a known one must be there.
  expect(await best(home.app, '提速')).not.toEqual([])
  expect(await best(home.app, 'README latency', { filter: { agents: ['gemini'] } })).toEqual([])
})

test('a question is answered where its parts are near each other, in different messages', async () => {
  const home = testHome()
  const chore = (n: number) => [user(n, `Chore ${n}.`), assistant(n + 1, 'Done.')]
  home.write(
    rollout(THREAD),
    text([
      header(),
      user(1, 'Look at the parcel tracker.'),
      ...Array.from({ length: 40 }, (_, n) => chore(10 + 2 * n)).flat(),
      assistant(99, 'The webhook is signed with HMAC.'),
    ]),
  )
  home.write(
    rollout(OTHER),
    text([header({ id: OTHER }), user(11, 'Look at the parcel tracker.'), assistant(12, 'It is signed with HMAC.')]),
  )
  await home.app.sync()
  expect((await best(home.app, 'Is the parcel tracker signed with HMAC?'))[0]).toMatch(/^2#/)
})

test('a name with signs in it is not taken for a longer one', async () => {
  const home = testHome()
  const load = (path: string) => [call(2, 'c1', { command: ['k6', 'run'] }), result(3, 'c1', `endpoint:${path} p95=10`)]
  home.write(rollout(THREAD), text([header(), user(1, 'Run the load test.'), ...load('/api/orders')]))
  home.write(
    rollout(OTHER),
    text([header({ id: OTHER }), user(1, 'Run the load test.'), ...load('/api/orders/search')]),
  )
  await home.app.sync()
  expect((await best(home.app, 'load test of /api/orders'))[0]).toMatch(/^1#/)
  expect((await best(home.app, 'load test of /api/orders/search'))[0]).toMatch(/^2#/)
})

test.each(['', '   ', '???', 'the of and', '的', '\u0000', 'x'.repeat(100_000), 'word '.repeat(5000)])(
  'any text is a question: %j',
  async (question) => {
    const { app } = testHome()
    expect(await app.searchRanked({ text: question.slice(0, 20_000) })).toMatchObject({ kind: 'found', hits: [] })
    expect(termsOfQuestion(question).length).toBeLessThanOrEqual(32)
  },
)

test.each([
  ['fix', 'fixed'],
  ['fixes', 'fixing'],
  ['cache', 'caching'],
  ['logs', 'logging'],
  ['retries', 'retry'],
  ['committed', 'commit'],
  ['migrations', 'migration'],
])('%s and %s are forms of one word', (one, other) => {
  const forms = formsOf(one)
  expect([...(forms?.endings ?? [])].map((ending) => forms?.beginning + ending)).toContain(other)
  expect(forms).toEqual(formsOf(other))
})

test.each(['class', 'status', 'is', 'this', 'sha256'])('%s has no other singular', (word) => {
  expect([...(formsOf(word)?.endings ?? [''])].map((ending) => (formsOf(word)?.beginning ?? word) + ending)).toContain(
    word,
  )
})

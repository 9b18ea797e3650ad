/** Claude Code: tokens counted once, forks, sub-agents and moved files as one store, and the corpus with its truths. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Source } from '../../src/agents/agent.ts'
import claudeCode from '../../src/agents/claude-code/agent.ts'
import { classify } from '../../src/model/classify.ts'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import type { Session } from '../../src/model/session.ts'
import { addUsage, NO_USAGE, type Usage } from '../../src/model/usage.ts'
import { tempFolder } from '../support/codex-log.ts'
import { readAll, scanAll, summarizeScans } from '../support/fixtures.ts'
import { sharedFolder } from '../support/shared-material.ts'
import { testHome } from '../support/test-home.ts'

const SESSION = 'aaaaaaaa-0000-4000-8000-000000000001'
const FORK = 'bbbbbbbb-0000-4000-8000-000000000002'

let made = 0
const uuid = (): string => `cccccccc-0000-4000-8000-${String(++made).padStart(12, '0')}`

interface ChainOptions {
  readonly session?: string
  readonly parent?: string | null
  readonly at?: number
}

const chain = (fields: object, { session = SESSION, parent = null, at = 0 }: ChainOptions = {}) => ({
  parentUuid: parent,
  isSidechain: false,
  ...fields,
  uuid: uuid(),
  timestamp: new Date(Date.UTC(2026, 3, 5, 6, 7, at)).toISOString(),
  cwd: '/home/mio/tea',
  sessionId: session,
  version: '2.1.143',
})

const user = (content: unknown, options?: ChainOptions) =>
  chain({ type: 'user', message: { role: 'user', content } }, options)

const answer = (id: string, text: string, output: number, options?: ChainOptions, request?: string) =>
  chain(
    {
      message: {
        id,
        role: 'assistant',
        model: 'claude-sonnet-4-6',
        content: [{ type: 'text', text }],
        usage: { input_tokens: 2, cache_read_input_tokens: 30, cache_creation_input_tokens: 10, output_tokens: output },
      },
      ...(request !== undefined && { requestId: request }),
      type: 'assistant',
    },
    options,
  )

const toText = (records: readonly object[]): string => records.map((one) => `${JSON.stringify(one)}\n`).join('')

/** A Claude home with these files below `projects`. */
function homeWith(files: { readonly [path: string]: readonly object[] }): string {
  const home = join(tempFolder(), '.claude')
  for (const [path, records] of Object.entries(files)) {
    const file = join(home, 'projects', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, toText(records))
  }
  return home
}

async function sourcesIn(root: string): Promise<readonly Source[]> {
  const found: Source[] = []
  for await (const source of claudeCode.find(root)) found.push(source)
  return found
}

interface ReadLog {
  readonly session: Session | undefined
  readonly messages: readonly NormalizedMessage[]
  readonly usage: Usage
}

async function readHome(home: string): Promise<ReadonlyMap<string, ReadLog>> {
  const logs = new Map<string, ReadLog>()
  for (const source of await sourcesIn(home)) {
    const { session, messages } = await readAll(claudeCode, source)
    const { usage } = summarizeScans(await scanAll(claudeCode, source))
    logs.set(session?.native_id ?? source.path, { session, messages, usage })
  }
  return logs
}

describe('tokens', () => {
  test('a response counts once with its largest report, whatever its records say of the request', async () => {
    const record = fc.record({
      response: fc.integer({ min: 0, max: 3 }),
      output: fc.integer({ min: 0, max: 900 }),
      hasRequest: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 30 }), async (given) => {
        const log = given.map(({ response, output, hasRequest }) =>
          answer(`msg_${response}`, 'x', output, {}, hasRequest ? `req_${response}` : undefined),
        )
        const logs = await readHome(homeWith({ [`-home-mio-tea/${SESSION}.jsonl`]: log }))
        const most = new Map<number, number>()
        for (const { response, output } of given) most.set(response, Math.max(most.get(response) ?? 0, output))
        const usage = logs.get(SESSION)?.usage ?? NO_USAGE
        expect(usage.output_tokens).toBe([...most.values()].reduce((a, b) => a + b, 0))
        expect(usage.input_tokens).toBe(most.size * 42)
        expect(usage.cached_input_tokens).toBe(most.size * 30)
        expect(usage.cache_write_tokens ?? 0).toBe(most.size * 10)
      }),
      { numRuns: 40 },
    )
  })

  test('two requests with the same response id count twice', async () => {
    const log = [answer('msg', 'x', 5, {}, 'req_1'), answer('msg', 'y', 7, {}, 'req_2')]
    const logs = await readHome(homeWith({ [`-home-mio-tea/${SESSION}.jsonl`]: log }))
    expect(logs.get(SESSION)?.usage.output_tokens).toBe(12)
  })
})

describe('forks', () => {
  const shared = (session: string) => {
    const first = user('Boil water.', { session })
    const second = answer('msg_1', 'Boiling.', 5, { session, parent: first.uuid, at: 1 }, 'req_1')
    return [first, second]
  }
  const copyTo = (session: string, records: readonly object[]) =>
    records.map((record) => ({ ...record, sessionId: session }))

  test('count what they share once, in the session that wrote it, wherever their names sort', async () => {
    for (const [origin, fork] of [
      [SESSION, FORK],
      [FORK, SESSION],
    ] as const) {
      const own = shared(origin)
      const last = own.at(-1)?.uuid ?? null
      const state = { type: 'permission-mode', permissionMode: 'default', sessionId: origin }
      const logs = await readHome(
        homeWith({
          [`-home-mio-tea/${origin}.jsonl`]: [
            ...own.flatMap((record) => [record, state]),
            user('Pour it.', { session: origin, parent: last, at: 90 }),
          ],
          [`-home-mio-tea/${fork}.jsonl`]: [
            ...copyTo(fork, own),
            user('Stop.', { session: fork, parent: last, at: 30 }),
            answer('msg_2', 'Stopped.', 3, { session: fork, parent: null, at: 31 }, 'req_2'),
          ],
        }),
      )
      expect(logs.get(origin)?.session?.parent).toBeUndefined()
      expect(logs.get(fork)?.session).toMatchObject({
        parent: `claude-code:${origin}`,
        relation: 'fork',
        first_prompt: 'Stop.',
      })
      expect(logs.get(origin)?.usage.output_tokens).toBe(5)
      expect(logs.get(fork)?.usage.output_tokens).toBe(3)
      expect(logs.get(fork)?.messages.map((one) => classify(one).isReplayed)).toEqual([true, true, false, false])
    }
  })

  test('of a fork name the fork, and count nothing twice', async () => {
    const third = 'dddddddd-0000-4000-8000-000000000003'
    const own = shared(SESSION)
    const state = { type: 'permission-mode', permissionMode: 'default', sessionId: SESSION }
    const inFork = [user('Stop.', { session: FORK, at: 30 }), answer('msg_2', 'Stopped.', 3, { at: 31 }, 'req_2')]
    const logs = await readHome(
      homeWith({
        [`-home-mio-tea/${SESSION}.jsonl`]: own.flatMap((record) => [record, state]),
        [`-home-mio-tea/${FORK}.jsonl`]: [...copyTo(FORK, own), ...inFork],
        [`-home-mio-tea/${third}.jsonl`]: [
          ...copyTo(third, own),
          ...copyTo(third, inFork),
          answer('msg_3', 'Again.', 4, { at: 60 }, 'req_3'),
        ],
      }),
    )
    expect(logs.get(third)?.session?.parent).toBe(`claude-code:${FORK}`)
    const sum = [...logs.values()].reduce((usage, one) => addUsage(usage, one.usage), NO_USAGE)
    expect(sum.output_tokens).toBe(12)
  })
})

describe('forks and copies in the folder of another directory', () => {
  const TEA = '-home-mio-tea'
  const TREE = '-home-mio-tea--claude-worktrees-tin'

  test('a fork names its origin, and what both share counts once', async () => {
    for (const [first, second] of [
      [TEA, TREE],
      [TREE, TEA],
    ] as const) {
      const own = [user('Boil water.'), answer('msg_1', 'Boiling.', 5, { at: 1 }, 'req_1')]
      const state = { type: 'permission-mode', permissionMode: 'default', sessionId: SESSION }
      const logs = await readHome(
        homeWith({
          [`${first}/${SESSION}.jsonl`]: own.flatMap((record) => [record, state]),
          [`${second}/${FORK}.jsonl`]: [
            ...own.map((record) => ({ ...record, sessionId: FORK })),
            answer('msg_2', 'Stopped.', 3, { session: FORK, at: 31 }, 'req_2'),
          ],
        }),
      )
      expect(logs.get(SESSION)?.session?.parent).toBeUndefined()
      expect(logs.get(FORK)?.session).toMatchObject({ parent: `claude-code:${SESSION}`, relation: 'fork' })
      expect([...logs.values()].map(({ usage }) => usage.output_tokens).sort()).toEqual([3, 5])
    }
  })

  test('any set of forks and copies counts each response once', async () => {
    const made = testHome()
    const shared = [user('Boil water.'), answer('msg_1', 'Boiling.', 5, { at: 1 }, 'req_1')]
    const later = [user('Pour it.', { at: 5 }), answer('msg_3', 'Poured.', 7, { at: 6 }, 'req_3')]
    const inFork = [user('Stop.', { at: 3 }), answer('msg_2', 'Stopped.', 3, { at: 4 }, 'req_2')]
    const log = (folder: string, session: string, records: readonly object[]) =>
      made.write(
        join('.claude', 'projects', folder, `${session}.jsonl`),
        toText(records.map((record) => ({ ...record, sessionId: session }))),
      )
    log(TEA, SESSION, shared)
    log(TREE, SESSION, [...shared, ...later])
    log(TEA, FORK, [...shared, ...inFork])
    log(TREE, FORK, [...shared, ...inFork])
    await made.app.sync()
    const { sessions } = await made.app.list({ kind: 'any', children: 'all' })
    const output = sessions.reduce((sum, { usage }) => sum + usage.output_tokens, 0)
    expect(sessions.map(({ id }) => id).sort()).toEqual([`claude-code:${SESSION}`, `claude-code:${FORK}`])
    expect(output).toBe(15)
    made.app.close()
  })
})

describe('branches', () => {
  test('a prompt that goes back removes what came after, and results of parallel calls do not', async () => {
    const first = user('Brew.')
    const hot = answer('msg_1', 'At 100 degrees.', 5, { parent: first.uuid, at: 1 })
    const again = user('Too hot.', { parent: hot.uuid, at: 2 })
    const cold = answer('msg_2', 'At 10 degrees.', 5, { parent: again.uuid, at: 3 })
    const edited = user('A bit cooler.', { parent: hot.uuid, at: 4 })
    const call = (id: string, parent: string) =>
      chain(
        {
          message: { id: 'msg_3', role: 'assistant', content: [{ type: 'tool_use', id, name: 'Bash', input: {} }] },
          type: 'assistant',
        },
        { parent, at: 5 },
      )
    const a = call('toolu_a', edited.uuid)
    const b = call('toolu_b', a.uuid)
    const result = (id: string, parent: string) =>
      user([{ type: 'tool_result', tool_use_id: id, content: 'ok' }], { parent, at: 6 })
    const resultA = result('toolu_a', a.uuid)
    const resultB = result('toolu_b', b.uuid)
    const done = answer('msg_4', 'Done.', 5, { parent: resultB.uuid, at: 7 })
    const log = [first, hot, again, cold, edited, a, b, resultA, resultB, done, user('Thanks.', { parent: done.uuid })]
    const logs = await readHome(homeWith({ [`-home-mio-tea/${SESSION}.jsonl`]: log }))
    const messages = logs.get(SESSION)?.messages ?? []
    const removals = messages.map((one) => one.metadata?.rolled_back).filter((ids) => ids !== undefined)
    expect(removals).toEqual([[messages[2]?.id]])
    expect(messages[4]?.metadata?.rolled_back).toBeDefined()
  })
})

describe('titles', () => {
  const title = (type: string, values: object) => ({ type, ...values, sessionId: SESSION })

  test('of a session stand in other logs too, and a log without conversation is not listed', async () => {
    const made = testHome()
    const write = (session: string, records: readonly object[]) =>
      made.write(join('.claude', 'projects', '-home-mio-tea', `${session}.jsonl`), toText(records))
    const first = user('Boil water.')
    const last = answer('msg_1', 'Boiling.', 5, { parent: first.uuid, at: 1 })
    write(SESSION, [first, last])
    const snapshot = { type: 'file-history-snapshot', messageId: uuid(), snapshot: { trackedFileBackups: {} } }
    write('dddddddd-0000-4000-8000-000000000003', [
      { type: 'summary', summary: 'Tea at noon', leafUuid: last.uuid },
      { type: 'summary', summary: 'Gone', leafUuid: uuid() },
      snapshot,
    ])
    write('eeeeeeee-0000-4000-8000-000000000004', [snapshot])
    await made.app.sync()
    const { sessions } = await made.app.list({ kind: 'any', children: 'all' })
    expect(sessions.map((one) => [one.native_id, one.title])).toEqual([[SESSION, 'Tea at noon']])
    made.app.close()
  })

  test('of a better kind win, wherever they stand', async () => {
    const prompt = user('Boil water.')
    const titles = [
      title('custom-title', { customTitle: 'Mine' }),
      title('ai-title', { aiTitle: 'Newer' }),
      title('ai-title', { aiTitle: 'Older' }),
      title('agent-name', { agentName: 'Brewer' }),
      { type: 'summary', summary: 'Tea', leafUuid: prompt.uuid },
    ]
    for (const [at, wanted] of ['Mine', 'Newer', 'Older', 'Brewer', 'Tea'].entries()) {
      const [best, ...rest] = titles.slice(at)
      const others = rest.filter((one) => one.type !== best?.type)
      const log = [prompt, ...others, ...(best ? [best] : []), ...others]
      const logs = await readHome(homeWith({ [`-home-mio-tea/${SESSION}.jsonl`]: log }))
      expect(logs.get(SESSION)?.session?.title).toBe(wanted)
    }
  })
})

test('the last prompt tells that the person went back, and an answer that it does not know yet is not left', async () => {
  const first = user('Brew.')
  const hot = answer('msg_1', 'At 100 degrees.', 5, { parent: first.uuid, at: 1 })
  const again = user('Too hot.', { parent: hot.uuid, at: 2 })
  const state = (leafUuid: string) => ({ type: 'last-prompt', lastPrompt: 'Brew.', leafUuid, sessionId: SESSION })
  const log = [first, hot, state(first.uuid), again, state(again.uuid), state(hot.uuid)]
  const logs = await readHome(homeWith({ [`-home-mio-tea/${SESSION}.jsonl`]: log }))
  const messages = logs.get(SESSION)?.messages ?? []
  expect(messages.map((one) => one.metadata?.rolled_back)).toEqual([
    ...[undefined, undefined, undefined, undefined, undefined],
    [messages[3]?.id],
  ])
})

test('what nobody wrote has no tokens: the text of a failed request', async () => {
  const failed = { ...answer('msg_1', 'API Error: 529', 5), isApiErrorMessage: true }
  const logs = await readHome(homeWith({ [`-home-mio-tea/${SESSION}.jsonl`]: [user('Brew.'), failed] }))
  expect(logs.get(SESSION)?.usage).toEqual(NO_USAGE)
})

test('a deleted session stays the same one, read from its backup', async () => {
  const made = testHome()
  const log = join('.claude', 'projects', '-home-mio-tea', `${SESSION}.jsonl`)
  const side = join('.claude', 'projects', '-home-mio-tea', SESSION, 'subagents', 'agent-a1.jsonl')
  made.write(log, toText([user('Boil water.'), answer('msg_1', 'Boiling.', 5, { at: 1 })]))
  made.write(side, toText([{ ...user('Look.', { at: 2 }), isSidechain: true, agentId: 'a1' }]))
  await made.app.sync()
  for (const path of [log, side]) rmSync(join(made.folder, path))
  await made.app.sync()
  const { sessions } = await made.app.list({ kind: 'any', children: 'all' })
  expect(
    sessions.map(({ id, kept, parent, gone }) => ({ id, kept, parent, gone })).sort((a, b) => (a.id < b.id ? -1 : 1)),
  ).toEqual([
    { id: `claude-code:${SESSION}`, kept: true, parent: undefined, gone: false },
    { id: 'claude-code:agent-a1', kept: true, parent: `claude-code:${SESSION}`, gone: false },
  ])
  made.app.close()
})

test('a log that moved to the folder of a worktree is the same session', async () => {
  const home = homeWith({ [`-home-mio-tea/${SESSION}.jsonl`]: [user('Boil water.')] })
  const [before] = await readHome(home)
  cpSync(join(home, 'projects', '-home-mio-tea'), join(home, 'projects', '-home-mio-tea--claude-worktrees-tin'), {
    recursive: true,
  })
  const sources = await sourcesIn(home)
  const ids = await Promise.all(sources.map(async (source) => (await readAll(claudeCode, source)).session))
  expect(new Set(ids.map((session) => `${session?.id} ${session?.first_record}`)).size).toBe(1)
  expect(ids[0]?.id).toBe(before?.[1].session?.id)
})

interface Truth {
  readonly native_id: string
  readonly files: readonly string[]
  readonly parent: string | null
  readonly relation: string | null
  readonly cwd: string | null
  readonly models: readonly string[]
  readonly prompts: number
  readonly assistant_texts: number
  readonly tool_calls: number
  readonly tool_results: number
  readonly tool_errors: number
  readonly usage: {
    readonly input: number
    readonly cache_read: number
    readonly cache_write: number
    readonly output: number
  }
}

const corpus = sharedFolder('corpus', 'agents', 'claude-code')

describe.skipIf(!corpus)('the corpus', () => {
  const { sessions } = corpus
    ? (JSON.parse(readFileSync(join(corpus, 'expected.json'), 'utf8')) as { sessions: readonly Truth[] })
    : { sessions: [] }

  test('equals its truth, session by session', async () => {
    const wrong: string[] = []
    for (const truth of sessions) {
      const path = join(corpus ?? '', 'home', truth.files[0] ?? '')
      const source = { agent: claudeCode.id, path, root: join(corpus ?? '', 'home') }
      const { session, messages } = await readAll(claudeCode, source)
      const { usage } = summarizeScans(await scanAll(claudeCode, source))
      const own = messages.filter((one) => !classify(one).isRepeat)
      const calls = new Set(own.filter((one) => classify(one).kind === 'call').map((one) => one.tool_call?.call_id))
      const results = own.filter((one) => classify(one).kind === 'result' && calls.has(one.tool_call?.call_id))
      const found = {
        parent: session?.parent?.slice('claude-code:'.length) ?? null,
        relation: session?.relation ?? null,
        cwd: session?.cwd ?? null,
        models: [...(session?.models ?? [])].sort(),
        prompts: session?.relation === 'subagent' ? 0 : own.filter((one) => classify(one).isTyped).length,
        assistant_texts: own.filter(
          (one) => classify(one).kind === 'answer' && one.segments.some(({ text }) => text?.trim()),
        ).length,
        tool_calls: calls.size,
        tool_results: results.length,
        tool_errors: new Set(
          own.filter(({ tool_call }) => tool_call?.status === 'error').map(({ tool_call }) => tool_call?.call_id),
        ).size,
        usage: {
          input: usage.input_tokens,
          cache_read: usage.cached_input_tokens,
          cache_write: usage.cache_write_tokens ?? 0,
          output: usage.output_tokens,
        },
      }
      const expected = Object.fromEntries(
        Object.keys(found).map((key) => [key, truth[key as keyof Truth]]),
      ) as typeof found
      const { usage: wanted, ...rest } = expected
      const { input, cache_read, cache_write, output } = wanted
      const want = JSON.stringify({ ...rest, usage: { input, cache_read, cache_write, output } })
      if (JSON.stringify(found) !== want) wrong.push(`${truth.native_id}: ${JSON.stringify(found)} is not ${want}`)
    }
    expect(wrong).toEqual([])
    expect(sessions.length).toBeGreaterThan(60)
  })
})

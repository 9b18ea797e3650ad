/** Rules of Codex CLI, each with a log that violates only this rule. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { check as checkLog } from '../../../src/agents/codex/check/check-log.ts'
import { CODEX_RULES, type CodexRule } from '../../../src/agents/codex/check/rules.ts'
import type { CheckFinding } from '../../../src/model/check-finding.ts'
import { sharedFolder } from '../../support/shared-material.ts'

const ID = '019c1111-2222-7333-8444-555566667777'
const NAME = `sessions/2026/01/02/rollout-2026-01-02T03-04-05-${ID}.jsonl`

const line = (type: string, payload: unknown, timestamp = '2026-01-02T03:04:05.678Z') => ({ timestamp, type, payload })
const item = (payload: object) => line('response_item', payload)
const event = (payload: object) => line('event_msg', payload)
const texts = (role: string, ...content: object[]) => item({ type: 'message', role, content })
const input = (text: string) => ({ type: 'input_text', text })
const asked = (text: string) => event({ type: 'user_message', message: text })
const meta = (more: object = {}) =>
  line('session_meta', {
    id: ID,
    timestamp: '2026-01-02T03:04:05.000Z',
    cwd: '/w',
    originator: 'codex_cli_rs',
    cli_version: '0.150.0',
    ...more,
  })
const call = (more: object = {}) =>
  item({ type: 'function_call', name: 'shell', arguments: '{"command":["ls"]}', call_id: 'c1', ...more })
const output = (more: object = {}) => item({ type: 'function_call_output', call_id: 'c1', output: 'a.txt', ...more })
const answer = [
  texts('assistant', { type: 'output_text', text: 'One.' }),
  event({ type: 'agent_message', message: 'One.' }),
]
const question = [texts('user', input('list files')), asked('list files')]
const turn = (more: object = {}) =>
  line('turn_context', {
    cwd: '/w',
    model: 'gpt',
    approval_policy: 'never',
    sandbox_policy: { type: 'read-only' },
    ...more,
  })

const good = [
  meta(),
  texts('developer', input('<permissions instructions>')),
  texts('user', input('<environment_context>…</environment_context>')),
  turn(),
  ...question,
  call(),
  output(),
  ...answer,
]

const text = (lines: readonly unknown[]): string => lines.map((one) => `${JSON.stringify(one)}\n`).join('')
const plus = (...more: object[]): string => text([...good, ...more])

interface Case {
  readonly text: string
  readonly path?: string
}

const broken: Readonly<Record<CodexRule, string | Case>> = {
  file_name: { text: text(good), path: NAME.replace('019c', '019d') },
  file_folder: { text: text(good), path: NAME.replace('01/02', '01/03') },
  old_format: text([{ id: ID, timestamp: '2025-08-01T00:00:00.000Z', instructions: null }, { record_type: 'state' }]),
  byte_order_mark: `\uFEFF${text(good)}`,
  utf8: `${text(good)}${JSON.stringify(event({ type: 'agent_reasoning', text: '\u0001' })).replace('\\u0001', '\xff')}\n`,
  blank_line: `${text(good)}\n`,
  json: `${text(good)}{"timestamp":\n`,
  envelope: plus({ timestamp: '2026-01-02T03:04:05.678Z', type: 'event_msg' }),
  line_type: plus(line('remark', {})),
  time_form: plus(line('world_state', {}, '2026-01-02T03:04:06.000+00:00')),
  time: plus(line('world_state', {}, 'yesterday')),
  time_order: plus(line('world_state', {}, '2026-01-02T03:04:05.677Z')),
  final_newline: text(good).slice(0, -1),
  header_first: text([turn(), ...good]),
  model_provider: text([meta({ model_provider: 'mock' }), ...good.slice(1)]),
  ordinal: text([meta({ history_mode: 'paginated' }), ...good.slice(1)]),
  base_elsewhere: text([meta({ history_base: { thread_id: ID, end_ordinal_exclusive: 1 } }), ...good.slice(1)]),
  compressed: { text: text(good), path: `${NAME}.zst` },
  header_fields: text([meta({ cwd: null }), ...good.slice(1)]),
  turn_context_fields: plus(turn({ sandbox_policy: 'none' })),
  compacted_fields: plus(line('compacted', { message: null })),
  event_type: plus(event({ type: 'something_happened' })),
  event_fields: plus(event({ type: 'thread_rolled_back', num_turns: 'one' })),
  item_type: plus(item({ type: 'tool_use' })),
  item_fields: plus(item({ type: 'reasoning', summary: 'thoughts' })),
  role: plus(texts('tool', input('a'))),
  role_system: plus(texts('system', input('a'))),
  part_type: plus(texts('developer', { type: 'text', text: 'a' })),
  part_role: plus(texts('developer', { type: 'output_text', text: 'a' })),
  image_data: plus(texts('developer', { type: 'input_image', image_url: 'data:image/png;base64,AAAA' })),
  image_address: plus(texts('developer', { type: 'input_image', image_url: '/tmp/a.png' })),
  tool_name: text([...good.slice(0, 6), call({ name: 'look up' }), ...good.slice(7)]),
  arguments_json: text([...good.slice(0, 6), call({ arguments: '' }), ...good.slice(7)]),
  reasoning_plain: plus(item({ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'a' }] })),
  call_id: plus(call({ call_id: 'c'.repeat(65) }), output({ call_id: 'c'.repeat(65) })),
  call_id_unique: plus(call({ call_id: 'c2' }), call({ call_id: 'c2' }), output({ call_id: 'c2' })),
  call_answered: plus(call({ call_id: 'c2' })),
  output_call: plus(output({ call_id: 'c2' })),
  output_once: plus(output()),
  output_kind: plus(
    item({ type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin Patch', call_id: 'c2' }),
    output({ call_id: 'c2' }),
  ),
  prompt_none: text([meta(), turn()]),
  prompt_any: text([meta(), texts('user', input('list files'))]),
  prompt_event: plus(texts('user', input('and now?'))),
  prompt_item: plus(asked('and now?')),
  answer_event: plus(texts('assistant', { type: 'output_text', text: 'Two.' })),
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

async function check(bytes: Buffer, path?: string): Promise<readonly CheckFinding<CodexRule>[]> {
  const found: CheckFinding<CodexRule>[] = []
  for await (const one of checkLog(() => once(bytes), path === undefined ? {} : { path })) found.push(one)
  return found
}

/** One letter represents an invalid UTF-8 byte. */
const bytesOf = (given: string): Buffer =>
  given.includes('\xff') ? Buffer.from(given.replace('…', ''), 'latin1') : Buffer.from(given)

describe('a log for Codex', () => {
  test('passes when it is well-formed', async () => {
    expect(await check(Buffer.from(text(good)), NAME)).toEqual([])
    expect(await check(Buffer.from(text(good)), `archived_sessions/rollout-2026-01-02T03-04-05-${ID}.jsonl`)).toEqual(
      [],
    )
  })

  test.each(['back.jsonl', 'out/rollout.jsonl', `rollout-2026-01-02T03-04-05-${ID.replace('019c', '019d')}.jsonl`])(
    'may have any name outside of the folders of Codex: %s',
    async (path) => {
      expect(await check(Buffer.from(text(good)), path)).toEqual([])
    },
  )

  test.each(Object.entries(broken))('breaks only %s', async (rule, given) => {
    const { text: log, path } = typeof given === 'string' ? { text: given, path: NAME } : { path: NAME, ...given }
    const found = await check(bytesOf(log), path)
    expect(new Set(found.map((one) => one.rule))).toEqual(new Set([rule]))
    expect(found[0]?.severity).toBe(CODEX_RULES[rule as CodexRule].severity)
  })

  test('names line and path', async () => {
    const found = await check(Buffer.from(plus(texts('developer', input('a'), { type: 'tool_use' }))))
    expect(found).toEqual([expect.objectContaining({ rule: 'part_type', place: 'line 11 $.payload.content[1]' })])
  })

  test('may pair what is shown and what is sent in either order, and be paginated', async () => {
    expect(await check(Buffer.from(text([meta(), asked('a b'), texts('user', input('a'), input('b'))])))).toEqual([])
    const completed = event({ type: 'item_completed', item: { type: 'UserMessage' } })
    const paginated = [meta({ history_mode: 'paginated' }), completed, texts('user', input('a'))]
    expect(await check(Buffer.from(text(paginated.map((one, ordinal) => ({ ...one, ordinal })))))).toEqual([])
  })

  test.each(['https://example.com/a.png', 'http://example.com/a.png', 'data:image/png;base64,', 'data:text/plain,a'])(
    'warns of an image that Codex does not send as it is: %s',
    async (image_url) => {
      const found = await check(Buffer.from(plus(texts('developer', { type: 'input_image', image_url }))))
      expect(found.map(({ rule, severity }) => [rule, severity])).toEqual([['image_data', 'warning']])
    },
  )

  test('may have what current versions accept: images in frames, tools as an item, lines of agents', async () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgoAAAAN', detail: 'high' }
    const framed = [input('<image name=[Image #1] path="a.png">'), image, input('</image>'), input('What is it?')]
    expect(await check(Buffer.from(plus(texts('user', ...framed), asked('What is it?'))))).toEqual([])
    expect(await check(Buffer.from(plus(item({ type: 'additional_tools', role: 'developer', tools: [] }))))).toEqual([])
    const sent = line('inter_agent_communication_metadata', { trigger_turn: true })
    expect(await check(Buffer.from(plus({ ...sent, metadata: { note: 1 } })))).toEqual([])
  })

  test.each([
    ['arguments_json', text([...good.slice(0, 6), call({ arguments: '{"broken' }), ...good.slice(7)])],
    ['time_form', text(good.map((one) => ({ ...one, timestamp: one.timestamp.replace('.678', '') })))],
    ['final_newline', text(good).slice(0, -1)],
    ['tool_name', text([...good.slice(0, 6), call({ name: 'my shell' }), ...good.slice(7)])],
    ['part_role', plus(texts('developer', { type: 'output_text', text: 'a' }))],
    ['call_id', plus(call({ call_id: 'c'.repeat(80) }), output({ call_id: 'c'.repeat(80) }))],
  ])('has no error for what Codex takes: %s', async (rule, log) => {
    const found = await check(Buffer.from(log))
    expect(new Set(found.map((one) => `${one.severity} ${one.rule}`))).toEqual(new Set([`warning ${rule}`]))
  })

  test('may contain a prompt that looks like injected text', async () => {
    const [tag, more] = ['<image>Who is it?', '[image: 1.jpg]']
    expect(await check(Buffer.from(plus(texts('user', input(tag), input(more)), asked(`${tag}\n${more}`))))).toEqual([])
    expect(await check(Buffer.from(plus(asked(`${tag}\n${more}`), texts('user', input(tag), input(more)))))).toEqual([])
  })

  test('has the same findings however its bytes are cut into chunks', async () => {
    const bytes = Buffer.from(plus(output(), asked('x'), item({ type: 'tool_use' })))
    async function* pieces(): AsyncGenerator<Buffer> {
      for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7)
    }
    const found: CheckFinding[] = []
    for await (const one of checkLog(pieces)) found.push(one)
    expect(found).toEqual(await check(bytes))
    expect(found.length).toBe(3)
  })
})

const live = sharedFolder('corpus', 'codex-live')

describe.skipIf(!live)('logs that known versions wrote', () => {
  const files = live
    ? readdirSync(live, { recursive: true, encoding: 'utf8' }).filter(
        (path) => path.endsWith('.jsonl') && !path.startsWith('0.20.0'),
      )
    : []

  test('have no errors', async () => {
    const errors = []
    for (const path of files)
      for (const { severity, rule, place } of await check(readFileSync(join(live ?? '', path))))
        if (severity === 'error') errors.push(`${path} ${rule} ${place}`)
    expect(errors).toEqual([])
    expect(files.length).toBeGreaterThan(90)
  })
})

const corpus = sharedFolder('corpus', 'codex')

describe.skipIf(!corpus)('logs that the program wrote', () => {
  const files = corpus
    ? readdirSync(corpus, { recursive: true, encoding: 'utf8' }).filter(
        (path) => /^(?:archived_)?sessions/.test(path) && path.endsWith('.jsonl'),
      )
    : []

  /** Shortened or redacted before publication: a turn with only a model, texts replaced by their sizes. */
  const isAltered = (log: string): boolean =>
    log.includes('[REDACTED_') || (log.includes('"turn_context"') && !log.includes('"sandbox_policy"'))

  test('have no errors, except logs of 0.31 and earlier, which current versions do not list', async () => {
    let old = 0
    let passed = 0
    for (const path of files) {
      const bytes = readFileSync(join(corpus ?? '', path))
      if (isAltered(bytes.toString())) continue
      const errors = (await check(bytes, relative('.', path))).filter(({ severity }) => severity === 'error')
      const isOld = errors.some(({ rule }) => rule === 'old_format')
      if (isOld) old++
      else passed++
      expect({ path, errors: errors.map(({ rule, place }) => `${rule} ${place}`) }).toEqual({
        path,
        errors: isOld ? ['old_format line 1'] : [],
      })
    }
    expect(passed).toBeGreaterThan(60)
    expect(old).toBeGreaterThan(20)
  })
})

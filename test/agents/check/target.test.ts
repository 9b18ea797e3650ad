/** The checker of OpenAI messages, and `fumi validate --target` as a user meets it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { check as checkMessages } from '../../../src/agents/openai/check.ts'
import type { CheckFinding } from '../../../src/model/check-finding.ts'
import type { ProfileName } from '../../../src/openai/profile.ts'
import { checkFile } from '../../../src/openai.ts'
import { tempFolder } from '../../support/codex-log.ts'
import { fumi } from '../../support/run-fumi.ts'

const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
const good = [
  { role: 'user', content: 'hello' },
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: 'c1', content: 'ok' },
  { role: 'assistant', content: 'done' },
]
const unanswered = good.filter(({ role }) => role !== 'tool')

async function check(text: string, profile: ProfileName = 'openai', chunk = 1 << 16): Promise<readonly CheckFinding[]> {
  const bytes = Buffer.from(text)
  async function* open(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk)
  }
  const found: CheckFinding[] = []
  for await (const one of checkMessages(open, { profile })) found.push(one)
  return found
}

describe('OpenAI messages', () => {
  const forms = {
    'a list of messages': JSON.stringify(unanswered),
    'an object over lines': JSON.stringify({ messages: unanswered }, null, 2),
    lines: `${JSON.stringify({ messages: good })}\n\n${JSON.stringify({ messages: unanswered })}\n`,
    'a list of conversations': JSON.stringify([{ messages: good }, { messages: unanswered }]),
  }

  test.each(Object.entries(forms))(
    '%s: the same problems as in the complete file, however it is split',
    async (_, text) => {
      const complete = checkFile(text, 'openai').problems.map(({ code, path }) => [code, path])
      const found = await check(text)
      expect(found.map(({ rule, place }) => [rule, place.slice(place.indexOf('$'))])).toEqual(complete)
      expect(found).toEqual([expect.objectContaining({ rule: 'call_unanswered', severity: 'error' })])
      expect(await check(text, 'openai', 5)).toEqual(found)
    },
  )

  test('name their line or element', async () => {
    expect((await check(forms.lines))[0]?.place).toMatch(/^line 3 \$\.messages\[1\]/)
    expect((await check(forms['a list of conversations']))[0]?.place).toMatch(/^element 2 \$/)
  })

  test('follow the profile', async () => {
    const text = JSON.stringify([{ role: 'user', content: 'only a question' }])
    expect(await check(text)).toEqual([])
    expect(await check(text, 'fine-tune')).toEqual([expect.objectContaining({ rule: 'end_not_assistant' })])
  })

  test('are distinguished from other files', async () => {
    expect(await check('{"messages":\n')).toEqual([expect.objectContaining({ rule: 'json' })])
    expect(await check('[{"instruction":"a","output":"b"}]')).toEqual([
      expect.objectContaining({ rule: 'conversation' }),
    ])
  })
})

describe('fumi validate --target', () => {
  const ID = '019c1111-2222-7333-8444-555566667777'
  const at = '2026-01-02T03:04:05.678Z'
  const meta = { id: ID, timestamp: at, cwd: '/w', originator: 'codex_cli_rs', cli_version: '0.150.0' }
  const log = [
    { timestamp: at, type: 'session_meta', payload: meta },
    { timestamp: at, type: 'event_msg', payload: { type: 'user_message', message: 'hi' } },
    {
      timestamp: at,
      type: 'response_item',
      payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
    },
  ]
  const open = {
    timestamp: at,
    type: 'response_item',
    payload: { type: 'function_call', name: 'shell', arguments: '{}', call_id: 'c' },
  }

  function file(name: string, lines: readonly unknown[]): string {
    const path = join(tempFolder(), name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    return path
  }

  const name = `rollout-2026-01-02T03-04-05-${ID}.jsonl`

  test('codex: nothing wrong, a warning, an error', () => {
    const fine = file(name, log)
    for (const target of [[], ['--target', 'codex']])
      expect(fumi(['validate', ...target, 'nowhere.json'])).toMatchObject({
        code: 4,
        err: 'fumi: nowhere.json: no such file. Check the path.\n',
      })
    expect(fumi(['validate', '--target', 'codex', fine])).toMatchObject({ code: 0, out: `${fine}: no problems\n` })
    expect(fumi(['validate', '--target', 'codex', file(name, [...log, open])])).toMatchObject({
      code: 0,
      out: expect.stringContaining('0 errors, 1 warning'),
    })
    const old = [{ id: ID, timestamp: '2025-08-01T00:00:00.000Z', instructions: null }, { record_type: 'state' }]
    const { code, out } = fumi(['validate', '--target', 'codex', '--json', file('log.jsonl', old)])
    expect(code).toBe(1)
    expect(JSON.parse(out)).toEqual({
      path: expect.any(String),
      target: 'codex',
      findings: [{ rule: 'old_format', place: 'line 1', what: expect.any(String), severity: 'error' }],
    })
  })

  test('the name of a file is the name of its owner, except in the folders of Codex', () => {
    expect(fumi(['validate', '--target', 'codex', file('back.jsonl', log)])).toMatchObject({ code: 0 })
    const { code, out } = fumi(['validate', '--target', 'codex', file('sessions/2026/01/02/back.jsonl', log)])
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('0 errors, 1 warning') })
  })

  test('standard input has no name to be checked', () => {
    const input = log.map((line) => `${JSON.stringify(line)}\n`).join('')
    expect(fumi(['validate', '--target', 'codex', '-'], { input }).code).toBe(0)
  })

  test('amazon-q', () => {
    const { code, out } = fumi(['validate', '--target', 'amazon-q', file('save.json', [{ history: [] }])])
    expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining('loads') })
  })

  test('without it, the content of the file decides', () => {
    const path = file('a.json', [unanswered])
    expect(fumi(['validate', '--target', 'openai', path, '--json'])).toEqual(fumi(['validate', path, '--json']))
    const rollout = file(name, log)
    expect(fumi(['validate', rollout])).toMatchObject({ code: 0, out: `${rollout}: no problems\n` })
    expect(fumi(['validate', rollout, '--profile', 'ollama'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('contains no messages'),
    })
  })

  test('reports what cannot be done', () => {
    const path = file(name, log)
    expect(fumi(['validate', '--target', 'codex', path, '--profile', 'ollama']).code).toBe(2)
    expect(fumi(['validate', '--target', 'codex', path, '--fix', '-o', '-']).code).toBe(2)
    expect(fumi(['validate', '--target', 'codex', 'no-such-file']).code).toBe(4)
    expect(fumi(['validate', '--target', 'codex', file(name, [])]).code).toBe(3)
    expect(fumi(['validate', '--target', 'codex', tempFolder()]).code).toBe(2)
    expect(fumi(['validate', '--target', 'cursor', path])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^fumi: Unknown target "cursor"\. Available: amazon-q, .*codex, .*openai.*\.\n$/),
    })
  })
})

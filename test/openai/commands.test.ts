/** Commands for files of conversations. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { shortSession, tempFolder, tempLog, text } from '../support/codex-log.ts'
import { fumi, lines } from '../support/run-fumi.ts'

const json = JSON.stringify
const ask = (question: string) => [
  { role: 'user', content: question },
  { role: 'assistant', content: `About ${question}` },
]
const two = `${json({ messages: ask('Ebb') })}\n${json({ messages: ask('Flow') })}\n`
const alpaca = json([{ instruction: 'Do.', input: '', output: 'Done.' }])
const mixed = `${two}${json({ instruction: 'Do.', output: 'Done.' })}\n${json({ conversations: [{ from: 'human', value: 'Hi?' }] })}\n`
const node = (id: string, parent: string | null, role: string) => ({
  id,
  parent,
  children: [],
  message: { id, author: { role }, create_time: 1767323045, content: { content_type: 'text', parts: [`Node ${id}`] } },
})
const tree = json([
  {
    id: 'conv',
    title: 'Tree',
    current_node: 'b',
    mapping: { a: node('a', null, 'user'), b: node('b', 'a', 'assistant'), c: node('c', 'a', 'assistant') },
  },
])

describe('fumi detect', () => {
  test('has one line for each file: what it is, what is in it, and why', () => {
    const files = [
      tempLog(two, 'train.jsonl'),
      tempLog(tree, 'conversations.json'),
      tempLog(text(shortSession())),
      tempLog(alpaca, 'alpaca.json'),
      tempLog('# Words\n', 'notes.md'),
    ]
    const { code, out, err } = fumi(['detect', ...files], { env: { COLUMNS: '160' } })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const rows = lines(out)
    expect(rows).toHaveLength(6)
    expect(rows[1]).toMatch(/train\.jsonl\s+openai\s+sft\s+2\s+4\s+lines with messages/)
    expect(rows[2]).toMatch(/conversations\.json\s+openai\s+chatgpt\s+1\s+3\s+a tree/)
    expect(rows[3]).toMatch(/codex\s+rollout\s+1\s+2\s+lines with timestamp, type and payload/)
    expect(rows[4]).toMatch(/alpaca\.json\s+–\s+alpaca\s+Alpaca format/)
    expect(rows[5]).toMatch(/notes\.md\s+–\s+unknown/)
  })

  test('lists all formats of a mixed file, and other lines individually', () => {
    const path = tempLog(mixed, 'mixed.jsonl')
    expect(fumi(['detect', path]).out).toContain('sft 2, sharegpt 1')
    const [found] = JSON.parse(fumi(['detect', '--json', path]).out)
    expect(found).toMatchObject({
      path,
      agent: 'openai',
      label: 'OpenAI messages',
      format: 'sft',
      formats: { sft: 2, sharegpt: 1 },
      conversations: 3,
      branches: 0,
      messages: 5,
      issues: [{ code: 'unknown_shape', line: 3, path, reason: expect.stringContaining('Alpaca') }],
    })
  })

  test('exits with 3 for unknown files, with 4 for none', () => {
    const { code, out, err } = fumi(['detect', tempLog(alpaca, 'a.json')])
    expect(code).toBe(3)
    expect(out).toContain('alpaca')
    expect(err).toContain('of a supported agent')
    expect(JSON.parse(fumi(['detect', '--json', tempLog('{}', 'a.json')]).out)).toMatchObject([
      { agent: null, format: 'json' },
    ])
    expect(fumi(['detect', '/no/such/file'])).toMatchObject({ code: 4 })
    expect(fumi(['detect', tempFolder()], { env: { COLUMNS: '200' } })).toMatchObject({
      code: 3,
      out: expect.stringContaining('fumi list <folder>'),
    })
    expect(fumi(['detect'])).toMatchObject({ code: 2 })
  })

  test('reads standard input, and fits the terminal', () => {
    const { out } = fumi(['detect', '-'], { input: two })
    expect(lines(out)[1]).toMatch(/^-\s+openai\s+sft/)
    const long = tempLog(two, `${'とても長い名前'.repeat(10)}.jsonl`)
    const narrow = fumi(['detect', long], { env: { COLUMNS: '80' } }).out
    for (const one of lines(narrow)) expect(stringWidth(one)).toBeLessThanOrEqual(80)
    expect(narrow).toMatch(/…\S*\.jsonl\s+openai/)
  })
})

describe('fumi show', () => {
  test('shows the only conversation, and names its branches', () => {
    const path = tempLog(tree, 'conversations.json')
    const { code, out } = fumi(['show', path])
    expect(code).toBe(0)
    expect(out).toContain('Tree')
    expect(out).toContain('branches: --session 2')
    expect(out).toContain('Node b')
    expect(out).not.toContain('Node c')
    expect(fumi(['show', path, '--session', '2']).out).toMatch(/fork of openai:conv[\s\S]*Node c/)
  })

  test('asks which one if there are several, and accepts a number or an id', () => {
    const path = tempLog(two, 'train.jsonl')
    const asked = fumi(['show', path])
    expect(asked).toMatchObject({ code: 2, err: expect.stringContaining('2 conversations') })
    expect(asked.out).toMatch(/1\s+Ebb\n2\s+Flow\n/)
    expect(asked.err).not.toContain('Ebb')
    const second = fumi(['show', path, '--session', '2']).out
    expect(second).toContain('About Flow')
    expect(second).not.toContain('Ebb')
    const id = /openai:\S+/.exec(second)?.[0] ?? ''
    expect(fumi(['show', path, '--session', id]).out).toBe(second)
    expect(fumi(['show', path, '--session', '9'])).toMatchObject({ code: 2, err: expect.stringContaining('9') })
  })

  test('shows reasoning with --all', () => {
    const messages = [
      { role: 'user', content: 'Why?' },
      { role: 'assistant', content: 'So.', reasoning_content: 'Think hard.' },
    ]
    const path = tempLog(json(messages), 'chat.json')
    expect(fumi(['show', path]).out).not.toContain('Think hard.')
    expect(fumi(['show', '--all', path]).out).toContain('Think hard.')
  })
})

describe('fumi stats and normalize', () => {
  test('count each conversation of a file, and copies of it once', () => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'a.jsonl'), two)
    writeFileSync(join(folder, 'copy.jsonl'), two)
    writeFileSync(join(folder, 'package.json'), '{"name":"x","version":"1.0.0"}')
    expect(JSON.parse(fumi(['stats', '--json', folder]).out)).toMatchObject({ sessions: 4, lines: 4, messages: 4 })
    expect(lines(fumi(['normalize', folder]).out)).toHaveLength(8)
  })

  test('count the longest of two exports of one conversation, and its tokens', () => {
    const answer = (more: object[]) => json({ id: 'chat', messages: [...ask('Ebb'), ...more], model: 'm' }, null, 2)
    const folder = tempFolder()
    writeFileSync(join(folder, 'january.json'), answer([]))
    writeFileSync(join(folder, 'february.json'), answer(ask('Flow')))
    const completion = {
      object: 'chat.completion',
      id: 'c',
      created: 1767323045,
      model: 'gpt-4o',
      choices: [{ message: { role: 'assistant', content: 'Hi.' } }],
      usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
    }
    writeFileSync(join(folder, 'answer.json'), json(completion))
    expect(JSON.parse(fumi(['stats', '--json', '--utc', folder]).out)).toMatchObject({
      sessions: 3,
      messages: 5,
      usage: { input_tokens: 5, output_tokens: 2, total_tokens: 7 },
      by_model: { 'gpt-4o': { total_tokens: 7 } },
      by_day: { '2026-01-02': { total_tokens: 7 } },
    })
  })
})

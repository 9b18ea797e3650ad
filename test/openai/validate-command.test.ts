/** `fumi validate` on the command line. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tempFolder } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'

const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
const good = [
  { role: 'user', content: 'hello' },
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: 'c1', content: 'ok' },
  { role: 'assistant', content: 'done' },
]
const unanswered = good.filter(({ role }) => role !== 'tool')

function file(name: string, text: string): string {
  const path = join(tempFolder(), name)
  writeFileSync(path, text)
  return path
}

describe('fumi validate', () => {
  test('reports no problems', () => {
    const { code, out } = fumi(['validate', file('a.json', JSON.stringify(good))])
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('no problem') })
  })

  test('lists problems path by path and ends with 1', () => {
    const path = file('a.json', JSON.stringify({ messages: unanswered }, null, 2))
    const { code, out } = fumi(['validate', path, '--json'])
    expect(code).toBe(1)
    const { problems, conversations } = JSON.parse(out)
    expect(conversations).toBe(1)
    expect(problems).toEqual([
      expect.objectContaining({
        line: 1,
        path: expect.stringMatching(/^\$\.messages\[1\]/),
        repair: expect.any(String),
      }),
    ])
    expect(fumi(['validate', path]).out).toContain('$.messages[1]')
  })

  test('repairs lines in place and leaves the others unchanged', () => {
    const first = `{ "messages": ${JSON.stringify(good)}, "weight": 1.0 }`
    const path = file('train.jsonl', `${first}\n${JSON.stringify({ messages: unanswered, note: 'kept' })}\n`)
    const to = join(tempFolder(), 'mended.jsonl')
    expect(fumi(['validate', path, '--fix', '-o', to]).code).toBe(0)
    const [same, repaired] = readFileSync(to, 'utf8').split('\n')
    expect(same).toBe(first)
    expect(JSON.parse(repaired ?? '')).toMatchObject({
      note: 'kept',
      messages: [{}, {}, { role: 'tool', tool_call_id: 'c1' }, {}],
    })
    expect(fumi(['validate', to]).code).toBe(0)
  })

  test('reports the line of a problem and follows the profile', () => {
    const path = file(
      'train.jsonl',
      `${JSON.stringify({ messages: good })}\n${JSON.stringify({ messages: [{ role: 'user', content: 'only a question' }] })}\n`,
    )
    expect(fumi(['validate', path]).code).toBe(0)
    const { code, out } = fumi(['validate', path, '--profile', 'fine-tune', '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(out).problems).toEqual([expect.objectContaining({ line: 2 })])
  })

  test('checks other formats as messages, but does not repair them', () => {
    const path = file(
      'share.json',
      JSON.stringify([
        {
          conversations: [
            { from: 'human', value: 'hi' },
            { from: 'gpt', value: 'hello' },
          ],
        },
      ]),
    )
    expect(fumi(['validate', path]).code).toBe(0)
    expect(fumi(['validate', path, '--fix', '-o', '-'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('Cannot repair'),
    })
  })

  test('refuses files without messages', () => {
    expect(fumi(['validate', file('a.json', '[{"instruction":"a","output":"b"}]')])).toMatchObject({
      code: 3,
      err: expect.stringContaining('Alpaca'),
    })
    expect(fumi(['validate', file('b.json', 'not json')]).code).toBe(3)
    expect(fumi(['validate', 'no-such-file']).code).toBe(4)
    expect(fumi(['validate', file('c.json', JSON.stringify(good)), '--fix']).code).toBe(2)
  })
})

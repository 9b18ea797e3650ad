/** Streams of each server. The golden is the assembled answer. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DeltaAccumulator } from '../../src/openai.ts'

const FOLDER = join(import.meta.dirname, 'fixtures', 'streams')
const names = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.jsonl'))
  .map((name) => name.slice(0, -'.jsonl'.length))

function chunksOf(name: string): readonly unknown[] {
  const lines = readFileSync(join(FOLDER, `${name}.jsonl`), 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
}

describe.each(names)('the stream of %s', (name) => {
  const chunks = chunksOf(name)

  test('matches its golden file', async () => {
    const accumulator = new DeltaAccumulator()
    for (const chunk of chunks) accumulator.add(chunk)
    const golden = join(FOLDER, 'golden', `${name}.json`)
    await expect(`${JSON.stringify(accumulator.completion(), null, 2)}\n`).toMatchFileSnapshot(golden)
  })

  test('yields pieces that add up to the message at every chunk', () => {
    const accumulator = new DeltaAccumulator()
    const texts = { text: '', reasoning: '', refusal: '' }
    const calls: string[] = []
    for (const chunk of chunks) {
      for (const piece of accumulator.add(chunk)) {
        if (piece.choice !== 0) continue
        if (piece.kind === 'call') calls[piece.call] = (calls[piece.call] ?? '') + piece.text
        else texts[piece.kind] += piece.text
      }
      const message = accumulator.message()
      expect(texts).toEqual({
        text: message.allText,
        reasoning: message.reasoning_content ?? '',
        refusal: message.refusal ?? '',
      })
      expect(calls.map((text) => text || '{}')).toEqual(
        (message.tool_calls ?? []).map((call) =>
          call.type === 'custom' ? call.custom.input || '{}' : call.function.arguments,
        ),
      )
    }
  })

  test('leaves chunks and earlier messages as they were', () => {
    const accumulator = new DeltaAccumulator()
    const before = JSON.stringify(chunks)
    const taken = chunks.map((chunk) => {
      accumulator.add(chunk)
      const completion = accumulator.completion()
      return { completion, text: JSON.stringify(completion) }
    })
    expect(JSON.stringify(chunks)).toBe(before)
    for (const { completion, text } of taken) expect(JSON.stringify(completion)).toBe(text)
  })
})

/**
 * Measures assembling a streamed answer, as ratios to JSON.parse of the same chunks; and that the cost of a delta is
 * independent of the number of earlier ones.
 */

import { fastest } from './fastest.mjs'
import { timesFloor } from './targets.mjs'

const MANY = 200_000
const FEW = 20_000
const ROUNDS = 9

/** @returns {Promise<import('./targets.mjs').Row[]>} */
export async function benchOpenai() {
  const { DeltaAccumulator } = await import('../dist/openai.js')
  return Object.entries(STREAMS).flatMap(([name, chunkText]) => {
    const texts = Array.from({ length: MANY }, (_, i) => Buffer.from(chunkText(i)).toString())
    const chunks = texts.map((text) => JSON.parse(text))
    const few = chunks.slice(0, FEW)
    const add = (list) => {
      const accumulator = new DeltaAccumulator()
      for (const chunk of list) accumulator.add(chunk)
      return JSON.stringify(accumulator.message())
    }
    const best = fastest(
      {
        parse: () => {
          for (const text of texts) JSON.parse(text)
        },
        both: () => {
          const accumulator = new DeltaAccumulator()
          for (const text of texts) accumulator.add(JSON.parse(text))
          return JSON.stringify(accumulator.message())
        },
        many: () => add(chunks),
        // The same number of deltas, in answers of a tenth of the length.
        few: () => {
          for (let i = 0; i < MANY / FEW; i++) add(few)
        },
      },
      ROUNDS,
    )
    const said = `${MANY.toLocaleString('en')} deltas of ${name}`
    const each = (time) => (time / MANY) * 1000
    return [
      timesFloor(`add up ${said}`, 2, each(best.many), each(best.parse), 'µs'),
      timesFloor(`parse and add up ${said}`, 2, each(best.both), each(best.parse), 'µs'),
      timesFloor(`one of ${said} to one of ${FEW.toLocaleString('en')}`, 1.5, each(best.many), each(best.few), 'µs'),
    ]
  })
}

const HEAD =
  '"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763190000,"model":"m","system_fingerprint":"fp_1"'
const delta = (fields) => `{${HEAD},"choices":[{"index":0,"delta":${fields},"finish_reason":null}]}`

/** Five letters per delta: a megabyte. */
const STREAMS = {
  text: (i) => delta(`{"content":${JSON.stringify(WORDS[i % WORDS.length])}}`),
  arguments: (i) => {
    const call = i === 0 ? '"id":"call_1","type":"function",' : ''
    const name = i === 0 ? '"name":"write",' : ''
    return delta(
      `{"tool_calls":[{"index":0,${call}"function":{${name}"arguments":${JSON.stringify(WORDS[i % WORDS.length])}}}]}`,
    )
  },
}
const WORDS = ['The q', 'uick ', 'brown', ' fox\n', 'jumps', ' over', ' "the', '" laz', 'y dog']

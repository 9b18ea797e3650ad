/**
 * How long it takes to add up a streamed answer, as ratios to JSON.parse of the same chunks; and that the cost of a delta
 * does not depend on how many came before it. `npm run build && node --expose-gc bench/openai.mjs`
 */

import { pathToFileURL } from 'node:url'

const MANY = 200_000
const FEW = 20_000
const ROUNDS = 9

/**
 * @param {typeof import('../dist/openai.js')} library the built library
 * @returns {{ name: string, ratio: number, limit: number, detail: string }[]}
 */
export function benchOpenai({ DeltaAccumulator }) {
  return Object.entries(STREAMS).flatMap(([name, chunkText]) => {
    const texts = Array.from({ length: MANY }, (_, i) => Buffer.from(chunkText(i)).toString())
    const chunks = texts.map((text) => JSON.parse(text))
    const few = chunks.slice(0, FEW)
    const add = (list) => {
      const accumulator = new DeltaAccumulator()
      for (const chunk of list) accumulator.add(chunk)
      return JSON.stringify(accumulator.message())
    }
    const best = fastest({
      parse: () => {
        for (const text of texts) JSON.parse(text)
      },
      both: () => {
        const accumulator = new DeltaAccumulator()
        for (const text of texts) accumulator.add(JSON.parse(text))
        return JSON.stringify(accumulator.message())
      },
      many: () => add(chunks),
      // As many deltas, in answers of a tenth of the length.
      few: () => {
        for (let i = 0; i < MANY / FEW; i++) add(few)
      },
    })
    const said = `${MANY.toLocaleString('en')} deltas of ${name}`
    const each = (time) => `${((time / MANY) * 1000).toFixed(2)} µs each`
    return [
      { name: `add up ${said}`, ratio: best.many / best.parse, limit: 2, detail: each(best.many) },
      { name: `parse and add up ${said}`, ratio: best.both / best.parse, limit: 2, detail: each(best.both) },
      {
        name: `one of ${said} to one of ${FEW.toLocaleString('en')}`,
        ratio: best.many / best.few,
        limit: 1.5,
        detail: each(best.few),
      },
    ]
  })
}

const HEAD =
  '"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763190000,"model":"m","system_fingerprint":"fp_1"'
const delta = (fields) => `{${HEAD},"choices":[{"index":0,"delta":${fields},"finish_reason":null}]}`

/** Five letters each: a megabyte. */
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

/** Taken in turns, so that a busy machine is unfair to all alike; the best of each counts. */
function fastest(works) {
  const best = {}
  for (let i = 0; i < ROUNDS; i++) {
    for (const [name, work] of Object.entries(works)) {
      globalThis.gc?.()
      const start = performance.now()
      work()
      best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, performance.now() - start)
    }
  }
  return best
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const { name, ratio, limit, detail } of benchOpenai(await import('../dist/openai.js'))) {
    process.stdout.write(
      `${ratio <= limit ? 'ok  ' : 'OVER'} ${name}: ${ratio.toFixed(2)} (at most ${limit}; ${detail})\n`,
    )
  }
}

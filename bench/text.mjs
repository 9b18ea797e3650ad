/**
 * How fast texts are made ready for the index, searched without it, and shown: as ratios to JSON.parse of the same texts.
 * `npm run build && node bench/text.mjs`
 */
import { pathToFileURL } from 'node:url'

const ROUNDS = 9
const SIZE = 4_000_000

/**
 * @param {{ analyse: typeof import('../dist/archive/text/analyse.js').analyse, matches: typeof import('../dist/archive/text/matches.js').matches,
 *   parseQuery: typeof import('../dist/archive/text/parse-query.js').parseQuery, snippet: typeof import('../dist/archive/text/snippet.js').snippet }} doors
 * @returns {{ name: string, ratio: number, limit: number, detail: string }[]}
 */
export function benchText({ analyse, matches, parseQuery, snippet }) {
  return Object.entries(KINDS).flatMap(([name, { write, word, limit, snippets }]) => {
    const texts = textsOf(write)
    const lines = texts.map((text) => JSON.stringify({ type: 'message', content: [{ type: 'input_text', text }] }))
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    const query = parseQuery(word)
    const found = texts.filter((prompt) => matches(query, { prompt }))
    const best = fastest({
      parse: () => lines.reduce((sum, line) => sum + JSON.parse(line).content[0].text.length, 0),
      analyse: () => texts.reduce((sum, text) => sum + analyse(text).length, 0),
      matches: () => texts.reduce((sum, prompt) => sum + (matches(query, { prompt }) ? 1 : 0), 0),
      snippet: () => found.reduce((sum, text) => sum + snippet(query, text, 200).text.length, 0),
    })
    const speed = (time) => `${(bytes / 1000 / time).toFixed(0)} MB/s`
    return [
      { name: `analyse ${name}`, ratio: best.analyse / best.parse, limit, detail: speed(best.analyse) },
      { name: `search ${name} for ${word}`, ratio: best.matches / best.parse, limit, detail: speed(best.matches) },
      {
        name: `snippets of ${name}`,
        ratio: (best.snippet / found.length) * (texts.length / best.parse),
        limit: snippets,
        detail: `${((best.snippet / found.length) * 1000).toFixed(0)} µs each`,
      },
    ]
  })
}

/** Always the same numbers. */
let state = 1
function random() {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0
  return state / 4294967296
}
const pick = (list) => list[Math.floor(random() * list.length)]
const PLAIN = 'the server parses each request and writes one line of the log when a test fails for no reason'.split(' ')
const NAMES = 'get set user name token stream buffer index query table parse write error value state cache'.split(' ')
const JAPANESE =
  'これは 会話の 記録を 検索 するための 仕組みです。 開発者は 毎日 質問を する、 結果は 新しい 順に 並ぶ。'.split(' ')
const capital = (word) => word[0].toUpperCase() + word.slice(1)

const KINDS = {
  prose: { write: () => `${pick(PLAIN)} `, word: 'fails', limit: 3, snippets: 25 },
  code: {
    write: () =>
      pick([
        () =>
          `const ${pick(NAMES)}${capital(pick(NAMES))} = await ${pick(NAMES)}_${pick(NAMES)}(${pick(PLAIN)}, ${Math.floor(random() * 1000)});\n  `,
        () => `// ${pick(PLAIN)} ${pick(PLAIN)} ${pick(PLAIN)} ${pick(PLAIN)}\n`,
        () => `src/${pick(NAMES)}/${pick(NAMES)}.ts:${Math.floor(random() * 900)} ${pick(PLAIN)} ${pick(PLAIN)}\n`,
      ])(),
    word: 'userName',
    limit: 4,
    snippets: 20,
  },
  Japanese: { write: () => pick(JAPANESE), word: '検索', limit: 15, snippets: 50 },
}

function textsOf(write) {
  const texts = []
  for (let size = 0; size < SIZE; ) {
    let text = ''
    while (text.length < 1200) text += write()
    texts.push(Buffer.from(text).toString())
    size += Buffer.byteLength(text)
  }
  return texts
}

/** Taken in turns, so that a busy machine is unfair to all alike; the best of each counts. */
function fastest(works) {
  const best = {}
  for (let i = 0; i < ROUNDS; i++) {
    for (const [name, work] of Object.entries(works)) {
      const start = performance.now()
      work()
      best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, performance.now() - start)
    }
  }
  return best
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [{ analyse }, { matches }, { parseQuery }, { snippet }] = await Promise.all(
    ['analyse', 'matches', 'parse-query', 'snippet'].map((door) => import(`../dist/archive/text/${door}.js`)),
  )
  for (const { name, ratio, limit, detail } of benchText({ analyse, matches, parseQuery, snippet })) {
    process.stdout.write(
      `${ratio <= limit ? 'ok  ' : 'OVER'} ${name}: ${ratio.toFixed(2)} (at most ${limit}; ${detail})\n`,
    )
  }
}

/** Measures files of OpenAI-shaped conversations, as ratios to the yardstick. */
import { closeSync, mkdirSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { bareMemory, compare, FUMI, leastMemory, median, READ, remove, timeRow, workFolder } from './compare.mjs'
import { yardstick } from './logs.mjs'
import { atMost } from './targets.mjs'

const MOST_MB = 110

/** Measures text in ASCII, where the yardstick is fastest, and other text. */
export function benchOpenAiFiles(megabytes, runs) {
  const folder = workFolder()
  try {
    const plain = join(folder, 'plain')
    const wide = join(folder, 'wide')
    const size = `${(writeExamples(plain, megabytes * 1e6, '') / 1e6).toFixed(0)} MB`
    writeExamples(wide, megabytes * 1e6, '潮位は?')
    const reading = (logs) => compare({ yardstick: [yardstick, logs], read: [READ, logs, 'openai'] }, runs)
    const results = reading(plain)
    const base = median(results.yardstick.map((one) => one.wallMs)).toFixed(0)
    return {
      note: `Floor of times: ${base} ms of a plain \`JSON.parse\` of each line (median of ${runs}) for ${size} of examples for fine-tuning, one on each line.`,
      rows: [
        timeRow(results, 'reading as messages, nothing written', 'read', 1.6),
        timeRow(reading(wide), 'the same, some letters wider than a byte', 'read', 1.6),
        memoryRow('peak memory of reading', READ, plain, 'openai'),
        memoryRow('peak memory of `fumi normalize`', FUMI, 'normalize', plain),
      ],
    }
  } finally {
    remove(folder)
  }
}

const memoryRow = (what, ...args) => atMost(what, MOST_MB, leastMemory(...args), 'MB', bareMemory())

/** Fine-tuning examples; every fifth has tools, calls and results. `mark` occurs in one of fifty. */
function writeExamples(folder, bytes, mark) {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'examples.jsonl')
  const fd = openSync(path, 'w')
  let written = 0
  for (let n = 0; written < bytes; ) {
    let text = ''
    for (; text.length < 1e6; n++) text += `${JSON.stringify(exampleOf(n, mark))}\n`
    written += writeSync(fd, text)
  }
  closeSync(fd)
  return statSync(path).size
}

const WORDS =
  'the tide turns at six and somebody who keeps the harbour writes down how high the water stood while boats wait outside'.split(
    ' ',
  )

/** The same words for the same seed, on every machine. */
function wordsOf(seed, count) {
  let state = seed + 1
  let text = ''
  for (let n = 0; n < count; n++) {
    state = (state * 1103515245 + 12345) & 0x7fffffff
    text += WORDS[state % WORDS.length] + (state % 13 === 0 ? '.\n' : ' ')
  }
  return text
}

function exampleOf(n, mark) {
  const messages = [{ role: 'system', content: wordsOf(n % 7, 20) }]
  for (let turn = 0; turn <= n % 3; turn++) {
    const seed = n * 10 + turn
    messages.push({ role: 'user', content: wordsOf(seed, 30 + (n % 60)) + (n % 50 === 0 ? mark : '') })
    if (n % 5 === 0) messages.push(...toolTurn(`call_${n}_${turn}`, seed))
    messages.push({ role: 'assistant', content: wordsOf(seed + 3, 60 + (n % 150)) })
  }
  return n % 5 === 0 ? { messages, tools: TOOLS } : { messages }
}

const TOOLS = [
  {
    type: 'function',
    function: { name: 'look_up', parameters: { type: 'object', properties: { q: { type: 'string' } } } },
  },
]

function toolTurn(id, seed) {
  const call = { name: 'look_up', arguments: JSON.stringify({ q: wordsOf(seed + 1, 5), n: seed }) }
  return [
    { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: call }] },
    { role: 'tool', tool_call_id: id, content: JSON.stringify({ rows: [wordsOf(seed + 2, 20), seed] }) },
  ]
}

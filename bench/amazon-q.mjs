/**
 * How long a store of Amazon Q takes to read and to keep, as ratios to JSON.parse over the same rows in the same process.
 * `npm run build && node --expose-gc bench/amazon-q.mjs`
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import { stateText } from './conversation.mjs'

const ROWS = 500
const ROW_BYTES = 366_000
const LARGE_BYTES = 54e6
/** Makes an entry of some seven kilobytes, the mean of the conversations that were measured. */
const LINES = 70

/** Most conversations on disk are of older versions, in pairs and without times. */
export function makeStore(path, rows = ROWS, bytes = ROW_BYTES) {
  const database = new Database(path)
  database.exec('CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT)')
  const insert = database.prepare('INSERT OR REPLACE INTO conversations VALUES (?, ?)')
  const shapes = [
    stateText(bytes, false, LINES),
    stateText(bytes, true, LINES),
    oldText(bytes),
    oldText(bytes),
    oldText(bytes),
  ]
  database.transaction(() => {
    for (let n = 0; n < rows; n++) insert.run(`/home/u/project-${n}`, renamed(shapes[n % shapes.length], n))
  })()
  database.close()
  return path
}

export const makeLargeStore = (path) => makeStore(path, 1, LARGE_BYTES)

const renamed = (text, n) => text.replace('"conversation_id":"b"', `"conversation_id":"conversation-${n}"`)

function oldText(bytes) {
  const state = JSON.parse(stateText(bytes * 1.3, false, LINES))
  const history = []
  let length = 0
  for (const { user, assistant } of state.history) {
    const { timestamp: _, ...rest } = user
    const entry = [rest, assistant]
    history.push(entry)
    length += JSON.stringify(entry).length
    if (length > bytes) break
  }
  return JSON.stringify({ ...state, history, valid_history_range: [0, history.length] })
}

/** @returns {Promise<{ name: string, ratio?: number, ms?: number, limit: number, detail: string }[]>} */
export async function benchStore() {
  const { default: agent } = await import('../dist/agents/amazon-q/agent.js')
  const { House } = await import('../dist/app.js')
  const folder = mkdtempSync(join(tmpdir(), 'fumi-store-'))
  try {
    const path = makeStore(join(folder, 'data.sqlite3'))
    const reading = await readRatio(agent, path)
    const house = new House({
      platform: process.platform,
      home: folder,
      variables: { FUMI_HOME: join(folder, 'home') },
    })
    const again = await keepAgain(house, agent, path)
    house.close()
    return [reading, again]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One value at a time: two hundred megabytes of strings at hand would keep the garbage collector busy for both. */
async function readRatio(agent, path) {
  let parsing = Number.POSITIVE_INFINITY
  let reading = Number.POSITIVE_INFINITY
  let bytes = 0
  for (let round = 0; round < 5; round++) {
    globalThis.gc?.()
    const parsed = parseAll(path)
    bytes = parsed.bytes
    parsing = Math.min(parsing, parsed.ms)
    reading = Math.min(reading, await timed(() => readAll(agent, path)))
  }
  return {
    name: `read and normalise ${ROWS} rows, ${(bytes / 1e6).toFixed(0)} MB`,
    ratio: reading / parsing,
    limit: 2,
    detail: `JSON.parse ${parsing.toFixed(0)} ms`,
  }
}

/** Only JSON.parse is timed. */
function parseAll(path) {
  const database = new Database(path, { readonly: true })
  const value = database.prepare('SELECT value FROM conversations WHERE key = ?').pluck()
  let ms = 0
  let bytes = 0
  for (const key of database.prepare('SELECT key FROM conversations').pluck().all()) {
    const text = value.get(key)
    bytes += Buffer.byteLength(text)
    const start = performance.now()
    JSON.parse(text)
    ms += performance.now() - start
  }
  database.close()
  return { ms, bytes }
}

async function readAll(agent, path) {
  for await (const source of agent.find(path)) for await (const _ of agent.read(source));
}

/** One row of the five hundred has a new entry. */
async function keepAgain(house, agent, path) {
  const sources = []
  for await (const source of agent.find(path)) sources.push(source)
  await house.keepStore(agent, path, sources)
  const database = new Database(path)
  const times = []
  for (let round = 0; round < 9; round++) {
    const key = `/home/u/project-${round * 7}`
    const state = JSON.parse(database.prepare('SELECT value FROM conversations WHERE key = ?').pluck().get(key))
    state.history.push(state.history[0])
    database.prepare('INSERT OR REPLACE INTO conversations VALUES (?, ?)').run(key, JSON.stringify(state))
    times.push(await timed(() => house.keepAgain(agent, path)))
  }
  database.close()
  const ms = times.sort((a, b) => a - b)[4]
  return {
    name: `keep again, one of ${ROWS} rows changed`,
    ms,
    limit: 50,
    detail: `slowest ${times.at(-1).toFixed(0)} ms`,
  }
}

async function timed(work) {
  globalThis.gc?.()
  const start = performance.now()
  await work()
  return performance.now() - start
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const { name, ratio, ms, limit, detail } of await benchStore()) {
    const measured = ratio === undefined ? `${ms.toFixed(0)} ms` : `${ratio.toFixed(2)} ×`
    process.stdout.write(
      `${(ratio ?? ms) <= limit ? 'ok  ' : 'OVER'} ${name}: ${measured} (at most ${limit}; ${detail})\n`,
    )
  }
}

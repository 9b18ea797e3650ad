/**
 * Measures reading and backing up a store of Amazon Q, as ratios to JSON.parse of the same rows in the same process.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '../dist/lib/sqlite/driver.js'
import { bareMemory, FUMI, leastMemory } from './compare.mjs'
import { stateText } from './conversation.mjs'
import { inOwnProcess } from './library.mjs'
import { atMost, timesFloor } from './targets.mjs'

const ROWS = 500
const ROW_BYTES = 366_000
const LARGE_BYTES = 54e6
/** Makes an entry of about seven kilobytes, the mean of measured conversations. */
const LINES = 70

/** Uses the format of older versions, pairs without times, which most stored conversations have. */
export function makeStore(path, rows = ROWS, bytes = ROW_BYTES) {
  const database = openSqlite(path)
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

/** Rows for the report. Runs in a process that can trigger garbage collection. */
export function benchStores(work) {
  const script = `
    import { timeStore } from ${JSON.stringify(import.meta.url)}
    console.log(JSON.stringify(await timeStore()))`
  const large = makeStore(join(work, 'large.sqlite3'), 1, LARGE_BYTES)
  const memory = leastMemory(FUMI, 'normalize', large)
  return {
    note: `Floor of times: \`JSON.parse\` of the values alone; ${ROWS} rows of ${ROW_BYTES / 1000} KB.`,
    rows: [
      ...inOwnProcess(script, 'the stores of Amazon Q'),
      atMost('peak memory of `fumi normalize`, one row of 54 MB', 250, memory, 'MB', bareMemory()),
    ],
  }
}

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

/** @returns {Promise<import('./targets.mjs').Row[]>} */
export async function timeStore() {
  const { default: agent } = await import('../dist/agents/amazon-q/agent.js')
  const { App } = await import('../dist/app.js')
  const folder = mkdtempSync(join(tmpdir(), 'fumi-store-'))
  try {
    const path = makeStore(join(folder, 'data.sqlite3'))
    const reading = await readRatio(agent, path)
    const app = new App({
      platform: process.platform,
      home: folder,
      variables: { FUMI_HOME: join(folder, 'home') },
    })
    const again = await measureBackUpAgain(app, agent, path)
    app.close()
    return [reading, again]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One value at a time: two hundred megabytes of strings in memory would slow down both sides by garbage collection. */
async function readRatio(agent, path) {
  let parsing = Number.POSITIVE_INFINITY
  let reading = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round++) {
    globalThis.gc?.()
    parsing = Math.min(parsing, parseAll(path))
    reading = Math.min(reading, await timed(() => readAll(agent, path)))
  }
  return timesFloor(`read and normalize ${ROWS} rows`, 2, reading, parsing)
}

/** Measures JSON.parse only. */
function parseAll(path) {
  const database = openSqlite(path, { readonly: true })
  const value = database.prepare('SELECT value FROM conversations WHERE key = ?').pluck()
  let ms = 0
  for (const key of database.prepare('SELECT key FROM conversations').pluck().all()) {
    const text = value.get(key)
    const start = performance.now()
    JSON.parse(text)
    ms += performance.now() - start
  }
  database.close()
  return ms
}

async function readAll(agent, path) {
  for await (const source of agent.find(path)) for await (const _ of agent.read(source));
}

/** One of five hundred rows has a new entry. */
async function measureBackUpAgain(app, agent, path) {
  const sources = []
  for await (const source of agent.find(path)) sources.push(source)
  await app.backupService.backUp(agent, path, sources)
  const database = openSqlite(path)
  const times = []
  for (let round = 0; round < 9; round++) {
    const key = `/home/u/project-${round * 7}`
    const state = JSON.parse(database.prepare('SELECT value FROM conversations WHERE key = ?').pluck().get(key))
    state.history.push(state.history[0])
    database.prepare('INSERT OR REPLACE INTO conversations VALUES (?, ?)').run(key, JSON.stringify(state))
    times.push(await timed(() => app.backupService.backUpAgain(agent, path)))
  }
  database.close()
  const ms = times.sort((a, b) => a - b)[4]
  return atMost(`back up again, one of ${ROWS} rows changed`, 50, ms, 'ms')
}

async function timed(work) {
  globalThis.gc?.()
  const start = performance.now()
  await work()
  return performance.now() - start
}

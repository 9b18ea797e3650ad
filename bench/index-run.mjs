/**
 * One measured run on an index: `index-run.mjs sync|search|rare|idle|append|rest <home> <data>`. Prints the result as
 * JSON.
 */
import { randomUUID } from 'node:crypto'
import { appendFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { App } from '../dist/app.js'

const [, , what, home, data] = process.argv
const app = new App({ platform: 'linux', home, variables: { FUMI_HOME: data, XDG_DATA_HOME: join(home, 'data') } })
const p95 = (times) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)]
const timed = async (work) => {
  const start = performance.now()
  const value = await work()
  return { ms: performance.now() - start, value }
}

/** Words, phrases, exclusions, filters of every kind, scripts without spaces, a pattern, an empty query. */
const QUERIES = [
  'error',
  'config',
  'import function',
  '"of the"',
  'schema scope:answer',
  'file has:error',
  'quamirole',
  'getUser*',
  'retry -error',
  'config -"of the"',
  '-error',
  'role:user',
  'config role:user',
  'tool:shell error',
  'tool:nobody',
  'file:src/ config',
  'has:image',
  'model:gpt-5 error',
  'project:nowhere error',
  'on:2026-01-06 config',
  'before:2026-01-20 error',
  '検索',
  'の',
  '/time(d )?out/i error',
  'zyxquorvane',
]

/** A record as the session's own program would append it. */
function promptOf(agent, text) {
  const timestamp = new Date().toISOString()
  if (agent !== 'claude-code')
    return {
      timestamp,
      type: 'response_item',
      payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    }
  const message = { role: 'user', content: text }
  return { parentUuid: null, isSidechain: false, type: 'user', message, uuid: randomUUID(), timestamp }
}

const runs = {
  async sync() {
    const start = performance.now()
    let listMs
    const outcome = await app.sync({
      onProgress: ({ phase }) => {
        if (phase === 'read') listMs ??= performance.now() - start
      },
    })
    const bytes = readdirSync(data).reduce(
      (sum, name) => sum + (name.startsWith('index') ? statSync(join(data, name)).size : 0),
      0,
    )
    return { listMs, ms: performance.now() - start, bytes, ...outcome.synced }
  },
  async idle() {
    // Ignores the first runs, which load and compile the program; a server does that once.
    const times = []
    for (let n = 0; n < 15; n++) times.push(await timed(() => app.sync()))
    const [{ ms, value }] = times
      .slice(5)
      .toSorted((a, b) => a.ms - b.ms)
      .slice(5)
    return { usPerSource: (ms * 1000) / value.synced.sources }
  },
  async search() {
    const times = []
    for (let n = 0; n < 10; n++) for (const query of QUERIES) times.push((await timed(() => app.search(query))).ms)
    return { p95: p95(times.slice(QUERIES.length)), median: times.toSorted((a, b) => a - b)[times.length >> 1] }
  },
  async rare() {
    const times = []
    for (let n = 0; n < 60; n++) times.push((await timed(() => app.search('zyxquorvane'))).ms)
    return { p95: p95(times.slice(10)) }
  },
  /** Memory of a process that only watches. */
  async rest() {
    const watch = await app.watch()
    await watch.ready
    // Waits until V8 has returned the memory of the first sweep.
    await new Promise((done) => setTimeout(done, 25_000))
    const before = process.cpuUsage()
    const seconds = 30
    await new Promise((done) => setTimeout(done, seconds * 1000))
    const { user, system } = process.cpuUsage(before)
    const rssMb = process.memoryUsage.rss() / 1e6
    await watch.close()
    return { rssMb, cpuPercent: (user + system) / 1e4 / seconds }
  },
  async append() {
    const watch = await app.watch()
    await watch.ready
    const { path, id, agent } = app.list({ limit: 1 }).sessions[0]
    const times = []
    for (let n = 0; n < 40; n++) {
      const before = app.session(id).messages
      const start = performance.now()
      const changed = app.events.subscribe()
      const first = changed.next()
      appendFileSync(path, `${JSON.stringify(promptOf(agent, `appended ${n}`))}\n`)
      await first
      while (app.session(id).messages === before || !app.session(id).indexed) await changed.next()
      times.push(performance.now() - start)
      await changed.return()
    }
    await watch.close()
    return { p95: p95(times) }
  },
}
console.log(JSON.stringify(await runs[what]()))
app.close()

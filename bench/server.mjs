/** Measures the server over loopback: lists, windows, search, the end of a very long session, live clients, memory, the page. */
import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { benchPage, manyMessages } from './browser.mjs'
import { linesFrom } from './codex-lines.mjs'
import { generate } from './logs.mjs'
import { atMost } from './targets.mjs'

const ROOT = join(import.meta.dirname, '..')
const MAIN = join(ROOT, 'dist', 'bin', 'fumi.js')
const CLIENTS = 200

export async function benchServer(work, megabytes) {
  const home = join(work, 'server')
  mkdirSync(home, { recursive: true })
  generate(join(home, '.codex'), megabytes)
  const long = longSession(join(home, '.codex', 'sessions', '2026', '11', '01'), megabytes)
  manyMessages(join(home, '.codex', 'sessions', '2026', '11', '02'))
  const env = {
    ...process.env,
    HOME: home,
    CODEX_HOME: join(home, '.codex'),
    FUMI_HOME: join(home, 'fumi'),
    TZ: 'UTC',
    NO_COLOR: '1',
  }
  rmSync(join(home, 'fumi'), { recursive: true, force: true })
  spawnSync(process.execPath, [MAIN, 'sync'], { env, stdio: 'inherit' })
  const child = spawn(process.execPath, [MAIN, 'serve', '--no-open', '--no-auth', '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const url = await linkOf(child)
    const ask = async (path) => (await fetch(new URL(path, url))).json()
    while ((await ask('/api/sync')).data.status !== 'idle') await pause(100)
    const longId = (await ask('/api/sessions?sort=-filesize_bytes&per_page=1')).data[0].id
    const end = await timed(1, () => ask(`/api/sessions/${encodeURIComponent(longId)}/messages?before=end&limit=100`))
    const { meta } = await ask(`/api/sessions/${encodeURIComponent(longId)}/messages?limit=1`)
    const sessions = (await ask('/api/sessions?per_page=100')).data
    const some = (list) => list[Math.floor(Math.random() * list.length)]
    const lists = await timed(200, (at) =>
      ask(`/api/sessions?per_page=50&page=${1 + (at % 4)}&sort=${some(['-last_at', '-total_tokens', 'title'])}`),
    )
    const windows = await timed(300, () =>
      ask(
        `/api/sessions/${encodeURIComponent(some(sessions).id)}/messages?offset=${Math.floor(Math.random() * 200)}&limit=50`,
      ),
    )
    const deep = await timed(200, () =>
      ask(
        `/api/sessions/${encodeURIComponent(longId)}/messages?offset=${Math.floor(Math.random() * meta.total)}&limit=50`,
      ),
    )
    const words = ['error', 'function', 'index', 'test', '検索', 'return', 'retry timeout', 'config']
    const search = await timed(200, () => ask(`/api/search?q=${encodeURIComponent(some(words))}`))
    const page = await benchPage(url)
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => live(url)))
    const before = memoryOf(child.pid)
    const told = await appended(long, clients)
    const after = memoryOf(child.pid)
    for (const { socket } of clients) socket.destroy()
    return {
      note: `${megabytes} MB in many sessions and ${(statSync(long).size / 1e6).toFixed(0)} MB in one of ${meta.total} messages; ${CLIENTS} live clients.`,
      rows: [
        atMost('list of 50 sessions, p95', 20, lists, 'ms'),
        atMost('window of 50 messages, p95', 20, windows, 'ms'),
        atMost('window anywhere in the long session, p95', 20, deep, 'ms'),
        atMost('end of the long session, opened first', 200, end, 'ms'),
        atMost('search, 20 hits, p95', 20, search, 'ms'),
        atMost(`append shown to all ${CLIENTS} live clients, p95`, 300, told, 'ms'),
        atMost('memory gained over 200 appends', 60, (after - before) / 1e6, 'MB'),
        ...page,
      ],
    }
  } finally {
    child.kill('SIGTERM')
  }
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms))

async function linkOf(child) {
  let text = ''
  for await (const piece of child.stdout) {
    text += piece
    if (text.includes('Ctrl+C')) break
  }
  return /http:\S+/.exec(text)[0]
}

/** The 95th percentile. */
async function timed(times, work) {
  const all = []
  for (let at = 0; at < times; at++) {
    const start = performance.now()
    await work(at)
    all.push(performance.now() - start)
  }
  return p95(all)
}

const p95 = (all) => all.sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * 0.95))]

/** One log of the given size in megabytes. */
function longSession(folder, megabytes) {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'rollout-2026-11-01T00-00-00-019c9999-0000-7000-8000-000000000099.jsonl')
  const id = '019c9999-0000-7000-8000-000000000099'
  writeFileSync(path, `${header({ id, cwd: '/w/long' })}\n`)
  const output = 'one more line of output that a tool wrote\n'.repeat(150)
  let batch = []
  for (let n = 1, bytes = 0; bytes < megabytes * 1e6; n++) {
    const one =
      n % 10 === 1
        ? said(n, 'user', `Prompt ${n}: please go on`)
        : n % 10 === 0
          ? said(n, 'assistant', `Answer ${n} with **some** words`)
          : n % 2
            ? result(n, `call_${n - 1}`, `Exit code: 0\nWall time: 0.1 seconds\nOutput:\n${output}`)
            : call(n, `call_${n}`, ['bash', '-lc', `make ${n}`])
    bytes += one.length + 1
    batch.push(one)
    if (batch.length < 2000) continue
    appendFileSync(path, `${batch.join('\n')}\n`)
    batch = []
  }
  if (batch.length > 0) appendFileSync(path, `${batch.join('\n')}\n`)
  return path
}

const { header, said, call, result } = linesFrom(Date.UTC(2026, 10, 1))

/** Connects to the live stream and resolves at its first event. */
function live(url) {
  return new Promise((done) => {
    const { port } = new URL(url)
    const client = { seen: undefined, socket: undefined }
    client.socket = connect(Number(port), '127.0.0.1', () =>
      client.socket.write(`GET /api/live HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`),
    )
    client.socket.on('data', (piece) => {
      const text = String(piece)
      if (text.includes('event: hello')) done(client)
      if (text.includes('event: change')) client.seen?.()
    })
  })
}

/** Time from each append until every client is notified. */
async function appended(path, clients) {
  const all = []
  for (let n = 0; n < 200; n++) {
    const told = Promise.all(
      clients.map(
        (client) =>
          new Promise((done) => {
            client.seen = done
          }),
      ),
    )
    const start = performance.now()
    appendFileSync(path, `${said(10_000_000 + n, 'assistant', `appended ${n}`)}\n`)
    await told
    all.push(performance.now() - start)
  }
  return p95(all)
}

/** Resident memory in bytes; 0 if the system does not report it. */
function memoryOf(pid) {
  const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })
  return Number(stdout ?? 0) * 1024
}

/**
 * Measures what agents recall: how often the right session comes first, and how long an answer takes. Asks the built
 * program over standard input and output, as an agent does.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FUMI, median } from './compare.mjs'
import { bigramsOf, bm25, wordsOf } from './memory-baselines.mjs'
import { readLocomo, readLongMemEval } from './memory-public.mjs'
import { makeQuestions } from './memory-questions.mjs'
import { writeQuality } from './memory-report.mjs'
import { makeSecondSet } from './memory-second.mjs'
import { atMost } from './targets.mjs'

const EMPTY = join(import.meta.dirname, 'empty-program.mjs')
const CLIENTS = 50
/** Sessions of an answer that count. */
const FIRST = 5

/** @param {{ longmemeval?: string, locomo?: string, runs: number, quick: boolean }} options paths of public data sets */
export async function benchMemory(work, { longmemeval, locomo, runs, quick }) {
  const tasks = [
    ['invented', (sessions) => makeQuestions(sessions)],
    ['second set', (sessions) => makeSecondSet(sessions)],
  ]
  if (longmemeval)
    tasks.push(['LongMemEval-S', (sessions) => readLongMemEval(longmemeval, sessions, quick ? 20 : undefined)])
  if (locomo) tasks.push(['LoCoMo', (sessions) => readLocomo(locomo, sessions)])
  const quality = []
  let rows = []
  for (const [name, make] of tasks) {
    const machine = prepare(join(work, `memory-${name}`))
    const questions = make(machine.sessions)
    const synced = spawnSync(process.execPath, [FUMI, 'sync'], { env: machine.env, stdio: 'ignore' })
    if (synced.status !== 0) throw new Error('sync failed')
    quality.push(...(await measureQuality(name, machine, questions)))
    if (name === 'invented') rows = await measureCost(machine, questions, runs)
  }
  writeQuality(quality)
  for (const { task, kind, method, hit1, hit5, mrr, tokens } of quality)
    console.log(
      `${task} ${kind} ${method}: hit@1 ${percent(hit1)}, hit@5 ${percent(hit5)}, MRR ${mrr.toFixed(3)}, ${tokens ?? '–'} tokens`,
    )
  return {
    note: `${quality[0]?.questions ?? 0}+ questions; \`fumi mcp\` over standard input and output, with ${quick ? 'quick ' : ''}logs of bench/memory-questions.mjs.`,
    rows,
  }
}

const percent = (share) => `${(share * 100).toFixed(1)} %`

function prepare(home) {
  const sessions = join(home, '.codex', 'sessions')
  mkdirSync(sessions, { recursive: true })
  const env = {
    PATH: process.env.PATH,
    TZ: 'UTC',
    HOME: home,
    FUMI_HOME: join(home, 'fumi'),
    XDG_DATA_HOME: join(home, 'data'),
  }
  return { home, sessions, env }
}

async function measureQuality(task, machine, questions) {
  const client = await connect(machine)
  const documents = readDocuments(machine.sessions)
  const methods = [['fumi', async ({ text, project }) => recall(client, text, project)]]
  for (const [method, termsOf] of [
    ['BM25 over words', wordsOf],
    ['BM25 over bigrams', bigramsOf],
  ]) {
    const byProject = new Map()
    const rankerOf = (project) => {
      if (!byProject.has(project)) {
        const own = [...documents].filter(([, { cwd }]) => project === 'all' || cwd === project)
        byProject.set(project, bm25(new Map(own.map(([id, { text }]) => [id, text])), termsOf))
      }
      return byProject.get(project)
    }
    methods.push([
      method,
      ({ text, project }) => ({ sessions: rankerOf(project)(text).slice(0, 50), tokens: undefined }),
    ])
  }
  const found = []
  for (const [method, ask] of methods) {
    const sums = new Map()
    for (const question of questions) {
      const { sessions, tokens } = await ask({ project: 'all', ...question })
      const right = new Set([question.session].flat())
      const at = sessions.findIndex((one) => [...right].some((id) => id.startsWith(one)))
      const sum = sums.get(question.kind) ?? { count: 0, hit1: 0, hit5: 0, mrr: 0, tokens: [] }
      sum.count++
      if (at === 0) sum.hit1++
      if (at >= 0 && at < FIRST) sum.hit5++
      if (at >= 0) sum.mrr += 1 / (at + 1)
      if (tokens !== undefined) sum.tokens.push(tokens)
      if (process.env.FUMI_BENCH_MISSES && method === 'fumi' && at !== 0)
        console.log(`miss ${at} ${question.kind} ${question.session}: ${question.text.slice(0, 120)}`)
      sums.set(question.kind, sum)
    }
    for (const [kind, { count, hit1, hit5, mrr, tokens }] of sums)
      found.push({
        task,
        kind,
        method,
        questions: count,
        hit1: hit1 / count,
        hit5: hit5 / count,
        mrr: mrr / count,
        tokens: tokens.length > 0 ? Math.round(tokens.reduce((sum, one) => sum + one, 0) / tokens.length) : undefined,
      })
  }
  client.close()
  return found
}

/** Beginnings of ids, the best session first. */
async function recall(client, query, project) {
  const { content } = await client.call('search', { query, project })
  const [{ text }] = content
  const cited = [...text.matchAll(/^([\w-]+)\/([\w.~-]+)#\d+ · /gm)].map(([, agent, id]) => `${agent}:${id}`)
  return { sessions: [...new Set(cited)], tokens: Buffer.byteLength(text) / 4 }
}

/** Everything that was said and done in each session. */
function readDocuments(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(
    files.map(({ parentPath, name }) => {
      const [head, ...rest] = readFileSync(join(parentPath, name), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).payload)
      const text = rest.map((one) => one.content?.[0].text ?? one.output ?? one.arguments).join('\n')
      return [`codex:${head.id}`, { cwd: head.cwd, text }]
    }),
  )
}

async function measureCost(machine, questions, runs) {
  const starts = []
  for (let n = 0; n < runs; n++) {
    const empty = timeOf(() => spawnSync(process.execPath, [EMPTY], { stdio: 'ignore' }))
    const start = performance.now()
    const client = await connect(machine)
    await client.call('search', { query: questions[n].text, project: 'all' })
    starts.push({ took: performance.now() - start, empty })
    client.close()
  }
  const client = await connect(machine)
  const times = []
  for (const { text } of questions) {
    const start = performance.now()
    await client.call('search', { query: text, project: 'all' })
    times.push(performance.now() - start)
  }
  const memory = residentMb(client.pid)
  client.close()
  const many = await Promise.all(Array.from({ length: CLIENTS }, () => connect(machine)))
  const start = performance.now()
  const answers = await Promise.all(
    many.map((one, at) => one.call('search', { query: questions[at].text, project: 'all' })),
  )
  const all = performance.now() - start
  const failed = answers.filter(({ isError }) => isError).length
  const sum = many.reduce((total, one) => total + residentMb(one.pid), 0)
  const ended = many.map((one) => one.close())
  await Promise.all(ended)
  const base = emptyMb()
  return [
    atMost(
      'first answer after the start of `fumi mcp`',
      300,
      median(starts.map(({ took }) => took)),
      'ms',
      median(starts.map(({ empty }) => empty)),
    ),
    atMost('a query of a running `fumi mcp`, median', 20, median(times), 'ms'),
    atMost('memory after all questions, above an empty Node', 50, memory - base, 'MB', base),
    atMost(`${CLIENTS} clients at once: memory of each, above an empty Node`, 50, sum / CLIENTS - base, 'MB', base),
    atMost(`${CLIENTS} clients at once: answers that failed`, 0, failed, 'answers'),
    atMost(`${CLIENTS} clients at once: time for all answers`, 10_000, all, 'ms'),
  ]
}

function timeOf(work) {
  const start = performance.now()
  work()
  return performance.now() - start
}

const residentMb = (pid) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

function emptyMb() {
  const { stdout } = spawnSync(process.execPath, ['-e', 'console.log(process.memoryUsage().rss)'], { encoding: 'utf8' })
  return Number(stdout) / 1024 / 1024
}

/** A client that knows just enough of the protocol. */
async function connect({ env, home }) {
  const child = spawn(process.execPath, [FUMI, 'mcp'], { env, cwd: home, stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map()
  let rest = ''
  let last = 0
  child.stdout.on('data', (bytes) => {
    const lines = (rest + bytes).split('\n')
    rest = lines.pop()
    for (const line of lines) {
      const { id, result, error } = JSON.parse(line)
      waiting.get(id)?.(error ? { isError: true, content: [{ text: error.message }] } : result)
      waiting.delete(id)
    }
  })
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const request = (method, params) =>
    new Promise((done) => {
      waiting.set(++last, done)
      send({ id: last, method, params })
    })
  await request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  })
  send({ method: 'notifications/initialized' })
  return {
    pid: child.pid,
    call: (name, args) => request('tools/call', { name, arguments: args }),
    close: () =>
      new Promise((done) => {
        child.once('exit', done)
        child.stdin.end()
      }),
  }
}

/**
 * Measures the search of a team archive in a PostgreSQL of its own. FUMI_BENCH_TEAM is the number of messages; the
 * targets are meant for 3 million.
 */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { fillTeam } from '../test/support/team-data.mjs'
import { inOwnProcess } from './library.mjs'
import { atMost } from './targets.mjs'

const ROOT = join(import.meta.dirname, '..')
const QUERIES = ['common', 'rare7', 'word12', 'word12 word13', '請求', 'word400', 'word90*']
const ROUNDS = 12
const CLIENTS = 10
const SHARDS = 3

/** @returns {{ note: string, rows: import('./targets.mjs').Row[] }} */
export function benchTeam(work, isQuick) {
  const messages = Number(process.env.FUMI_BENCH_TEAM ?? (isQuick ? 20_000 : 300_000))
  const script = `
    import { measureTeam } from ${JSON.stringify(import.meta.url)}
    console.log(JSON.stringify(await measureTeam(${JSON.stringify(work)}, ${messages})))`
  const measured = inOwnProcess(script, 'team')
  if (!measured) return { note: 'Not measured: no PostgreSQL here.', rows: [] }
  const { one, ten, shards, shardsTen } = measured
  return {
    note: `Search of a team archive, newest 20 of ${messages.toLocaleString('en')} messages, warm, with the check of each text: ${QUERIES.join(', ')}. Three databases of a third each are a stand-in for shards.`,
    rows: [
      atMost('team search, p95, one client', 60, one, 'ms'),
      atMost('team search, p95, ten clients', 250, ten, 'ms'),
      atMost('team search over three databases, p95, one client', 120, shards, 'ms', one),
      atMost('team search over three databases, p95, ten clients', 500, shardsTen, 'ms', ten),
    ],
  }
}

/** Runs in its own process. */
export async function measureTeam(work, messages) {
  const [{ findPostgres, startOwnCluster }, { TeamDatabase }, { migrate }, { searchTeam }, { termOf, wordsOfText }] =
    await Promise.all([
      import('../dist/team/postgres/own-cluster.js'),
      import('../dist/team/postgres/database.js'),
      import('../dist/team/postgres/migrate.js'),
      import('../dist/team/server/search-messages.js'),
      import('../dist/team/search-terms.js'),
    ])
  const programs = findPostgres([ROOT])
  if (programs === undefined) return null
  chmodSync(work, 0o755)
  const settings = { fsync: 'off', shared_buffers: '512MB', max_wal_size: '4GB', jit: 'off' }
  const cluster = await startOwnCluster(join(work, 'cluster'), { programs, settings })
  const databases = []
  const open = async (name) => {
    const client = new pg.Client({ connectionString: cluster.url })
    await client.connect()
    await client.query(`CREATE DATABASE ${name}`)
    await client.end()
    const database = new TeamDatabase(cluster.url.replace(/fumibako$/, name), { connections: CLIENTS })
    databases.push(database)
    await migrate(database)
    return database
  }
  try {
    const size = { messages, sessions: Math.max(40, Math.round(messages / 200)), people: 50 }
    const termsOf = (text) => Array.from(wordsOfText(text), termOf)
    const whole = await open('whole')
    await fillTeam(whole, size, () => true, termsOf)
    const parts = []
    for (let at = 0; at < SHARDS; at++) {
      const part = await open(`part${at}`)
      await fillTeam(part, size, (session) => session % SHARDS === at, termsOf)
      parts.push(part)
    }
    const people = new Map([[1, 'p1']])
    const ask = async (all, query) => {
      const start = performance.now()
      const answer = await searchTeam(all, 1, query, { people })
      if (answer.kind !== 'found' || answer.hits.length === 0) throw new Error(`nothing found for ${query}`)
      return performance.now() - start
    }
    const measure = async (all, clients) => {
      const times = []
      const client = async (offset) => {
        for (let round = 0; round < ROUNDS; round++)
          for (let at = 0; at < QUERIES.length; at++)
            times.push(await ask(all, QUERIES[(at + offset) % QUERIES.length]))
      }
      await Promise.all(Array.from({ length: clients }, (_, offset) => client(offset)))
      return times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)]
    }
    // The first round warms caches and connections.
    for (const all of [[whole], parts]) await measure(all, 1)
    return {
      one: await measure([whole], 1),
      ten: await measure([whole], CLIENTS),
      shards: await measure(parts, 1),
      shardsTen: await measure(parts, CLIENTS),
    }
  } finally {
    for (const database of databases) await database.close()
    await cluster.stop()
  }
}

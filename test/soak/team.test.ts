/**
 * A team under load and faults: devices push growing logs while readers search; server, database and devices are killed,
 * connections are cut, the disk of the database is full for a while. In the end everything is there once, totals are
 * exact, and the server has not grown. FUMI_SOAK_DEVICES (default 500), FUMI_SOAK_READERS (50), FUMI_SOAK_ROUNDS (3) and
 * FUMI_SOAK_SECONDS (900, after which no device begins another round) scale it. The full disk needs the right to mount
 * one; without it, that fault is left out, and the last line says so.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import type { SessionId } from '../../src/model/ids.ts'
import { createDeviceKeys, saveConsent, saveMembership } from '../../src/team/client/membership.ts'
import { pushSessions } from '../../src/team/client/push.ts'
import { TeamClient, TeamRefusal } from '../../src/team/client/team-client.ts'
import { TeamDatabase } from '../../src/team/postgres/database.ts'
import { findPostgres, type OwnCluster, startOwnCluster } from '../../src/team/postgres/own-cluster.ts'
import { cookieNameAt } from '../../src/team/server/access.ts'
import { createSignInCode, join as enrol, invite, signIn } from '../../src/team/server/people.ts'
import { onCleanup } from '../support/cleanup.ts'
import { assistant, header, tempFolder, text, tokens, user } from '../support/codex-log.ts'
import { withoutPostgres } from '../support/postgres.ts'
import { fumiPath } from '../support/run-fumi.ts'
import { random as seededRandom } from '../support/seeded-random.ts'
import { rollout, testHome } from '../support/test-home.ts'

const DEVICES = Number(process.env['FUMI_SOAK_DEVICES'] ?? 500)
const READERS = Number(process.env['FUMI_SOAK_READERS'] ?? 50)
const ROUNDS = Number(process.env['FUMI_SOAK_ROUNDS'] ?? 3)
const MILLISECONDS = Number(process.env['FUMI_SOAK_SECONDS'] ?? 900) * 1000
const TURNS_PER_ROUND = 5
const FAULT_EVERY_MS = 4000
/** Each reader asks again after this. */
const READER_MS = 2000
/** Of the disk of the database, which is in memory. */
const DISK_BYTES = 500_000_000 + DEVICES * 500_000
const DATABASE_SETTINGS = { max_wal_size: '128MB', shared_buffers: '128MB' }
const FULL_DISK_MS = 2000
/** What a server may take, however many devices push and readers search. */
const MAX_SERVER_BYTES = 900_000_000
const SERVER_PORT = 4697
const PROXY_PORT = 4698
const PROXY_URL = `http://127.0.0.1:${PROXY_PORT}/`
/** Every so many devices push from a process of their own, which can be killed. */
const OWN_PROCESS_EVERY = 20

const threadOf = (device: number): string => `019c0000-0000-7000-8000-${String(device).padStart(12, '0')}`

const log = (device: number, turns: number): string =>
  text([
    header({ id: threadOf(device), cwd: '/w/soak' }),
    ...Array.from({ length: turns }, (_, at) => [
      user(at * 3 + 1, `device${device} asks about topic${at}`),
      assistant(at * 3 + 2, `answer ${at} of device${device}`),
      tokens(at * 3 + 3, 100 * (at + 1), 10 * (at + 1)),
    ]).flat(),
  ])

test.skipIf(withoutPostgres)('loses nothing and counts nothing twice', async () => {
  const folder = tempFolder()
  chmodSync(folder, 0o755)
  const programs = findPostgres([join(import.meta.dirname, '..', '..')]) ?? ''
  const disk = mountDisk(join(folder, 'disk'))
  // Started again if it ended, as a service manager does. One that is ending still holds its files.
  const startDatabase = (): Promise<OwnCluster> =>
    retry(() =>
      startOwnCluster(join(disk ?? folder, 'cluster'), { programs, port: 54_987, settings: DATABASE_SETTINGS }),
    )
  let cluster = await startDatabase()
  onCleanup(() => cluster.stop())
  let server = await startServer(cluster.url, folder)
  onCleanup(() => server.kill('SIGKILL'))
  const proxy = await cuttingProxy(SERVER_PORT, PROXY_PORT)
  onCleanup(() => proxy.close())

  const database = new TeamDatabase(cluster.url, { connections: 2 })
  onCleanup(() => database.close())
  const devices: Device[] = []
  for (let device = 0; device < DEVICES; device++) devices.push(await addDevice(database, device))
  const random = seededRandom(Number(process.env['FUMI_SEED']) || 7)
  const isOver = { value: false }
  const faults = new Map<string, number>()
  const note = (what: string): void => void faults.set(what, (faults.get(what) ?? 0) + 1)
  const pushers = new Set<ChildProcess>()
  let highest = 0
  const faultLoop = (async () => {
    while (!isOver.value) {
      await pause(FAULT_EVERY_MS)
      // A full disk may end it later.
      cluster = await startDatabase()
      const kind = random()
      highest = Math.max(highest, peakMemoryOf(server.pid))
      if (kind < 0.3) {
        note('cut')
        proxy.cut()
      } else if (kind < 0.5) {
        note('server killed')
        await killServer(server)
        server = await startServer(cluster.url, folder)
      } else if (kind < 0.65) {
        note('database killed')
        killProcess(cluster.pid)
        await pause(300)
        cluster = await startDatabase()
      } else if (kind < 0.85) {
        for (const one of pushers) if (one.kill('SIGKILL')) note('device killed')
      } else if (disk !== undefined) {
        note('disk full')
        fillDisk(disk)
        await pause(FULL_DISK_MS)
        rmSync(join(disk, 'filler'))
        // Without room for its log, the database may have ended.
        cluster = await startDatabase()
      }
    }
  })()
  const answers = { searches: 0, hits: 0, recalls: 0, passages: 0, slowest: 0, unanswered: 0 }
  const refusals: string[] = []
  const readers = Array.from({ length: READERS }, async (_, reader) => {
    const { client, cookie } = devices[reader % devices.length] ?? devices[0] ?? raise('no device')
    while (!isOver.value) {
      const topic = `topic${Math.floor(random() * ROUNDS * TURNS_PER_ROUND)}`
      const start = performance.now()
      try {
        if (random() < 0.5) {
          answers.passages += (await client.get<readonly object[]>(`/recall?q=${topic}`)).length
          answers.recalls++
        } else {
          const response = await fetch(`${PROXY_URL}api/search?q=${topic}`, { headers: { cookie } })
          const text = await response.text()
          if (response.ok) {
            answers.hits += (JSON.parse(text) as { data: readonly object[] }).data.length
            answers.searches++
          } else if (response.status < 500) refusals.push(text)
          else answers.unanswered++
        }
        answers.slowest = Math.max(answers.slowest, performance.now() - start)
      } catch (error) {
        if (error instanceof TeamRefusal) refusals.push(error.message)
        answers.unanswered++
      }
      await pause(READER_MS)
    }
  })
  const begun = performance.now()
  for (let round = 1; round <= ROUNDS; round++)
    await inParallel(8, devices, async (one) => {
      if (round > 1 && performance.now() - begun > MILLISECONDS) return
      one.turns = round * TURNS_PER_ROUND
      // A device that cannot reach the server gives up, and comes back in the next round.
      await withApp(one, async (app) => {
        if (one.device % OWN_PROCESS_EVERY === 0) await pushInOwnProcess(one.folder, app.directory, pushers)
        else await pushSessions(app, one.client).catch(() => {})
      })
    })
  isOver.value = true
  await Promise.all([faultLoop, ...readers])
  let records = 0
  await inParallel(8, devices, async (one) => {
    await withApp(one, async (app) => {
      await retry(() => pushSessions(app, one.client))
      records += app.session(`codex:${threadOf(one.device)}` as SessionId)?.lines ?? 0
    })
  })
  expect(refusals).toEqual([])
  expect(endedByItself).toEqual([])
  expect(answers.searches === 0 || answers.hits > 0).toBe(true)

  const check = new TeamDatabase(cluster.url, { connections: 1 })
  onCleanup(() => check.close())
  const sums = await check.asServer((db) =>
    db.first<{ sessions: number; tokens: number; usage: number; stored: number; messages: number; doubles: number }>(
      `SELECT (SELECT count(*) FROM session WHERE is_complete) AS sessions, (SELECT sum(total_tokens) FROM session)::bigint AS tokens,
         (SELECT sum(total_tokens) FROM usage)::bigint AS usage, (SELECT sum(stored) FROM session)::bigint AS stored,
         (SELECT count(*) FROM message) AS messages,
         (SELECT count(*) FROM (SELECT 1 FROM message GROUP BY session_key, seq HAVING count(*) > 1) d) AS doubles`,
    ),
  )
  const turns = devices.reduce((sum, one) => sum + one.turns, 0)
  expect(sums).toEqual({
    sessions: DEVICES,
    tokens: turns * 110,
    usage: turns * 110,
    stored: records,
    messages: records,
    doubles: 0,
  })
  highest = Math.max(highest, peakMemoryOf(server.pid))
  expect(highest).toBeLessThan(MAX_SERVER_BYTES)
  const list = Array.from(faults, ([what, count]) => `${count} × ${what}`).join(', ')
  const seconds = Math.round((performance.now() - begun) / 1000)
  console.log(
    `${DEVICES} devices, ${turns} turns with ${records} messages in ${seconds} s; ${list}${disk === undefined ? '; no full disk: it needs the right to mount one' : ''}; ${READERS} readers: ${Object.entries(
      answers,
    )
      .map(([name, count]) => `${name} ${Math.round(count)}`)
      .join(', ')}; the server had at most ${Math.round(highest / 1e6)} MB`,
  )
})

interface Device {
  readonly device: number
  readonly folder: string
  readonly client: TeamClient
  /** Of its browser. */
  readonly cookie: string
  /** In its log. */
  turns: number
}

async function addDevice(database: TeamDatabase, device: number): Promise<Device> {
  const keys = createDeviceKeys()
  const code = await invite(database, { name: `d${device}` }, undefined)
  // Over the network one address may enrol only a few devices a minute.
  const joined = await enrol(database, { code, device: 'd', public_key: keys.publicKey })
  if (joined.kind !== 'done') throw new Error(joined.kind)
  const { team, person, device: id } = joined.value
  const membership = { url: PROXY_URL, team, person: person.name, device: id, privateKey: keys.privateKey }
  const { folder, app } = testHome()
  saveMembership(app.directory, membership)
  saveConsent(app.directory, {
    projects: new Map([['/w/soak', { shared: 'team', people: [] }]]),
    sessions: new Map(),
  })
  app.close()
  const signedIn = await signIn(database, await createSignInCode(database, { ...person, email: null }))
  if (signedIn.kind !== 'done') throw new Error(signedIn.kind)
  const cookie = `${cookieNameAt(SERVER_PORT)}=${signedIn.value.cookie}`
  return { device, folder, cookie, turns: 0, client: new TeamClient(membership, { tries: 3 }) }
}

/** Writes the log of a device and indexes it. Few are open at once: five hundred of them would not fit into memory. */
async function withApp({ device, folder, turns }: Device, work: (app: App) => Promise<void>): Promise<void> {
  const home = testHome({}, folder)
  try {
    home.write(rollout(threadOf(device)), log(device, turns))
    await home.app.sync()
    await work(home.app)
  } finally {
    home.app.close()
  }
}

/** A disk of its own in memory. Undefined if this user may not mount one. */
function mountDisk(folder: string): string | undefined {
  mkdirSync(folder)
  const made = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES},mode=755`, 'fumi-soak', folder])
  if (made.status !== 0) return undefined
  onCleanup(() => spawnSync('umount', ['-l', folder]))
  return folder
}

function fillDisk(disk: string): void {
  const file = openSync(join(disk, 'filler'), 'w')
  try {
    for (const part = Buffer.alloc(16_000_000); ; ) writeSync(file, part)
  } catch {
    // As full as it gets.
  } finally {
    closeSync(file)
  }
}

/** Bytes that a process had at most. 0 where the system does not tell. */
function peakMemoryOf(pid: number | undefined): number {
  try {
    const [, kilobytes = '0'] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) * 1024
  } catch {
    return 0
  }
}

/** As `fumi team push` of a user, who may close the laptop at any time. */
async function pushInOwnProcess(home: string, directory: string, running: Set<ChildProcess>): Promise<void> {
  const child = spawn(process.execPath, [fumiPath, 'team', 'push'], {
    env: { ...process.env, HOME: home, FUMI_HOME: directory },
    stdio: 'ignore',
  })
  running.add(child)
  await new Promise<void>((done) => child.once('exit', () => done()))
  running.delete(child)
}

/** What servers said that ended without being killed. */
const endedByItself: string[] = []

async function startServer(url: string, folder: string): Promise<ChildProcess> {
  for (;;) {
    const child = spawn(
      process.execPath,
      [fumiPath, 'team', 'serve', '--database', url, '--port', `${SERVER_PORT}`, '--url', PROXY_URL, '--json'],
      {
        env: { ...process.env, FUMI_HOME: join(folder, 'server') },
        stdio: ['ignore', 'pipe', openSync(join(folder, 'server.log'), 'a')],
      },
    )
    const isUp = await new Promise<boolean>((resolve) => {
      child.stdout?.once('data', () => resolve(true))
      child.once('exit', () => resolve(false))
    })
    if (isUp) {
      child.once('exit', (code) => {
        if (code !== null) endedByItself.push(readFileSync(join(folder, 'server.log'), 'utf8').slice(-2000))
      })
      return child
    }
    await pause(200)
  }
}

/** Passes bytes on, until all connections are cut. */
async function cuttingProxy(to: number, port: number) {
  const open = new Set<{ destroy(): void }>()
  const proxy = createServer((client) => {
    const upstream = connect(to, '127.0.0.1')
    for (const one of [client, upstream]) {
      open.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        open.delete(one)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>((done) => proxy.listen(port, '127.0.0.1', done))
  return {
    cut: () => {
      for (const one of open) one.destroy()
    },
    close: () => proxy.close(),
  }
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has just ended by itself.
  }
}

async function killServer(server: ChildProcess): Promise<void> {
  const isGone = new Promise((done) => server.once('exit', done))
  server.kill('SIGKILL')
  await isGone
}

const raise = (what: string): never => {
  throw new Error(what)
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

async function retry<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await work()
    } catch (error) {
      if (tries >= 50) throw error
      await pause(500)
    }
}

async function inParallel<T>(lanes: number, items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let next = waiting.pop(); next; next = waiting.pop()) await work(next)
    }),
  )
}

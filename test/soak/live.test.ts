/** A log grows for minutes while pages are open: memory of server and page does not grow with time. `npm run soak`. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { type CDPSession, chromium } from 'playwright-core'
import { expect, test } from 'vitest'
import { CHROMIUM_FLAGS, chromiumPath } from '../support/chromium.ts'
import { assistant, call, header, result, tempFolder, text, user } from '../support/codex-log.ts'
import { fumiPath } from '../support/run-fumi.ts'
import { rollout } from '../support/test-home.ts'

const MINUTES = Number(process.env['FUMI_SOAK_MINUTES'] ?? 10)
const THREAD = '019c0000-0000-7000-8000-00000000000f'
const ID = encodeURIComponent(`codex:${THREAD}`)
/** Milliseconds between two turns. */
const EVERY = 250
/** Megabytes per turn that may stay: sums in the server, the outline in the page. */
const SERVER_MOST = 0.006
const PAGE_MOST = 0.006
/** Megabytes by which the server's caches fill, and its buffers that are not yet collected differ, from one moment to another. */
const SERVER_NOISE = 4
/** In megabytes. Allows for garbage, and memory that the system has not reclaimed. */
const RESIDENT_MOST = 80

/** On a signal, the program collects garbage and prints its memory. */
const REPORTER = `process.on('SIGUSR2', () => {
  gc()
  // What was garbage goes back to the system a little later.
  setTimeout(() => {
    gc()
    const { heapUsed, external, rss } = process.memoryUsage()
    console.log('memory ' + JSON.stringify([heapUsed + external, rss]))
  }, 3000)
})`

type Program = ChildProcessByStdio<null, Readable, null>

interface Memory {
  /** Megabytes. */
  readonly heap: number
  /** Without mapped pages of the index, which the system can reclaim. */
  readonly resident: number
}

const turn = (n: number): string =>
  text([
    user(n, `Question ${n}: what has the gauge?`),
    call(n, `c${n}`, { command: ['cat', `gauge-${n}`] }),
    result(n, `c${n}`, `${n} bar\n`.repeat(40)),
    assistant(n, `It has **${n}** bar.\n\n- read once\n- and once more`),
  ])

async function reported(program: Program, pattern: RegExp): Promise<string> {
  for (let all = ''; ; ) {
    const [piece] = await once(program.stdout, 'data')
    all += String(piece)
    const found = pattern.exec(all)?.[1]
    if (found !== undefined) return found
  }
}

async function memoryOf(program: Program): Promise<Memory> {
  const line = reported(program, /memory (\[.*\])\n/)
  program.kill('SIGUSR2')
  const [heap, resident] = JSON.parse(await line) as [number, number]
  return { heap: heap / 1e6, resident: ownOf(program.pid ?? 0) ?? resident / 1e6 }
}

function ownOf(pid: number): number | undefined {
  const status = `/proc/${pid}/status`
  const kilobytes = existsSync(status) && /^RssAnon:\s*(\d+) kB$/m.exec(readFileSync(status, 'utf8'))?.[1]
  return kilobytes ? (Number(kilobytes) * 1024) / 1e6 : undefined
}

async function pageMemory(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  const { metrics } = await session.send('Performance.getMetrics')
  return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / 1e6
}

test(`memory is flat over ${MINUTES} minutes of a log that grows`, async ({ annotate }) => {
  const folder = tempFolder()
  const log = join(folder, rollout(THREAD))
  mkdirSync(dirname(log), { recursive: true })
  writeFileSync(log, text([header({ id: THREAD })]))
  let turns = 0
  for (; turns < 500; turns++) appendFileSync(log, turn(turns))
  const program: Program = spawn(
    process.execPath,
    [
      ...['--expose-gc', '--import', `data:text/javascript,${encodeURIComponent(REPORTER)}`],
      ...[fumiPath, 'serve', '--no-open', '--no-auth', '--port', '0'],
    ],
    {
      env: { ...process.env, HOME: folder, CODEX_HOME: join(folder, '.codex'), FUMI_HOME: join(folder, 'fumi') },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const url = await reported(program, /(http:\S+)[\s\S]*Ctrl\+C/)
  const browser = chromiumPath
    ? await chromium.launch({ executablePath: chromiumPath, args: [...CHROMIUM_FLAGS] })
    : undefined
  const page = await browser?.newPage()
  await page?.goto(`${url}session?id=${ID}`)
  await page?.locator('article').first().waitFor()
  await page?.keyboard.press('G')
  await page?.keyboard.press('.')
  const session = page && (await page.context().newCDPSession(page))
  await session?.send('Performance.enable')

  let changes = 0
  const gone = new AbortController()
  const live = await fetch(`${url}api/live`, { signal: gone.signal })
  const listening = (async () => {
    for await (const piece of live.body ?? []) changes += String(Buffer.from(piece)).split('event: change').length - 1
  })().catch(() => undefined)

  const ask = async (path: string): Promise<void> => {
    const response = await fetch(`${url}api/sessions/${ID}/${path}`)
    expect(response.status).toBe(200)
    await response.arrayBuffer()
  }
  const measured = async () => ({ ...(await memoryOf(program)), page: session ? await pageMemory(session) : 0 })
  const grow = async (milliseconds: number): Promise<void> => {
    for (const end = Date.now() + milliseconds; Date.now() < end; turns++) {
      appendFileSync(log, turn(turns))
      if (turns % 4 === 0) await ask(`messages?offset=${(turns * 37) % (turns * 4)}&limit=50`)
      if (turns % 20 === 0) await ask('messages?before=end&limit=100')
      await new Promise((done) => setTimeout(done, EVERY))
    }
  }
  const all = MINUTES * 60_000
  await grow(all * 0.25)
  const before = await measured()
  const earlier = turns
  await grow(all * 0.75)
  const after = await measured()
  const words = (memory: typeof before): string =>
    Object.entries(memory)
      .map(([name, megabytes]) => `${name} ${megabytes.toFixed(1)} MB`)
      .join(', ')
  await annotate(
    `${turns} turns, ${changes} changes told. After a quarter: ${words(before)}. At the end: ${words(after)}.`,
  )
  await page
    ?.getByText(`Question ${turns - 1}:`)
    .first()
    .waitFor()
  gone.abort()
  await listening
  await browser?.close()
  program.kill('SIGTERM')
  await once(program, 'exit')
  expect(changes).toBeGreaterThan(MINUTES * 30)
  expect(after.heap - before.heap).toBeLessThan((turns - earlier) * SERVER_MOST + SERVER_NOISE)
  expect(after.page - before.page).toBeLessThan((turns - earlier) * PAGE_MOST)
  expect(after.resident - before.resident).toBeLessThan(RESIDENT_MOST)
})

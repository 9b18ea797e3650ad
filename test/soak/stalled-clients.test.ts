/**
 * Many clients of the live stream, half of which never read, while logs grow: memory of the server stays constant. `npm
 * run soak`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { assistant, header, tempFolder, text } from '../support/codex-log.ts'
import { fumiPath } from '../support/run-fumi.ts'
import { rollout } from '../support/test-home.ts'

const CLIENTS = 300
const SECONDS = Number(process.env['FUMI_SOAK_STALLED_SECONDS'] ?? 120)
const SESSIONS = 20
/** Bytes per event and client that may remain; a leaked promise takes a hundred. */
const LEFT_BEHIND = 20

/** On a signal, the program collects garbage and prints its memory. */
const REPORTER = `process.on('SIGUSR2', () => { gc(); gc(); console.log('heap ' + process.memoryUsage().heapUsed + ';') })`

async function reported(program: ChildProcess, pattern: RegExp): Promise<string> {
  if (!program.stdout) throw new Error('its output is not read')
  for (let all = ''; ; ) {
    const [piece] = await once(program.stdout, 'data')
    all += String(piece)
    const found = pattern.exec(all)?.[1]
    if (found !== undefined) return found
  }
}

async function heapOf(program: ChildProcess): Promise<number> {
  const line = reported(program, /heap (\d+);/)
  program.kill('SIGUSR2')
  return Number(await line)
}

test(`${CLIENTS} clients for ${SECONDS} seconds while half of them never read`, async ({ annotate }) => {
  const folder = tempFolder()
  const logs = Array.from({ length: SESSIONS }, (_, n) => {
    const id = `019c0000-0000-7000-8000-${String(n).padStart(12, '0')}`
    const path = join(folder, rollout(id))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text([header({ id })]))
    return path
  })
  const program = spawn(
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
  const url = new URL(await reported(program, /(http:\S+)[\s\S]*Ctrl\+C/))
  let events = 0
  const sockets: Socket[] = []
  for (let n = 0; n < CLIENTS; n++) {
    const socket = connect(Number(url.port), '127.0.0.1')
    socket.on('error', () => {})
    if (n % 2 === 0) socket.pause()
    else if (n > 1) socket.resume()
    else
      socket.on('data', (piece) => {
        events += String(piece).split('event: ').length - 1
      })
    socket.write(`GET /api/live HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`)
    sockets.push(socket)
  }
  const grow = async (milliseconds: number): Promise<void> => {
    for (const end = Date.now() + milliseconds; Date.now() < end; ) {
      for (const log of logs) appendFileSync(log, text([assistant(1, 'one more word')]))
      await new Promise((done) => setTimeout(done, 50))
    }
  }
  await grow(SECONDS * 250)
  const [before, earlier] = [await heapOf(program), events]
  await grow(SECONDS * 750)
  const [after, later] = [await heapOf(program), events]
  await annotate(`heap ${before / 1e6} to ${after / 1e6} MB while ${later - earlier} events were told to each client`)
  for (const socket of sockets) socket.destroy()
  program.kill('SIGTERM')
  await once(program, 'exit')
  expect(later - earlier).toBeGreaterThan(100)
  expect(after - before).toBeLessThan(4_000_000 + (later - earlier) * CLIENTS * LEFT_BEHIND)
})

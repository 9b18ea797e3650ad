/** Changes the clock while the program runs: nothing hangs, nothing is lost, no client is locked out. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Stopwatch } from '../../src/chat/turn/answer.ts'
import { createTempFolder } from '../../src/lib/files/temp-files.ts'
import { systemClock } from '../../src/openai/chat/transport.ts'
import { createRateBucket } from '../../src/server/guard/check-request.ts'
import { rotateToken, TokenFile } from '../../src/server/guard/sign-in.ts'
import { PreviewTickets } from '../../src/server/routes/convert.ts'
import { chatHome, fumiChat } from '../chat/support/fumi-chat.ts'
import { tempFolder } from '../support/codex-log.ts'
import { machine } from '../support/machine.ts'
import { answer, calls } from '../support/model-chunks.ts'
import { chatServer } from '../support/model-server.ts'
import { fumi } from '../support/run-fumi.ts'

const HOUR = 3_600_000
const YEAR = 365 * 24 * HOUR
/** Changes only the time of day; timers continue. */
const setClock = (by: number): void => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + by })
afterEach(() => void vi.useRealTimers())

describe.each([
  ['back', -HOUR],
  ['forward', HOUR],
])('set %s by an hour', (_, by) => {
  test('folders that this process uses stay', () => {
    const before = createTempFolder('clock')
    setClock(by)
    const after = createTempFolder('clock')
    expect([existsSync(before.path), existsSync(after.path)]).toEqual([true, true])
    setClock(-2 * by)
    createTempFolder('clock').remove()
    expect([existsSync(before.path), existsSync(after.path)]).toEqual([true, true])
    before.remove()
    after.remove()
  })

  test('a replaced token is noticed soon', async () => {
    const folder = tempFolder()
    const service = new TokenFile(folder)
    const old = service.token
    setClock(by)
    const next = rotateToken(folder)
    await expect.poll(() => service.token).toBe(next)
    expect(service.accepts(old)).toBe(false)
  })

  test('a shown preview can be executed', () => {
    const tickets = new PreviewTickets<string>()
    const ticket = tickets.issue('to do')
    setClock(by)
    expect([tickets.take(ticket), tickets.take(ticket)]).toEqual(['to do', undefined])
  })

  test('a request never ends before it began', () => {
    const watch = new Stopwatch(systemClock.now, 1)
    setClock(by)
    watch.piece('a')
    const assistant = { Response: { message_id: 'm', content: 'a' } }
    const measured = watch.metadata({ assistant, requestId: null, model: 'm', tags: [] })
    expect(Number(measured.stream_end_timestamp_ms)).toBeGreaterThanOrEqual(Number(measured.request_start_timestamp_ms))
    expect(Number(measured.time_to_first_chunk?.secs)).toBeGreaterThanOrEqual(0)
  })
})

test('a client is not locked out by a clock that goes back', () => {
  let now = 10 * HOUR
  const requests = createRateBucket({ burst: 2, perSecond: 1 }, () => now)
  expect([requests.take('a'), requests.take('a'), requests.take('a')]).toEqual([true, true, false])
  now -= HOUR
  expect(requests.take('a')).toBe(false)
  now += 2000
  expect(requests.take('a')).toBe(true)
})

/** A program whose clock jumps after every few reads. */
function jumping(by: number): NodeJS.ProcessEnv {
  const path = join(tempFolder(), 'jumping.mjs')
  const script = `
    const now = Date.now
    let looks = 0
    Date.now = () => now() + Math.floor(++looks / 5) * ${by} % ${5 * YEAR}
    globalThis.Date = new Proxy(Date, { construct: (target, args, type) => Reflect.construct(target, args.length ? args : [target.now()], type) })`
  writeFileSync(path, script)
  return { NODE_OPTIONS: `--import ${path}` }
}

describe.each([
  ['back', -YEAR],
  ['forward', YEAR],
])('a program whose clock jumps %s by a year, again and again', (_, by) => {
  test('reads all logs, and once', () => {
    const { home, json } = machine()
    const env = {
      HOME: home,
      FUMI_HOME: join(home, 'fumi'),
      CODEX_HOME: join(home, 'codex'),
      XDG_DATA_HOME: join(home, 'data'),
    }
    const synced = [1, 2].map(() => {
      const { code, out } = fumi(['sync', '--json'], { env: { ...env, ...jumping(by) } })
      expect(code).toBe(0)
      return JSON.parse(out)
    })
    expect(synced).toMatchObject([{ scanned: 2 }, { scanned: 0 }])
    const ids = json('list').sessions.map(({ id }: { id: string }) => id)
    expect(ids).toHaveLength(2)
    const searched = fumi(['search', 'Task', '--json'], { env: { ...env, ...jumping(by) } })
    expect([searched.code, JSON.parse(searched.out).total]).toEqual([0, 2])
  })

  test('runs a chat and resumes it', async () => {
    const home = chatHome()
    const server = await chatServer(
      calls([{ name: 'execute_bash', args: { command: 'echo done' } }]),
      answer('First.'),
      answer('Second.'),
    )
    const args = ['--base-url', server.baseURL, '--model', 'm', '--trust-all-tools', '--no-interactive']
    const first = await fumiChat([...args, 'One'], home, '', undefined, jumping(by))
    expect([first.code, first.out]).toEqual([0, 'First.\n'])
    const second = await fumiChat([...args, '--resume', 'Two more'], home, '', undefined, jumping(by))
    expect([second.code, second.out, second.err]).toEqual([0, 'Second.\n', ''])
    const sent = JSON.stringify(server.asked.at(-1)?.body.messages)
    for (const text of ['One', 'done', 'First.', 'Two more']) expect(sent).toContain(text)
    const folder = join(home.home, 'conversations')
    const journals = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
    expect(journals).toHaveLength(1)
    const lines = readFileSync(join(folder, journals[0] ?? ''), 'utf8')
      .trimEnd()
      .split('\n')
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow()
    const shown = fumi(['show', `fumibako:${journals[0]?.replace('.jsonl', '')}`], {
      env: { HOME: home.home, FUMI_HOME: home.home },
    })
    expect([shown.code, shown.out]).toEqual([0, expect.stringMatching(/One[\s\S]*First\.[\s\S]*Two[\s\S]*Second\./)])
  })
})

/**
 * However `fumi` ends, everything that a chat started ends too: commands, hooks, MCP servers, and their child
 * processes.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isThorough } from '../../support/extent.ts'
import { calls } from '../../support/model-chunks.ts'
import { chatServer, silence } from '../../support/model-server.ts'
import { fumiPath } from '../../support/run-fumi.ts'
import { type ChatHome, chatHome } from '../support/fumi-chat.ts'
import { findProcesses, hasBubblewrap, hasProc, uniqueSleep } from './find-processes.ts'

const TOOLS_SERVER = join(import.meta.dirname, '../mcp/tools-server.mjs')
/** Reached only by a process that never ends. */
const PATIENCE = { timeout: 120_000, interval: 100 }
const SIGNALS = ['SIGHUP', 'SIGTERM', 'SIGINT', 'SIGKILL'] as const

/** Every signal without a sandbox; in one, the signal that cannot be handled, and all of them in the soak. */
const chosen = <T extends readonly [string, ...unknown[]]>(option: string, ...all: readonly T[]): readonly T[] =>
  isThorough || option === '--no-sandbox' ? all : all.filter(([signal]) => signal === 'SIGKILL')

/** A command with a child process; both have the word in their command lines. */
const sleeps = (word: string): string => `sleep ${word} & sleep ${word}`
const bash = (command: string) => calls([{ name: 'execute_bash', args: { command } }])

function started(args: readonly string[], { home, cwd }: ChatHome, more: NodeJS.ProcessEnv = {}): ChildProcess {
  const env = { ...process.env, NO_COLOR: '1', FUMI_HOME: home, HOME: home, OPENAI_API_KEY: '', ...more }
  const child = spawn(process.execPath, [fumiPath, ...args], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stdout.resume()
  child.stderr.resume()
  return child
}

/** Kills leftover processes even if the test fails. */
function word(): string {
  const unique = uniqueSleep()
  onTestFinished(() => {
    for (const pid of findProcesses(unique))
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // The process has ended in the meantime.
      }
  })
  return unique
}

const appears = (unique: string, count = 1) =>
  expect.poll(() => findProcesses(unique).length, PATIENCE).toBeGreaterThanOrEqual(count)
const isGone = (unique: string) => expect.poll(() => findProcesses(unique), PATIENCE).toEqual([])

/** The exit code, as a shell reports it. */
async function exitOf(child: ChildProcess): Promise<number> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return code ?? 128 + { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[signal as 'SIGHUP']
}

const CHAT = ['chat', '--model', 'm', '--trust-all-tools']
const sandboxes = [
  { mode: 'no sandbox', option: '--no-sandbox', isHere: true },
  { mode: 'a sandbox', option: '--sandbox', isHere: hasBubblewrap() },
]

describe.skipIf(!hasProc()).each(sandboxes)('a command in $mode', ({ option, isHere }) => {
  test
    .skipIf(!isHere)
    .each(
      chosen<readonly [NodeJS.Signals, number | null]>(
        option,
        ['SIGHUP', 129],
        ['SIGTERM', 130],
        ['SIGINT', 130],
        ['SIGKILL', 137],
      ),
    )('dies with --no-interactive on %s', async (signal, code) => {
    const unique = word()
    const server = await chatServer(bash(sleeps(unique)))
    const child = started([...CHAT, option, '--base-url', server.baseURL, '--no-interactive', 'Go'], chatHome())
    child.stdin?.end()
    await appears(unique, 2)
    const exit = exitOf(child)
    child.kill(signal)
    await isGone(unique)
    expect(await exit).toBe(code)
  })

  test
    .skipIf(!isHere)
    .each(
      chosen<readonly [NodeJS.Signals, number | null]>(
        option,
        ['SIGHUP', 129],
        ['SIGTERM', 143],
        ['SIGINT', null],
        ['SIGKILL', 137],
      ),
    )('dies with an interactive chat on %s', async (signal, code) => {
    const unique = word()
    const server = await chatServer(bash(sleeps(unique)))
    const child = started([...CHAT, option, '--base-url', server.baseURL], chatHome())
    child.stdin?.write('Go\n')
    await appears(unique, 2)
    const exit = exitOf(child)
    child.kill(signal)
    await isGone(unique)
    // SIGINT only ends the command; the chat continues.
    if (code !== null) expect(await exit).toBe(code)
  })

  test
    .skipIf(!isHere)
    .each(
      chosen<readonly [NodeJS.Signals, number | null]>(
        option,
        ['SIGHUP', 129],
        ['SIGTERM', 0],
        ['SIGINT', 0],
        ['SIGKILL', 137],
      ),
    )('dies with the server on %s', async (signal, code) => {
    const unique = word()
    const server = await chatServer(bash(sleeps(unique)))
    const place = chatHome()
    const child = await serving(place, server.baseURL, option === '--sandbox' ? 'on' : 'off')
    const { id } = (await child.post('/api/chat', {})) as { id: string }
    await child.post(`/api/chat/${id}/say`, { text: '/tools trust execute_bash' })
    await expect.poll(() => child.post(`/api/chat/${id}/say`, { text: 'Go' }), PATIENCE).not.toBe(undefined)
    await appears(unique, 2)
    const exit = exitOf(child.process)
    child.process.kill(signal)
    await isGone(unique)
    expect(await exit).toBe(code)
  })
})

test.skipIf(!hasProc() || !hasBubblewrap())('a sandbox that is still starting dies too', async () => {
  for (let time = 0; time < (isThorough ? 5 : 2); time++) {
    const unique = word()
    const server = await chatServer(bash(sleeps(unique)))
    const args = [...CHAT, '--sandbox', '--base-url', server.baseURL, '--no-interactive', 'Go']
    const child = started(args, chatHome())
    child.stdin?.end()
    // Waits for the first process: the gate, bubblewrap, its first child, or the command.
    await expect.poll(() => findProcesses(unique).length, { ...PATIENCE, interval: 1 + time * 9 }).toBeGreaterThan(0)
    child.kill('SIGKILL')
    await isGone(unique)
  }
})

describe.skipIf(!hasProc())('without a sandbox', () => {
  test('what a command left in the background dies with the program too', async () => {
    const unique = word()
    const server = await chatServer(bash(`sleep ${unique} >/dev/null 2>&1 & echo left`), silence())
    const child = started([...CHAT, '--no-sandbox', '--base-url', server.baseURL], chatHome())
    child.stdin?.write('Go\n')
    // The result was sent, so the command itself has ended.
    await expect.poll(() => server.asked.length, PATIENCE).toBe(2)
    expect(findProcesses(unique)).not.toEqual([])
    child.kill('SIGKILL')
    await isGone(unique)
  })

  test('a bug that ends the program ends them', async () => {
    const unique = word()
    const server = await chatServer(bash(sleeps(unique)))
    const place = chatHome()
    const bug = join(place.cwd, 'bug.mjs')
    writeFileSync(bug, "process.on('SIGUSR2', () => { throw new Error('a bug') })")
    const options = { NODE_OPTIONS: `--import ${bug}` }
    const args = [...CHAT, '--no-sandbox', '--base-url', server.baseURL, '--no-interactive', 'Go']
    const child = started(args, place, options)
    child.stdin?.end()
    await appears(unique, 2)
    child.kill('SIGUSR2')
    await isGone(unique)
  })
})

describe.skipIf(!hasProc())('an agent', () => {
  test.each(isThorough ? SIGNALS : (['SIGTERM', 'SIGKILL'] as const))(
    'its hook and its MCP server, with what they started, die on %s',
    async (signal) => {
      const [hook, grandchild, server] = [word(), word(), word()]
      const model = await chatServer(silence())
      const place = chatHome()
      mkdirSync(join(place.home, 'agents'), { recursive: true })
      const script = `sleep ${grandchild} & exec '${process.execPath}' '${TOOLS_SERVER}' ${server}`
      const agent = {
        name: 'mine',
        tools: ['*'],
        hooks: { userPromptSubmit: [{ command: sleeps(hook), timeout_ms: 600_000 }] },
        mcpServers: { one: { command: 'sh', args: ['-c', script] } },
      }
      writeFileSync(join(place.home, 'agents', 'mine.json'), JSON.stringify(agent))
      const child = started([...CHAT, '--agent', 'mine', '--base-url', model.baseURL, '--no-interactive', 'Go'], place)
      child.stdin?.end()
      await Promise.all([appears(hook, 2), appears(grandchild), appears(server)])
      child.kill(signal)
      await Promise.all([isGone(hook), isGone(grandchild), isGone(server)])
    },
  )
})

/** `fumi serve` with a model and without a token. */
async function serving(place: ChatHome, url: string, sandbox: string) {
  mkdirSync(place.home, { recursive: true })
  const config = { profile: 'here', profiles: { here: { url, model: 'm' } }, chat: { sandbox } }
  writeFileSync(join(place.home, 'config.json'), JSON.stringify(config))
  const child = started(['serve', '--port', '0', '--no-open', '--no-auth'], place)
  let out = ''
  child.stdout?.on('data', (piece) => {
    out += piece
  })
  await expect.poll(() => /http:\/\/\S+/.exec(out)?.[0], PATIENCE).not.toBe(undefined)
  const base = /http:\/\/\S+/.exec(out)?.[0] ?? ''
  const post = async (path: string, body: object): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(new URL(path, base), { method: 'POST', headers, body: JSON.stringify(body) })
    return response.ok ? (((await response.json()) as { data?: unknown }).data ?? null) : undefined
  }
  return { process: child, post }
}

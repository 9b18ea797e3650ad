/** Hooks in a real shell. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseAgentFile } from '../../src/chat/agent-file/agent-file.ts'
import { AgentHooks } from '../../src/chat/hooks.ts'
import { tempFolder } from '../support/codex-log.ts'

const signal = new AbortController().signal
const tool = { name: 'fs_write', hostName: 'fs_write', origin: 'native___' }

function hooksOf(hooks: object) {
  const read = parseAgentFile(JSON.stringify({ name: 'a', hooks }))
  if (!read.ok) throw new Error(JSON.stringify(read.faults))
  const cwd = tempFolder()
  let time = 0
  return {
    hooks: new AgentHooks(read.value.hooks, { cwd, now: () => time }),
    cwd,
    later: (ms: number) => {
      time += ms
    },
    counted: () => readFileSync(join(cwd, 'count'), 'utf8').length,
  }
}
const COUNT = 'printf x >> count; echo ok'

describe.skipIf(process.platform === 'win32')('hooks', () => {
  test('receive the event, and their output is the result', async () => {
    const { hooks, cwd } = hooksOf({ userPromptSubmit: [{ command: 'cat; printf "|%s" "$USER_PROMPT"; pwd' }] })
    const { results, faults } = await hooks.run({ trigger: 'userPromptSubmit', prompt: 'a\u0007b\nc' }, signal)
    const [result] = results
    expect(faults).toEqual([])
    expect(result).toMatchObject({ trigger: 'userPromptSubmit', exitCode: 0 })
    const [json = '', rest] = result?.output.split('|') ?? []
    expect(JSON.parse(json)).toEqual({ hook_event_name: 'userPromptSubmit', cwd, prompt: 'a\u0007b\nc' })
    expect(rest).toBe(`ab\nc${cwd}\n`)
  })

  test('run in parallel, return in order, and report errors', async () => {
    const { hooks } = hooksOf({
      stop: [
        { command: 'until [ -e go ]; do sleep 0.02; done; echo first' },
        { command: 'touch go; echo no >&2; exit 3' },
      ],
    })
    expect((await hooks.run({ trigger: 'stop' }, signal)).results).toEqual([
      { trigger: 'stop', exitCode: 0, output: 'first\n' },
      { trigger: 'stop', exitCode: 3, output: 'no\n' },
    ])
  })

  test('have a time limit and a length limit', async () => {
    const { hooks } = hooksOf({
      agentSpawn: [
        { command: 'sleep 1000', timeout_ms: 50 },
        { command: 'printf 会話会話', max_output_size: 7 },
      ],
    })
    const { results, faults } = await hooks.run({ trigger: 'agentSpawn' }, signal)
    expect(results).toEqual([{ trigger: 'agentSpawn', exitCode: 0, output: '会話 ... truncated' }])
    expect(faults).toMatchObject([{ en: 'Hook sleep 1000 timed out after 50 ms.' }])
  })

  test('start hooks run once, others each time', async () => {
    const start = hooksOf({ agentSpawn: [{ command: COUNT }] })
    for (let i = 0; i < 3; i++) await start.hooks.run({ trigger: 'agentSpawn' }, signal)
    expect(start.counted()).toBe(1)
    start.hooks.forget()
    await start.hooks.run({ trigger: 'agentSpawn' }, signal)
    expect(start.counted()).toBe(2)
    const prompt = hooksOf({ userPromptSubmit: [{ command: COUNT, cache_ttl_seconds: 10 }] })
    for (const ms of [0, 9000, 2000]) {
      prompt.later(ms)
      await prompt.hooks.run({ trigger: 'userPromptSubmit', prompt: 'x' }, signal)
    }
    expect(prompt.counted()).toBe(2)
    const always = hooksOf({ stop: [{ command: COUNT }] })
    for (let i = 0; i < 2; i++) await always.hooks.run({ trigger: 'stop' }, signal)
    expect(always.counted()).toBe(2)
  })

  test('exit code 2 before a tool blocks it, any other does not', async () => {
    const { hooks } = hooksOf({
      preToolUse: [
        { command: 'exit 1' },
        { command: 'grep -q secret && { echo not that >&2; exit 2; }; true', matcher: 'fs_*' },
        { command: 'exit 2', matcher: '@git' },
      ],
    })
    const ask = (path: string) => hooks.run({ trigger: 'preToolUse', tool, input: { path } }, signal)
    expect((await ask('open')).blocked).toBeUndefined()
    expect((await ask('secret')).blocked).toBe('PreToolHook blocked the tool execution: not that\n')
    const git = { name: 'log', hostName: 'log', origin: 'git' }
    expect((await hooks.run({ trigger: 'preToolUse', tool: git, input: {} }, signal)).blocked).toBeDefined()
  })

  test('see the result after a tool', async () => {
    const { hooks } = hooksOf({
      postToolUse: [
        { command: 'cat', matcher: '@mail/send' },
        { command: 'exit 2', matcher: '@builtin' },
      ],
    })
    const mail = { name: 'send1', hostName: 'send', origin: 'mail' }
    const ran = await hooks.run({ trigger: 'postToolUse', tool: mail, input: { to: 'x' }, response: [1] }, signal)
    expect(ran.results.map(({ output }) => JSON.parse(output))).toMatchObject([
      { tool_name: '@mail/send', tool_input: { to: 'x' }, tool_response: [1] },
    ])
    expect(ran.blocked).toBeUndefined()
  })
})

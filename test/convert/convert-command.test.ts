/** `fumi convert` on the command line. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tempFolder } from '../support/codex-log.ts'
import { fumi as program, type RunResult } from '../support/run-fumi.ts'

const folder = tempFolder()

const at = (name: string): string => join(folder, name)
const env = { FUMI_HOME: at('home'), HOME: at('nobody') }
const fumi = (...args: string[]): RunResult => program(['convert', ...args], { env })
const piped = (input: string, ...args: string[]): RunResult => program(['convert', '-', ...args], { env, input })

const LINES = [
  {
    type: 'session_meta',
    payload: {
      id: '019c22d1-0000-7000-8000-0000000000f1',
      timestamp: '2026-01-02T03:04:05.000Z',
      cwd: '/code/reed',
      originator: 'codex_cli_rs',
      cli_version: '0.100.0',
    },
  },
  {
    type: 'response_item',
    payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: '葦は?' }] },
  },
  { type: 'event_msg', payload: { type: 'user_message', message: '葦は?' } },
  {
    type: 'response_item',
    payload: { type: 'function_call', name: 'shell', arguments: '{"command":"ls"}', call_id: 'call_1' },
  },
  { type: 'response_item', payload: { type: 'function_call_output', call_id: 'call_1', output: 'reed.txt' } },
  {
    type: 'response_item',
    payload: {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Here.' }],
      phase: 'final_answer',
    },
  },
]
const log = `${LINES.map((one, n) => JSON.stringify({ timestamp: `2026-01-02T03:04:0${n}.000Z`, ...one })).join('\n')}\n`
writeFileSync(at('rollout.jsonl'), log)

interface Chat {
  readonly messages: readonly { readonly role: string; readonly content: unknown; readonly x_conv?: object }[]
}

const chatAt = (name: string): Chat => JSON.parse(readFileSync(at(name), 'utf8')) as Chat

describe('fumi convert', () => {
  test('a round trip restores the log byte for byte', () => {
    const there = fumi(at('rollout.jsonl'), '--to', 'openai', '-o', at('talk.json'))
    expect(there.code).toBe(0)
    expect(there.err).toMatch(/^\d+ records, nothing lost; \d+ fields with no equivalent preserved in x_conv/)
    expect(chatAt('talk.json').messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', '葦は?'],
      ['assistant', null],
      ['tool', 'reed.txt'],
      ['assistant', 'Here.'],
    ])
    expect(fumi(at('talk.json'), '--to', 'codex', '-o', at('back.jsonl')).code).toBe(0)
    expect(readFileSync(at('back.jsonl'), 'utf8')).toBe(log)
  })

  test.each(['amazon-q', 'normalized', 'fumibako'])('a round trip over %s restores the log', (form) => {
    expect(fumi(at('rollout.jsonl'), '--to', form, '-o', at(`over-${form}.json`)).code).toBe(0)
    expect(fumi(at(`over-${form}.json`), '--to', 'codex').out).toBe(log)
  })

  test('edited messages are written as edited, the rest unchanged', () => {
    const text = readFileSync(at('talk.json'), 'utf8')
    writeFileSync(at('edited.json'), text.replace('"content":"Here."', '"content":"There."'))
    const { out: stdout, err: stderr } = fumi(at('edited.json'), '--to', 'codex')
    const lines = stdout.trimEnd().split('\n')
    expect(lines.slice(0, 5).join('\n')).toBe(log.split('\n').slice(0, 5).join('\n'))
    expect(lines.slice(5).join()).toContain('There.')
    expect(stdout).not.toContain('Here.')
    expect(stderr).toMatch(/^lost/)
  })

  test('without extensions losses are reported, and --strict refuses', () => {
    const bare = fumi(at('rollout.jsonl'), '--to', 'openai', '--no-extensions', '--report', at('report.json'))
    expect(bare.code).toBe(0)
    expect(bare.out).not.toContain('x_conv')
    const { losses } = JSON.parse(readFileSync(at('report.json'), 'utf8')) as {
      losses: { path: string; kept_in: null }[]
    }
    expect(losses.filter(({ kept_in }) => kept_in === null).map(({ path }) => path)).toContain(
      'response_item/message.payload.phase',
    )
    const strict = fumi(at('rollout.jsonl'), '--to', 'openai', '--no-extensions', '--strict', '-o', at('strict.json'))
    expect(strict.code).toBe(1)
    expect(existsSync(at('strict.json'))).toBe(false)
    const shown = fumi(at('rollout.jsonl'), '--to', 'openai', '--no-extensions', '--strict')
    expect([shown.code, shown.out]).toEqual([1, ''])
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  test('a fine-tuning example contains nothing else, and its sidecar file allows the way back', () => {
    const { code } = fumi(at('rollout.jsonl'), '--to', 'sft', '-o', at('example.jsonl'))
    expect(code).toBe(0)
    const line = JSON.parse(readFileSync(at('example.jsonl'), 'utf8')) as Chat
    expect(Object.keys(line)).toEqual(['messages'])
    expect(line.messages.some((message) => 'x_conv' in message)).toBe(false)
    expect(fumi(at('example.jsonl'), '--to', 'codex', '-o', at('from-example.jsonl')).code).toBe(0)
    expect(readFileSync(at('from-example.jsonl'), 'utf8')).toBe(log)
  })

  test('reads its output from standard input and never overwrites by default', () => {
    const { out } = piped(log, '--to', 'normalized')
    const again = piped(out, '--to', 'codex')
    expect(again.out).toBe(log)
    expect(fumi(at('rollout.jsonl'), '--to', 'openai', '-o', at('talk.json')).code).toBe(2)
    expect(fumi(at('rollout.jsonl'), '--to', 'openai', '-o', at('talk.json'), '--force').code).toBe(0)
  })

  test('reports why it cannot write and leaves no partial files', () => {
    mkdirSync(at('taken/talk.json'), { recursive: true })
    const { code, err } = fumi(at('rollout.jsonl'), '--to', 'openai', '-o', at('taken/talk.json'), '--force')
    expect({ code, err }).toEqual({ code: 6, err: expect.stringContaining('a folder has that name') })
    expect(readdirSync(at('taken'))).toEqual(['talk.json'])
  })

  test('writes a conversation and its sidecar file, or neither', () => {
    mkdirSync(at('half/example.jsonl.x.json'), { recursive: true })
    const convert = () => fumi(at('rollout.jsonl'), '--to', 'sft', '-o', at('half/example.jsonl'), '--force')
    expect(convert()).toMatchObject({ code: 6, err: expect.stringContaining('a folder has that name') })
    expect(readdirSync(at('half'))).toEqual(['example.jsonl.x.json'])
    writeFileSync(at('half/example.jsonl'), 'as it was')
    expect(convert().code).toBe(6)
    expect(readFileSync(at('half/example.jsonl'), 'utf8')).toBe('as it was')
    expect(readdirSync(at('half'))).toHaveLength(2)
  })

  test('says which formats there are, and which profiles', () => {
    const format = fumi(at('rollout.jsonl'), '--to', 'telegram')
    expect([format.code, format.err]).toEqual([2, expect.stringContaining('codex')])
    const profile = fumi(at('rollout.jsonl'), '--to', 'openai', '--profile', 'nobody')
    expect([profile.code, profile.err]).toEqual([2, expect.stringContaining('llamacpp')])
    const local = fumi(at('rollout.jsonl'), '--to', 'openai', '--profile', 'llamacpp')
    expect(local.out).not.toContain('x_conv')
  })
})

/** Small logs for tests, written line by line. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onCleanup } from './cleanup.ts'

/** A temporary folder, removed after the test file. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fumi-test-'))
  // A command that just ended may still be storing its compiled code.
  onCleanup(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  return folder
}

export function tempLog(content: string | Uint8Array, name = 'rollout-2026-02-03T09-15-00-test.jsonl'): string {
  const path = join(tempFolder(), name)
  writeFileSync(path, content)
  return path
}

export const THREAD = '019c0000-0000-7000-8000-000000000001'

export const at = (second: number): string => new Date(Date.UTC(2026, 1, 3, 9, 15, second)).toISOString()

export const line = (second: number, type: string, payload: unknown): string =>
  JSON.stringify({ timestamp: at(second), type, payload })

export const header = (more: object = {}): string =>
  line(0, 'session_meta', {
    id: THREAD,
    timestamp: at(0),
    cwd: '/w/app',
    originator: 'codex_cli_rs',
    cli_version: '0.146.0',
    ...more,
  })

export const user = (second: number, text: string): string =>
  line(second, 'response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text }] })

export const assistant = (second: number, text: string): string =>
  line(second, 'response_item', { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })

export const call = (second: number, call_id: string, args: unknown): string =>
  line(second, 'response_item', { type: 'function_call', name: 'shell', arguments: JSON.stringify(args), call_id })

export const result = (second: number, call_id: string, output: unknown): string =>
  line(second, 'response_item', { type: 'function_call_output', call_id, output })

/** A report of running totals. It leaves out the usage of the last request, which would have to fit the report before. */
export const tokens = (second: number, input: number, output: number): string => {
  const usage = {
    input_tokens: input,
    cached_input_tokens: 0,
    output_tokens: output,
    reasoning_output_tokens: 0,
    total_tokens: input + output,
  }
  return line(second, 'event_msg', {
    type: 'token_count',
    info: { total_token_usage: usage },
    rate_limits: null,
  })
}

/** A short conversation with most kinds of records. */
export const shortSession = (): string[] => [
  header(),
  line(1, 'turn_context', {
    model: 'gpt-5-codex',
    cwd: '/w/app',
    approval_policy: 'never',
    sandbox_policy: { type: 'read-only' },
  }),
  user(2, '<environment_context>\n  <cwd>/w/app</cwd>\n</environment_context>'),
  user(3, 'List the files, please.'),
  line(3, 'event_msg', { type: 'user_message', message: 'List the files, please.' }),
  call(4, 'call_1', { command: ['bash', '-lc', 'ls'] }),
  result(5, 'call_1', 'Exit code: 0\nWall time: 0.1 seconds\nOutput:\na.ts\n'),
  tokens(6, 1000, 50),
  line(7, 'event_msg', { type: 'agent_message', message: 'One file: a.ts' }),
  assistant(7, 'One file: a.ts'),
  tokens(8, 2100, 80),
]

export const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`

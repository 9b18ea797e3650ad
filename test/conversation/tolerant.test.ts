import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ReadOptions } from '../../src/conversation/codec/codec.ts'
import { readState, writeState } from '../../src/conversation/codec/state.ts'
import type { ConversationState } from '../../src/conversation/state.ts'
import { promptsOf } from './test-states.ts'

const user = {
  additional_context: '',
  env_context: { env_state: null },
  content: { Prompt: { prompt: 'q' } },
  timestamp: null,
  images: null,
}
const entry = { user, assistant: { Response: { message_id: null, content: 'a' } }, request_metadata: null }
const least = {
  conversation_id: 'c',
  next_message: null,
  history: [entry],
  valid_history_range: [0, 1],
  transcript: [],
  tools: {},
}

function read(
  value: unknown,
  options: ReadOptions = {},
): { readonly state: ConversationState; readonly repairs: readonly string[] } {
  const result = readState(typeof value === 'string' ? value : JSON.stringify(value), options)
  if (!result.ok) throw new Error(result.reason)
  return { state: result.value, repairs: result.repairs.map(({ code, path }) => `${code} ${path}`) }
}

/** Whether the strict reader loads it after removing unknown values. */
function loadsInOriginal(state: ConversationState): boolean {
  return readState(writeState(state, { keep: 'known' }), { mode: 'strict' }).ok
}

describe('input that Amazon Q CLI cannot load', () => {
  test.each([
    [
      'an old context manager',
      {
        context_manager: {
          max_context_files_size: 9,
          global_config: { paths: ['A.md'], hooks: {} },
          current_profile: 'p',
          profile_config: {
            paths: ['B.md'],
            hooks: {
              h: { trigger: 'per_prompt', type: 'inline', disabled: false, timeout_ms: 5, command: 'date' },
              off: { trigger: 'per_prompt', disabled: true, command: 'no' },
            },
          },
        },
      },
      'old_context_manager $.context_manager',
    ],
    ['a summary that is a text', { latest_summary: 'so far' }, 'text_summary $.latest_summary'],
    [
      'an unknown meta tag',
      {
        history: [
          {
            ...entry,
            request_metadata: {
              message_id: 'm',
              request_start_timestamp_ms: 1,
              stream_end_timestamp_ms: 2,
              time_between_chunks: [],
              user_prompt_length: 1,
              response_size: 1,
              tool_use_ids_and_names: [],
              message_meta_tags: ['Compact', 'Later'],
            },
          },
        ],
      },
      'unknown_member $.history[0].request_metadata.message_meta_tags[1]',
    ],
    [
      'missing orig_args',
      {
        history: [
          {
            ...entry,
            assistant: {
              ToolUse: {
                message_id: null,
                content: '',
                tool_uses: [{ id: 'a', name: 'n', orig_name: 'n', args: { x: 1 } }],
              },
            },
          },
        ],
      },
      'missing_field $.history[0].assistant.ToolUse.tool_uses[0]',
    ],
    [
      'a time that is none',
      { next_message: { ...user, timestamp: 'yesterday' } },
      'unreadable_field $.next_message.timestamp',
    ],
    [
      'a checkpoint manager of another make',
      { checkpoint_manager: { new: true } },
      'unreadable_field $.checkpoint_manager',
    ],
    [
      'no variables in the environment',
      { history: [[{ ...user, env_context: { env_state: { operating_system: 'macos' } } }, entry.assistant]] },
      'missing_field $.history[0][0].env_context.env_state',
    ],
  ])('%s is repaired and reported', (_, change, repair) => {
    const given = { ...least, ...change }
    expect(readState(JSON.stringify(given), { mode: 'strict' }).ok).toBe(false)
    const { state, repairs } = read(given)
    expect(repairs).toEqual([repair])
    expect(state.history.length).toBe(1)
    expect(loadsInOriginal(state)).toBe(true)
    expect(writeState(read(writeState(state)).state)).toBe(writeState(state))
  })

  test('nothing of it is dropped', () => {
    const { state } = read({
      ...least,
      context_manager: { global_config: { paths: ['A.md'] }, current_profile: 'p', note: 'n' },
      checkpoint_manager: { new: true },
    })
    const written = JSON.parse(writeState(state))
    expect(written.context_manager).toMatchObject({ paths: ['A.md'], global_config: { paths: ['A.md'] }, note: 'n' })
    expect(written.unread_checkpoint_manager).toEqual({ new: true })
    expect(written.checkpoint_manager).toBeNull()
  })

  test('old hooks find their new triggers', () => {
    const hooks = { h: { trigger: 'conversation_start', command: 'pwd', timeout_ms: 5 } }
    const { state } = read({ ...least, context_manager: { global_config: { paths: [], hooks } } })
    expect(state.context_manager?.hooks.get('agentSpawn')).toEqual([
      { command: 'pwd', timeout_ms: 5, max_output_size: 10_240, cache_ttl_seconds: 0 },
    ])
  })

  test('an unreadable entry is preserved separately, and the others are read', () => {
    const broken = { user: { ...user, content: { Hologram: {} } }, assistant: entry.assistant }
    const { state, repairs } = read({ ...least, history: [entry, broken, entry] })
    expect(repairs).toEqual(['entry_set_aside $.history[1]'])
    expect(state.history.length).toBe(2)
    expect(state.fumibako?.set_aside).toEqual([{ path: '$.history[1]', value: broken }])
    expect(JSON.parse(writeState(state)).fumibako.set_aside[0].value).toEqual(broken)
    expect(loadsInOriginal(state)).toBe(true)
  })
})

describe('partial states', () => {
  test.each(['prompt.json', 'tools.json'])('the example %s', (file) => {
    const text = readFileSync(join(import.meta.dirname, 'fixtures', file), 'utf8')
    const { state, repairs } = read(text)
    expect(state.history.length).toBeGreaterThan(0)
    expect(repairs).toContain('missing_field $')
    expect(state.valid_history_range).toEqual([0, state.history.length])
    expect(loadsInOriginal(state)).toBe(true)
  })

  test('a bare history', () => {
    const { state, repairs } = read([entry, [user, entry.assistant]])
    expect(promptsOf(state)).toEqual(['q', 'q'])
    expect(repairs[0]).toBe('bare_history $')
    expect(read([]).state.history.length).toBe(0)
  })

  test.each(['null', '5', '"text"', '{}', '{"history":{}}', '[5]x', ''])('%j is not one', (text) => {
    const result = readState(text)
    expect(result.ok).toBe(false)
    expect(!result.ok && result.path).toMatch(/^\$/)
  })
})

test('fields of a later program come back in their places, down to the spelling of numbers', () => {
  const text =
    '{"conversation_id":"c","next_message":null,"history":[],"valid_history_range":[0,0],"transcript":[],"tools":{},"context_manager":null,"context_message_length":null,"latest_summary":null,"model_info":{"model_id":"m","rate_multiplier":1.0,"context_window_tokens":200000},"file_line_tracker":{},"checkpoint_manager":null,"mcp_enabled":true,"user_turn_metadata":{"2":1e5,"1":[]},"mcp_last_checked":[2026,69,17,0,45,680293478,0,0,0]}'
  const { state, repairs } = read(text)
  expect(repairs).toEqual([])
  expect(writeState(state)).toBe(text)
  expect(read(text, { mode: 'strict' }).state).not.toHaveProperty('user_turn_metadata')
  expect(writeState(state, { keep: 'known' })).not.toContain('rate_multiplier')
})

test('reasons contain no conversation text', () => {
  const secret = readState(
    JSON.stringify({
      ...least,
      history: [{ ...entry, user: { ...user, content: { Prompt: { prompt: ['SECRET'] } } } }],
    }),
  )
  expect(JSON.stringify(secret.ok ? secret.repairs : secret)).not.toContain('SECRET')
  const strict = readState(JSON.stringify({ ...least, conversation_id: 7, transcript: ['SECRET'] }), { mode: 'strict' })
  expect(strict).toEqual({
    ok: false,
    path: '$.conversation_id',
    reason: 'expected text, found a number at $.conversation_id',
  })
})

test('hostile texts cause neither exceptions nor hangs', () => {
  expect(readState('['.repeat(200_000)).ok).toBe(false)
  expect(readState(`{"history":${'['.repeat(900)}${']'.repeat(900)}}`).ok).toBe(true)
  const { state } = read({ ...least, tools: JSON.parse('{"__proto__":[]}') })
  expect(state.tools.get('__proto__')).toEqual([])
  expect(writeState(state)).toContain('"__proto__":[]')
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
})

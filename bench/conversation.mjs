/** Measures the conversation model, as ratios to JSON.parse and JSON.stringify of the same state. */

import { fastest, timed } from './fastest.mjs'
import { timesFloor } from './targets.mjs'

const MEGABYTES = 54

/** @returns {Promise<import('./targets.mjs').Row[]>} */
export async function benchConversation() {
  const model = await import('../dist/conversation.js')
  return [...['amazon-q', 'kiro'].flatMap((kind) => benchState(model, kind)), benchAppend(model)]
}

function benchState({ readState, writeState, parseJson }, kind) {
  const text = stateText(MEGABYTES * 1e6, kind === 'kiro')
  const read = readState(text)
  if (!read.ok || read.repairs.length > 0) throw new Error('the state of the benchmark is not readable')
  if (writeState(read.value) !== text) throw new Error('the state did not come back byte for byte')
  const plain = JSON.parse(text)
  const reading = fastest({
    native: () => JSON.parse(text),
    tolerant: () => readState(text),
    lossless: () => parseJson(text),
    strict: () => readState(text, { mode: 'strict' }),
  })
  const writing = fastest({ native: () => JSON.stringify(plain), ours: () => writeState(read.value) })
  const indenting = fastest({
    native: () => JSON.stringify(plain, null, 2),
    ours: () => writeState(read.value, { style: 'pretty' }),
  })
  const row = (what, ours, native, limit) => timesFloor(`${what} (${kind}, ${MEGABYTES} MB)`, limit, ours, native)
  return [
    row('read, tolerant', reading.tolerant, reading.native, 2),
    row('read, lossless JSON alone', reading.lossless, reading.native, 5),
    row('read, strict', reading.strict, reading.native, 5),
    row('write, compact', writing.ours, writing.native, 2),
    row('write, pretty', indenting.ours, indenting.native, 2),
  ]
}

/** Adds the same number of entries to a state of 10,000 and to an empty one. */
function benchAppend({ newState, newPrompt, newResponse, pushAssistantMessage, NO_ENVIRONMENT }) {
  const answer = newResponse(null, 'yes')
  const add = (state, count) => {
    let grown = state
    for (let i = 0; i < count; i++) {
      grown = pushAssistantMessage({ ...grown, next_message: newPrompt('q', null, NO_ENVIRONMENT) }, answer)
    }
    return grown
  }
  const few = 2_000
  const best = { empty: Number.POSITIVE_INFINITY, late: Number.POSITIVE_INFINITY }
  for (let i = 0; i < 30; i++) {
    const full = add(newState('c'), 10_000)
    best.late = Math.min(
      best.late,
      timed(() => add(full, few)),
    )
    best.empty = Math.min(
      best.empty,
      timed(() => add(newState('c'), few)),
    )
  }
  return timesFloor(
    'add an entry to 10,000, of one to none',
    1.5,
    (best.late / few) * 1000,
    (best.empty / few) * 1000,
    'µs',
  )
}

/** Prompts, code as tool results, numbers in arguments, and as many chunk times as in real states. */
export function stateText(bytes, isKiro, lines = 20) {
  const history = []
  let length = 0
  for (let i = 0; length < bytes; i++) {
    const entry = entryText(i, isKiro, lines)
    history.push(entry)
    length += entry.length + 1
  }
  const model = isKiro ? ',"rate_multiplier":1.0,"rate_unit":"credit"' : ''
  const tail = isKiro ? ',"user_turn_metadata":{"continuation_id":"x","requests":[],"usage_info":[]}' : ''
  const text = `{"conversation_id":"b","next_message":null,"history":[${history.join(',')}],"valid_history_range":[0,${history.length}],"transcript":[],"tools":{},"context_manager":null,"context_message_length":null,"latest_summary":null,"model_info":{"model_id":"m","context_window_tokens":200000${model}},"file_line_tracker":{},"checkpoint_manager":null,"mcp_enabled":true${tail}}`
  return Buffer.from(text).toString() // One flat string, as read from a file.
}

function entryText(i, isKiro, lines) {
  const env =
    '{"env_state":{"operating_system":"linux","current_working_directory":"/home/u/project","environment_variables":[]}}'
  const code = JSON.stringify(
    `export function part${i}(name: string) {\n  return "value" + name // ${'考える '.repeat(i % 3)}\n}\n`.repeat(
      lines,
    ),
  )
  const content =
    i % 3 === 0
      ? `{"Prompt":{"prompt":"Please look at part ${i} and say what is wrong with it."}}`
      : `{"ToolUseResults":{"tool_use_results":[{"tool_use_id":"t${i}","content":[{"Text":${code}},{"Json":{"exit_status":"0","lines":[1,2,${i}]}}],"status":"Success"}]}}`
  const user = `{"additional_context":"","env_context":${env},"content":${content},"timestamp":"2025-10-25T14:53:00.123456+09:00","images":null}`
  const args = `{"operations":[{"mode":"Line","path":"/src/part${i}.ts","start_line":${i},"end_line":-1}]}`
  const use = `{"id":"t${i + 1}","name":"fs_read","orig_name":"fs_read","args":${args},"orig_args":${args}}`
  const assistant = `{"ToolUse":{"message_id":"m${i}","content":${JSON.stringify(`Reading part ${i}.\n`.repeat(20))},"tool_uses":[${use}]}}`
  const chunks = Array.from({ length: 40 }, (_, k) => `{"secs":0,"nanos":${(i * 7919 + k * 104729) % 1e9}}`).join(',')
  const usage = isKiro ? `"context_usage_percentage":${i % 97}.${(i % 9) + 1},` : ''
  const metadata = `{"request_id":"r${i}",${usage}"message_id":"m${i}","request_start_timestamp_ms":1764463677224,"stream_end_timestamp_ms":1764463681682,"time_to_first_chunk":{"secs":2,"nanos":954176042},"time_between_chunks":[${chunks}],"user_prompt_length":257,"response_size":181,"chat_conversation_type":"ToolUse","tool_use_ids_and_names":[["t${i + 1}","fs_read"]],"model_id":"m","message_meta_tags":[]}`
  return `{"user":${user},"assistant":${assistant},"request_metadata":${metadata}}`
}

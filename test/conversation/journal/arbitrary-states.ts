/** Random states. */

import fc from 'fast-check'
import { Entries } from '../../../src/conversation/entries.ts'
import type { AssistantMessage, UserMessage } from '../../../src/conversation/message.ts'
import {
  type Checkpoint,
  type CheckpointManager,
  EMPTY_METADATA,
  type HistoryEntry,
  type Summary,
} from '../../../src/conversation/record.ts'
import { type ConversationCheckpoint, type ConversationState, newState } from '../../../src/conversation/state.ts'
import { tangentTime } from '../../../src/conversation/zoned-time.ts'
import { JsonMap, JsonNumber, type JsonValue } from '../../../src/lib/json/lossless.ts'
import { ENV } from '../test-states.ts'

export const text = fc.string({ unit: 'binary', maxLength: 8 })
const json: fc.Arbitrary<JsonValue> = fc.oneof(
  text,
  fc.constantFrom<JsonValue>(null, true, 7, new JsonNumber('1.0'), new JsonNumber('18446744073709551615')),
  fc.constantFrom<JsonValue>(
    new JsonMap([
      ['2', 1],
      ['1', 2],
    ]),
    { a: [{}] },
  ), // Keys that a plain object would reorder.
)
export const result = fc.record({
  tool_use_id: text,
  content: fc.array(
    fc.oneof(
      text.map((Text) => ({ Text })),
      json.map((Json) => ({ Json })),
    ),
    { maxLength: 2 },
  ),
  status: fc.constantFrom('Success', 'Error'),
})
const results = fc.array(result, { maxLength: 2 })

export const user: fc.Arbitrary<UserMessage> = fc.record({
  additional_context: text,
  env_context: fc.constant(ENV),
  content: fc.oneof(
    text.map((prompt) => ({ Prompt: { prompt } })),
    fc
      .record({ prompt: fc.option(text), tool_use_results: results })
      .map((CancelledToolUses) => ({ CancelledToolUses })),
    results.map((tool_use_results) => ({ ToolUseResults: { tool_use_results } })),
  ),
  timestamp: fc.constantFrom(null, '2025-10-25T14:53:00.123456+09:00'),
  images: fc.constantFrom(null, [{ format: 'Png', source: { Bytes: [0, 255] } }] as const),
})
const use = fc.record({ id: text, name: text, orig_name: text, args: json, orig_args: json })
export const assistant: fc.Arbitrary<AssistantMessage> = fc.oneof(
  fc.record({ message_id: fc.option(text), content: text }).map((Response) => ({ Response })),
  fc
    .record({ message_id: fc.option(text), content: text, tool_uses: fc.array(use, { maxLength: 2 }) })
    .map((ToolUse) => ({ ToolUse })),
)
const metadata = fc.record({
  model_id: fc.option(text),
  time_to_first_chunk: fc.constantFrom(null, { secs: 1, nanos: 2 }),
})
export const metadataOrNone = fc.option(metadata.map((some) => ({ ...EMPTY_METADATA, ...some })))
export const entry: fc.Arbitrary<HistoryEntry> = fc
  .record({ user, assistant, request_metadata: metadataOrNone, note: fc.option(text, { nil: undefined }) })
  // A field that a later version may write.
  .map(({ note, ...known }) => (note === undefined ? known : { ...known, note }))
const summary: fc.Arbitrary<Summary | null> = fc.option(text.map((texts): Summary => [texts, EMPTY_METADATA]))

/** Histories that share many entries, like those of one conversation, and sometimes none. */
function histories(pool: readonly HistoryEntry[]): fc.Arbitrary<Entries<HistoryEntry>> {
  return fc
    .array(fc.nat(Math.max(0, pool.length - 1)), { maxLength: 5 })
    .map((at) => Entries.over(at.flatMap((index) => pool[index] ?? [])))
}

function sessions(pool: readonly HistoryEntry[]): fc.Arbitrary<ConversationCheckpoint> {
  return fc.record({
    main_history: histories(pool),
    main_next_message: fc.option(user),
    main_transcript: fc.array(text, { maxLength: 3 }).map((lines) => Entries.over([...lines])),
    main_latest_summary: summary,
    tangent_start_time: fc.nat(2 ** 31).map((seconds) => tangentTime(BigInt(seconds) * 1_000_000_000n)),
  })
}

function managers(pool: readonly HistoryEntry[]): fc.Arbitrary<CheckpointManager> {
  const checkpoint: fc.Arbitrary<Checkpoint> = fc.record({
    tag: fc.constantFrom('0', '1', '1.1', '2'),
    timestamp: fc.constant('2025-10-25T14:53:00+09:00'),
    description: text,
    history_snapshot: histories(pool),
    is_turn: fc.boolean(),
    tool_name: fc.option(text),
  })
  const tags = fc.constantFrom<readonly [string, number][]>([], [['0', 0]], [['9', 3]])
  return fc.record({
    shadow_repo_path: text,
    work_tree_path: text,
    checkpoints: fc.array(checkpoint, { maxLength: 3 }),
    tag_index: tags.map((given) => new JsonMap(given)),
    current_turn: fc.nat(),
    tools_in_turn: fc.nat(),
    pending_user_message: fc.option(text),
    message_locked: fc.boolean(),
    file_stats_cache: tags.map(
      (given) => new JsonMap(given.map(([tag, n]) => [tag, { added: n, modified: 0, deleted: 1 }])),
    ),
  })
}

const tracker = fc.record({
  prev_fswrite_lines: fc.nat(),
  before_fswrite_lines: fc.nat(),
  after_fswrite_lines: fc.nat(),
  lines_added_by_agent: fc.nat(),
  lines_removed_by_agent: fc.nat(),
  is_first_write: fc.boolean(),
})
const hook = fc.record({ command: text, timeout_ms: fc.nat(), max_output_size: fc.nat(), cache_ttl_seconds: fc.nat() })
const parts = {
  valid_history_range: fc.constantFrom([0, 0], [3, 1], [new JsonNumber('18446744073709551615'), 2] as const),
  tools: fc.constantFrom(
    new JsonMap(),
    new JsonMap([
      ['native___', [{ ToolSpecification: { name: 'look', description: '', input_schema: { json: null } } }]],
    ]),
  ),
  context_manager: fc.option(
    fc.record({
      max_context_files_size: fc.nat(),
      current_profile: text,
      paths: fc.array(text, { maxLength: 2 }),
      hooks: hook.map((one) => new JsonMap([['stop', [one]]])),
    }),
  ),
  context_message_length: fc.option(fc.nat()),
  file_line_tracker: fc
    .array(fc.tuple(fc.constantFrom('a', 'b', '1', '__proto__'), tracker), { maxLength: 3 })
    .map((files) => new JsonMap(files)),
  mcp_enabled: fc.boolean(),
}
const rare = {
  model: text,
  model_info: fc.record({ model_id: text, context_window_tokens: fc.nat() }),
  user_turn_metadata: json,
  mcp_last_checked: json,
}

function stateFrom(pool: readonly HistoryEntry[]): fc.Arbitrary<ConversationState> {
  const chat = sessions(pool)
  const tangent = fc.record({ name: fc.option(text), checkpoint: fc.option(chat) })
  const extension = fc.record(
    {
      branches: fc.array(fc.record({ name: fc.option(text), after: fc.nat(9), entries: histories(pool) }), {
        maxLength: 2,
      }),
      tangents: fc.array(tangent, { maxLength: 3 }),
      set_aside: fc.array(fc.record({ path: text, value: json }), { maxLength: 1 }),
      later: json,
    },
    { requiredKeys: [] },
  )
  return fc
    .tuple(
      chat,
      fc.record(parts),
      fc.record({ ...rare, tangent_state: chat, fumibako: extension }, { requiredKeys: [] }),
      fc.option(managers(pool)),
      fc.boolean(),
    )
    .map(([now, known, others, checkpoint_manager, mixed]) => {
      const { main_history: history, main_next_message: next_message, main_transcript: transcript } = now
      const texts = { history, next_message, transcript, latest_summary: now.main_latest_summary, checkpoint_manager }
      const state = { ...newState('c'), ...(known as unknown as Partial<ConversationState>), ...texts }
      return (mixed ? { ...others, ...state } : { ...state, ...others }) as ConversationState
    })
}

/** States of one conversation, which share entries. */
export const states = (count: number): fc.Arbitrary<readonly ConversationState[]> =>
  fc
    .array(entry, { minLength: 1, maxLength: 5 })
    .chain((pool) => fc.array(stateFrom(pool), { minLength: count, maxLength: count }))

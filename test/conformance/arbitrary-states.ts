/** States of Amazon Q: shared ones, if available, and random ones. */
import fc from 'fast-check'
import { writeState } from '../../src/conversation/codec/state.ts'
import { states } from '../conversation/journal/arbitrary-states.ts'
import { vectorStates } from '../conversation/journal/shared-states.ts'
import { conversationOf, type NamedConversation } from './corpus.ts'

/** @param every yields only every n-th */
export async function* statesBeside(folder: string, every = 1): AsyncGenerator<NamedConversation> {
  const apart = new Map(vectorStates().map((one) => [one.text, one.name]))
  for (const [at, [state, name]] of [...apart].entries()) {
    const conversation = at % every === 0 ? await conversationOf(state, '.json', folder) : undefined
    if (conversation) yield { ...conversation, name }
  }
}

const text = fc.constantFrom('tide', '潮', 'a "quoted" word', '<b>x</b>', '{"n":1}', 'two\n\nlines', '\u2028', '')
const context = fc.constantFrom(
  '',
  '',
  'branch: main',
  '--- CONTEXT ENTRY BEGIN ---\nReeds grow here.\n--- CONTEXT ENTRY END ---\n\n',
)
const stamp = fc.constantFrom(null, '2026-01-02T03:04:05.123456+09:00')
const images = fc.constantFrom(null, null, [{ format: 'Png', source: { Bytes: [137, 80, 78, 71] } }])
const environment = fc.constantFrom(null, {
  operating_system: 'linux',
  current_working_directory: '/w',
  environment_variables: [],
})
const id = fc.integer({ min: 0, max: 4 }).map((n) => `tooluse_${n}`)

const result = fc.record({
  tool_use_id: id,
  content: fc.array(
    fc.oneof(
      text.map((Text) => ({ Text })),
      text.map((stdout) => ({ Json: { exit_status: '0', stdout } })),
    ),
    { maxLength: 2 },
  ),
  status: fc.constantFrom('Success', 'Error'),
})
const tool_use_results = fc.array(result, { maxLength: 3 })

const user = fc.record({
  additional_context: context,
  env_context: environment.map((env_state) => ({ env_state })),
  content: fc.oneof(
    { weight: 3, arbitrary: text.map((prompt) => ({ Prompt: { prompt } })) },
    { weight: 3, arbitrary: tool_use_results.map((results) => ({ ToolUseResults: { tool_use_results: results } })) },
    {
      weight: 1,
      arbitrary: fc.record({ prompt: fc.option(text), tool_use_results }).map((cancelled) => ({
        CancelledToolUses: cancelled,
      })),
    },
  ),
  timestamp: stamp,
  images,
})

const use = fc.tuple(id, fc.constantFrom('fs_read', 'execute_bash'), text).map(([one, name, path]) => {
  const args = { path }
  return { id: one, name, orig_name: name, args, orig_args: args }
})
const assistant = fc.oneof(
  fc.record({ message_id: fc.constantFrom(null, 'm-1'), content: text }).map((Response) => ({ Response })),
  fc
    .record({
      message_id: fc.constantFrom(null, 'm-2'),
      content: text,
      tool_uses: fc.uniqueArray(use, { minLength: 1, maxLength: 3, selector: ({ id: one }) => one }),
    })
    .map((ToolUse) => ({ ToolUse })),
)
const metadata = fc.constantFrom(null, {
  request_id: 'r-1',
  message_id: 'm-1',
  request_start_timestamp_ms: 1767322800000,
  stream_end_timestamp_ms: 1767322801000,
  time_to_first_chunk: { secs: 0, nanos: 5 },
  time_between_chunks: [],
  user_prompt_length: 4,
  response_size: 4,
  chat_conversation_type: 'NotToolUse',
  tool_use_ids_and_names: [],
  model_id: 'claude-sonnet-4',
  message_meta_tags: [],
})
const history = fc.array(fc.record({ user, assistant, request_metadata: metadata }), { maxLength: 8 })
const summary = fc.constantFrom(null, null, 'What was said before.')

/** Every field with every possible value, as text: more than the program would ever write. */
export const wildState: fc.Arbitrary<string> = states(1).map((all) => all.map((state) => writeState(state)).join(''))

/** Turns with and without tools in any order, with all surrounding fields. */
const fields = fc
  .record({
    next_message: fc.option(user),
    history,
    transcript: fc.array(text, { maxLength: 3 }),
    latest_summary: fc.tuple(summary, metadata).map(([text, request]) => text && [text, request ?? ANY_METADATA]),
    model_info: fc.option(fc.constant({ model_name: 'm', model_id: 'claude-sonnet-4', context_window_tokens: 200000 })),
    mcp_enabled: fc.boolean(),
  })
  .map((state) => ({
    conversation_id: '5b1f0c52-0000-4000-8000-0000000000c2',
    ...state,
    valid_history_range: [0, state.history.length],
    tools: {},
    context_manager: null,
    context_message_length: null,
    file_line_tracker: {},
    checkpoint_manager: null,
  }))

/** As a row has it, or as `/save` writes it. */
export const qState: fc.Arbitrary<string> = fc
  .tuple(fields, fc.constantFrom(undefined, 2))
  .map(([state, indent]) => JSON.stringify(state, null, indent))

const ANY_METADATA = {
  request_id: null,
  message_id: 'm-0',
  request_start_timestamp_ms: 1767322800000,
  stream_end_timestamp_ms: 1767322801000,
  time_to_first_chunk: null,
  time_between_chunks: [],
  user_prompt_length: 0,
  response_size: 21,
  chat_conversation_type: null,
  tool_use_ids_and_names: [],
  model_id: null,
  message_meta_tags: ['Compact'],
}

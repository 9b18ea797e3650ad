/** Vectors of the pure functions. */

import * as budget from '../../src/conversation/budget.ts'
import { previousTag, truncateDescription } from '../../src/conversation/checkpoint.ts'
import { type Codec, readAs, readValueAs, writeAs } from '../../src/conversation/codec/codec.ts'
import * as messageCodec from '../../src/conversation/codec/entry.ts'
import { numberAfterDocument, storedNumber } from '../../src/conversation/codec/free-json.ts'
import { Entries } from '../../src/conversation/entries.ts'
import { isNativeOrigin, NATIVE_TOOLS, originLabel, TRUNCATED_SUFFIX } from '../../src/conversation/limits.ts'
import { linesByAgent, linesByUser } from '../../src/conversation/line-tracker.ts'
import {
  contentWithContext,
  promptOf,
  replaceContentWithToolUseResults,
  sanitizeUnicodeTags,
  truncateContent,
  truncateSafe,
  truncateSafeInPlace,
} from '../../src/conversation/message-text.ts'
import { environmentOf, NO_ENVIRONMENT, newToolUseResults } from '../../src/conversation/new-message.ts'
import type { Tools } from '../../src/conversation/record.ts'
import {
  hookContext,
  intoHistoryEntry,
  intoUserInputMessage,
  type UserInputMessage,
} from '../../src/conversation/request.ts'
import {
  appendAssistantTranscript,
  appendTranscript,
  appendUserTranscript,
  type Transcript,
} from '../../src/conversation/state.ts'
import {
  isJsonArray,
  JsonMap,
  JsonNumber,
  type JsonValue,
  jsonEntries,
  parseJson,
  writeJson,
} from '../../src/lib/json/lossless.ts'
import { byteLength } from '../../src/model/token-estimate.ts'
import { at, expectSame, has, items, number, text, type Vector, type Verdict } from './vector.ts'

type Check = (vector: Vector) => Verdict

export function strictly<T>(codec: Codec<T>, value: JsonValue): T {
  const read = readValueAs(codec, value, { mode: 'strict' })
  if (!read.ok) throw new Error(read.reason)
  return read.value
}

/** The JSON of a value. */
export function lowered<T>(codec: Codec<T>, value: T): JsonValue {
  const parsed = parseJson(writeAs(codec, value))
  if (!parsed.ok) throw new Error(parsed.reason)
  return parsed.value
}

export function toolsNamed(names: JsonValue): Tools {
  if (!isJsonArray(names)) {
    return new JsonMap(
      jsonEntries(names as JsonMap).map(([origin, list]) => [origin, items(list).map(toolNamed)] as const),
    )
  }
  return names.length === 0 ? new JsonMap() : new JsonMap([[NATIVE_TOOLS, names.map(toolNamed)]])
}

function toolNamed(name: JsonValue) {
  return { ToolSpecification: { name: text(name), description: '', input_schema: { json: null } } }
}

const { userMessage, assistantMessage, userMessageContent } = messageCodec

export const functionChecks: readonly (readonly [fn: RegExp, check: Check])[] = [
  [
    /^truncate_safe$/,
    ({ input, output }) => expectSame(truncateSafe(text(at(input, 's')), number(at(input, 'max_bytes'))), output),
  ],
  [
    /^truncate_safe_in_place$/,
    ({ input, output }) =>
      expectSame(
        truncateSafeInPlace(text(at(input, 's')), number(at(input, 'max_bytes')), text(at(input, 'suffix'))),
        output,
      ),
  ],
  [
    /^content_with_context$/,
    ({ input, output }) => expectSame(contentWithContext(strictly(userMessage, input)), output),
  ],
  [
    /^UserMessage::truncate_safe$/,
    ({ input, output }) => {
      const content = strictly(userMessageContent, at(input, 'content'))
      const cut = lowered(userMessageContent, truncateContent(content, number(at(input, 'max_bytes'))))
      return expectSame(cut, has(output, 'panic') ? at(input, 'content') : output)
    },
  ],
  [
    /^replace_content_with_tool_use_results$/,
    ({ input, output }) =>
      expectSame(lowered(userMessage, replaceContentWithToolUseResults(strictly(userMessage, input))), output),
  ],
  [
    /^replace_content_with_tool_use_results\(len\)$/,
    ({ input, output }) => {
      const texts = text(at(input, 'unit')).repeat(number(at(input, 'repeat')))
      const results = newToolUseResults(
        [{ tool_use_id: 'a', content: [{ Text: texts }], status: 'Success' }],
        NO_ENVIRONMENT,
      )
      const prompt = promptOf(replaceContentWithToolUseResults(results)) ?? ''
      return expectSame(
        { byte_len: byteLength(prompt), chars: [...prompt].length, has_suffix: prompt.endsWith(TRUNCATED_SUFFIX) },
        output,
      )
    },
  ],
  [
    /^into_user_input_message$/,
    ({ input, output }) => {
      const model = at(input, 'model_id')
      const message = strictly(userMessage, at(input, 'message'))
      return expectSame(
        rendered(intoUserInputMessage(message, model === null ? null : text(model), toolsNamed(at(input, 'tools')))),
        output,
      )
    },
  ],
  [
    /^into_history_entry$/,
    ({ input, output }) =>
      expectSame(
        rendered(intoHistoryEntry(strictly(userMessage, has(input, 'message') ? at(input, 'message') : input))),
        output,
      ),
  ],
  [
    /^append_user_transcript$/,
    ({ input, output }) => expectSame(appendUserTranscript(Entries.of(), text(input)).toArray(), output),
  ],
  [
    /^append_assistant_transcript$/,
    ({ input, output }) =>
      expectSame(appendAssistantTranscript(Entries.of(), strictly(assistantMessage, input)).toArray(), output),
  ],
  [
    /^append_transcript$/,
    ({ input, output }) => {
      let transcript: Transcript = Entries.of()
      for (let i = 0; i < number(at(input, 'append_count')); i++) transcript = appendTranscript(transcript, String(i))
      return expectSame({ len: transcript.length, first: transcript.at(0), last: transcript.at(-1) }, output)
    },
  ],
  [
    /^build_env_state$/,
    ({ input, output }) => {
      if (process.platform !== 'linux') return undefined
      const longer = longerBy(input)
      const { env_state } = environmentOf({
        platform: process.platform,
        cwd: () => longer.apply(text(at(input, 'cwd'))),
      })
      const given = env_state?.current_working_directory ?? null
      const state = { ...env_state, current_working_directory: given === null ? null : longer.undo(given) }
      return expectSame(
        has(output, 'cwd_bytes') ? { env_state: state, cwd_bytes: byteLength(given ?? '') } : { env_state: state },
        output,
      )
    },
  ],
  [
    /^TokenCounter::count_tokens$/,
    ({ input, output }) => expectSame(budget.countTokens(number(at(input, 'byte_len'))), output),
  ],
  [/^TokenCounter::token_to_chars$/, ({ input, output }) => expectSame(budget.tokensToChars(number(input)), output)],
  [/^calculate_value_char_count$/, ({ input, output }) => expectSame(budget.valueChars(input), output)],
  [
    /^UserMessage::char_count$/,
    ({ input, output }) => expectSame(budget.userChars(strictly(userMessage, input)), output),
  ],
  [
    /^AssistantMessage::char_count$/,
    ({ input, output }) => expectSame(budget.assistantChars(strictly(assistantMessage, input)), output),
  ],
  [/^sanitize_unicode_tags$/, ({ input, output }) => expectSame(sanitizeUnicodeTags(text(input)), output)],
  [
    /^truncate_message$/,
    ({ input, output }) => expectSame(truncateDescription(text(at(input, 's')), number(at(input, 'max_len'))), output),
  ],
  [/^get_previous_tag$/, ({ input, output }) => expectSame(previousTag(text(input)), output)],
  [
    /^calc_max_context_files_size$/,
    ({ input, output }) =>
      expectSame(budget.calcMaxContextFilesSize(input === null ? undefined : number(input)), output),
  ],
  [
    /^drop_matched_context_files$/,
    ({ input, output }) => {
      const files = items(at(input, 'files')).map((file) => {
        const [path = null, size = null] = items(file)
        return { path: text(path), content: 'x'.repeat(number(size)) }
      })
      const { sorted, dropped } = budget.dropMatchedContextFiles(files, number(at(input, 'limit')))
      return expectSame(
        { order_after_sort: sorted.map(({ path }) => path), dropped: dropped.map(({ path }) => path) },
        output,
      )
    },
  ],
  [
    /^format_hook_context$/,
    ({ input, output }) => {
      const results = items(at(input, 'results')).map((result) => {
        const [trigger = null, exitCode = null, texts = null] = items(result)
        return { trigger: text(trigger), exitCode: number(exitCode), output: text(texts) }
      })
      return expectSame(masked(hookContext(results, text(at(input, 'trigger'))) ?? null), masked(output))
    },
  ],
  [
    /^document_round_trip$/,
    ({ input, output }) => {
      const given = new JsonNumber(text(input))
      const spelled = (value: number | JsonNumber | undefined) => (value === undefined ? null : writeJson(value))
      return expectSame(
        { as_stored: spelled(storedNumber(given)), after_document_round_trip: spelled(numberAfterDocument(given)) },
        output,
      )
    },
  ],
  [
    /^ToolOrigin$/,
    ({ input, output }) => {
      const origin = text(input)
      return expectSame(
        { display: originLabel(origin), reserialized: origin, is_native: isNativeOrigin(origin) },
        output,
      )
    },
  ],
  [
    /^FileLineTracker$/,
    ({ input, output }) => {
      const tracker = readAs(messageCodec.fileLineTracker, writeJson(input), { mode: 'strict' })
      if (!tracker.ok) return tracker.reason
      return expectSame(
        { lines_by_user: linesByUser(tracker.value), lines_by_agent: linesByAgent(tracker.value) },
        output,
      )
    },
  ],
]

/** Masks error texts, which differ from the original's. */
function masked(block: JsonValue): JsonValue {
  return block === null
    ? null
    : text(block).replace(/^(--- CONTEXT ENTRY BEGIN ---\n).*?( for the entire conversation)?\n\n/, '$1…$2\n\n')
}

/** The directory of the recording, replaced by `/work-dir`, was longer by some bytes. */
function longerBy(input: JsonValue) {
  const missing = has(input, 'cwd_bytes') ? number(at(input, 'cwd_bytes')) - byteLength(text(at(input, 'cwd'))) : 0
  const longer = `/work-dir${'x'.repeat(missing)}`
  return {
    apply: (path: string) => path.replace('/work-dir', longer),
    undo: (path: string) => path.replace(longer, '/work-dir'),
  }
}

/** Tools by name, as in the vectors. */
function rendered(message: UserInputMessage): unknown {
  const context = message.user_input_message_context
  const tools = context.tools?.map((tool) => tool.ToolSpecification.name) ?? null
  return { ...message, user_input_message_context: { ...context, tools } }
}

/** The pieces of a request in the order in which the model gets them. Their texts make up the whole. */
import { TRUNCATED_SUFFIX, USER_ENTRY_END_HEADER, USER_ENTRY_START_HEADER } from '../../../conversation/limits.ts'
import type { UserMessage } from '../../../conversation/message.ts'
import { contentWithContext, promptOf, toolUseResultsOf } from '../../../conversation/message-text.ts'
import type { HistoryEntry, Tools } from '../../../conversation/record.ts'
import {
  CONTEXT_ACKNOWLEDGEMENT,
  type ContextFile,
  contextMessage,
  intoAssistantResponse,
  SUMMARY_PREAMBLE,
  summaryContext,
} from '../../../conversation/request.ts'
import type { ConversationState } from '../../../conversation/state.ts'
import { type JsonValue, plainJson } from '../../../lib/json/lossless.ts'
import type { RequestPart, RequestPartKind } from '../../../model/api/state.ts'

/** Characters of one part. */
const MAX_PART_LENGTH = 100_000
/** Characters of the history that are shown whole, from its end. */
const MAX_HISTORY_LENGTH = 1_000_000
const OLD_PART_LENGTH = 400

/** Messages and tools are JSON, whatever their types call themselves. */
const toJson = (value: unknown): string => JSON.stringify(plainJson(value as JsonValue))

function createPart(
  kind: RequestPartKind,
  text: string,
  more: Partial<RequestPart> = {},
  maxLength = MAX_PART_LENGTH,
): RequestPart {
  const truncated = text.endsWith(TRUNCATED_SUFFIX) ? ({ truncated: true } as const) : {}
  return { kind, text: text.slice(0, maxLength), bytes: Buffer.byteLength(text), ...truncated, ...more }
}

export function contextParts(
  state: ConversationState,
  files: readonly ContextFile[],
  elsewhere: readonly { readonly path: string; readonly bytes: number }[],
): readonly RequestPart[] {
  const parts = [
    ...(state.latest_summary ? [createPart('summary', summaryContext(state.latest_summary[0], SUMMARY_PREAMBLE))] : []),
    ...files.map(({ path, content }) => createPart('context_file', `[${path}]\n${content}\n`, { name: path })),
    ...elsewhere.map(({ path, bytes }) => createPart('context_file', '', { name: path, bytes })),
  ]
  const isSent = elsewhere.length > 0 || contextMessage(state, { files }) !== undefined
  return isSent ? [...parts, createPart('acknowledgement', CONTEXT_ACKNOWLEDGEMENT)] : []
}

/** @param before how many entries are no longer sent */
export function historyParts(history: Iterable<HistoryEntry>, before: number): readonly RequestPart[] {
  let remaining = MAX_HISTORY_LENGTH
  const entries = Array.from(history).map((entry, at) => [entry, String(before + at + 1)] as const)
  return entries
    .toReversed()
    .map(([entry, name]) => {
      const parts = entryParts(entry, name, remaining > 0 ? MAX_PART_LENGTH : OLD_PART_LENGTH)
      remaining -= parts.reduce((sum, { text }) => sum + text.length, 0)
      return parts
    })
    .toReversed()
    .flat()
}

function entryParts({ user, assistant }: HistoryEntry, name: string, maxLength: number): readonly RequestPart[] {
  const userText = contentWithContext(user)
  const results = toolUseResultsOf(user)
  const { content, tool_uses } = intoAssistantResponse(assistant)
  const uses = tool_uses ? `\n${toJson(tool_uses)}` : ''
  return [
    ...(userText === '' && results ? [] : [createPart('history_user', userText, { name }, maxLength)]),
    ...(results ? [createPart('tool_results', toJson(results), { name }, maxLength)] : []),
    createPart('history_assistant', content + uses, { name }, maxLength),
  ]
}

/** The message that is sent now, taken apart at the places where its pieces were put together. */
export function inputParts(message: UserMessage, tools: Tools): readonly RequestPart[] {
  const fullText = contentWithContext(message)
  const prompt = promptOf(message)
  const results = toolUseResultsOf(message)
  const at = prompt === undefined ? -1 : fullText.lastIndexOf(USER_ENTRY_START_HEADER)
  const before = prompt === undefined ? fullText : at < 0 ? '' : fullText.slice(0, at)
  const inside = at < 0 ? fullText : fullText.slice(at + USER_ENTRY_START_HEADER.length)
  const { env_state } = message.env_context
  return [
    ...surroundingParts(before, message.additional_context),
    ...(at < 0 ? [] : [createPart('marker', USER_ENTRY_START_HEADER)]),
    ...(prompt === undefined ? [] : [createPart('prompt', at < 0 ? inside : prompt)]),
    ...(at < 0 ? [] : [createPart('marker', USER_ENTRY_END_HEADER)]),
    ...(results ? [createPart('tool_results', toJson(results))] : []),
    ...(message.images?.length ? [createPart('images', '', { name: String(message.images.length) })] : []),
    ...(env_state ? [createPart('environment', toJson(env_state))] : []),
    ...Array.from(tools, ([origin, list]) => createPart('tools', toJson(list), { name: origin })),
  ]
}

function surroundingParts(before: string, additional: string): readonly RequestPart[] {
  const at = additional === '' ? -1 : before.indexOf(additional)
  const time = at < 0 ? before : before.slice(0, at)
  return [
    ...(time === '' ? [] : [createPart('time_header', time)]),
    ...(at < 0 ? [] : [createPart('additional_context', before.slice(at))]),
  ]
}

/** The pieces of a request in the order in which the model gets them. Their texts make up the whole. */
import { TRUNCATED_SUFFIX, USER_ENTRY_END_HEADER, USER_ENTRY_START_HEADER } from '../../../conversation/limits.ts'
import type { UserMessage } from '../../../conversation/message.ts'
import type { HistoryEntry, Tools } from '../../../conversation/record.ts'
import { contentWithContext, promptOf, toolUseResultsOf } from '../../../conversation/render.ts'
import {
  CONTEXT_ACKNOWLEDGEMENT,
  type ContextFile,
  contextMessage,
  SUMMARY_PREAMBLE,
  summaryContext,
} from '../../../conversation/request/context.ts'
import { intoAssistantResponse } from '../../../conversation/request/send.ts'
import type { ConversationState } from '../../../conversation/state.ts'
import { type JsonValue, plainJson } from '../../../lib/json/lossless.ts'
import type { RequestPart, RequestPartKind } from '../../../model/api/state.ts'

/** Characters of one part. */
const LONGEST = 100_000
/** Characters of the history that are shown whole, from its end. */
const SHOWN = 1_000_000
const FIRST_LINES = 400

/** Messages and tools are JSON, whatever their types call themselves. */
const json = (value: unknown): string => JSON.stringify(plainJson(value as JsonValue))

function part(kind: RequestPartKind, text: string, more: Partial<RequestPart> = {}, longest = LONGEST): RequestPart {
  const truncated = text.endsWith(TRUNCATED_SUFFIX) ? ({ truncated: true } as const) : {}
  return { kind, text: text.slice(0, longest), bytes: Buffer.byteLength(text), ...truncated, ...more }
}

export function contextParts(
  state: ConversationState,
  files: readonly ContextFile[],
  elsewhere: readonly { readonly path: string; readonly bytes: number }[],
): readonly RequestPart[] {
  const parts = [
    ...(state.latest_summary ? [part('summary', summaryContext(state.latest_summary[0], SUMMARY_PREAMBLE))] : []),
    ...files.map(({ path, content }) => part('context_file', `[${path}]\n${content}\n`, { name: path })),
    ...elsewhere.map(({ path, bytes }) => part('context_file', '', { name: path, bytes })),
  ]
  const isSent = elsewhere.length > 0 || contextMessage(state, { files }) !== undefined
  return isSent ? [...parts, part('acknowledgement', CONTEXT_ACKNOWLEDGEMENT)] : []
}

/** @param before how many entries are no longer sent */
export function historyParts(history: Iterable<HistoryEntry>, before: number): readonly RequestPart[] {
  let room = SHOWN
  const entries = Array.from(history).map((entry, at) => [entry, String(before + at + 1)] as const)
  return entries
    .toReversed()
    .map(([entry, name]) => {
      const parts = entryParts(entry, name, room > 0 ? LONGEST : FIRST_LINES)
      room -= parts.reduce((sum, { text }) => sum + text.length, 0)
      return parts
    })
    .toReversed()
    .flat()
}

function entryParts({ user, assistant }: HistoryEntry, name: string, longest: number): readonly RequestPart[] {
  const said = contentWithContext(user)
  const results = toolUseResultsOf(user)
  const { content, tool_uses } = intoAssistantResponse(assistant)
  const uses = tool_uses ? `\n${json(tool_uses)}` : ''
  return [
    ...(said === '' && results ? [] : [part('history_user', said, { name }, longest)]),
    ...(results ? [part('tool_results', json(results), { name }, longest)] : []),
    part('history_assistant', content + uses, { name }, longest),
  ]
}

/** The message that is sent now, taken apart at the places where its pieces were put together. */
export function inputParts(message: UserMessage, tools: Tools): readonly RequestPart[] {
  const whole = contentWithContext(message)
  const prompt = promptOf(message)
  const results = toolUseResultsOf(message)
  const at = prompt === undefined ? -1 : whole.lastIndexOf(USER_ENTRY_START_HEADER)
  const before = prompt === undefined ? whole : at < 0 ? '' : whole.slice(0, at)
  const inside = at < 0 ? whole : whole.slice(at + USER_ENTRY_START_HEADER.length)
  const { env_state } = message.env_context
  return [
    ...aroundParts(before, message.additional_context),
    ...(at < 0 ? [] : [part('marker', USER_ENTRY_START_HEADER)]),
    ...(prompt === undefined ? [] : [part('prompt', at < 0 ? inside : prompt)]),
    ...(at < 0 ? [] : [part('marker', USER_ENTRY_END_HEADER)]),
    ...(results ? [part('tool_results', json(results))] : []),
    ...(message.images?.length ? [part('images', '', { name: String(message.images.length) })] : []),
    ...(env_state ? [part('environment', json(env_state))] : []),
    ...Array.from(tools, ([origin, list]) => part('tools', json(list), { name: origin })),
  ]
}

function aroundParts(before: string, additional: string): readonly RequestPart[] {
  const at = additional === '' ? -1 : before.indexOf(additional)
  const time = at < 0 ? before : before.slice(0, at)
  return [
    ...(time === '' ? [] : [part('time_header', time)]),
    ...(at < 0 ? [] : [part('additional_context', before.slice(at))]),
  ]
}

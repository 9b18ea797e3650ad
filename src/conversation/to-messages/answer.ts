/** The half of an entry that comes from the model: its words, then the tools it asks for. */

import { isSameJson } from '../../lib/json/compare.ts'
import { type Fields, isObject, listOf, stringOf } from '../../lib/unknown-values.ts'
import type { ToolCall } from '../../model/normalized.ts'
import { type EntryDraft, metadataField } from './entry-draft.ts'
import { exactText } from './exact-text.ts'
import type { ParsedEntry } from './parse-entry.ts'

/** Words in one message, which is left out where there are none; each tool in one of its own. */
export function answerDrafts({ answer, request, exact }: ParsedEntry): readonly EntryDraft[] {
  const { tag, body } = answer
  const shared = {
    message_id: body['message_id'],
    model: request?.['model_id'],
    request: request && requestFields(request),
  }
  if (tag !== 'Response' && tag !== 'ToolUse')
    return [
      {
        side: 'answer',
        role: 'meta',
        source_type: 'meta',
        payload_type: tag,
        segments: [],
        ...metadataField({ ...shared, ...body }, { event_kind: tag }),
      },
    ]
  const text = stringOf(body['content']) ?? ''
  const textDrafts: readonly EntryDraft[] =
    text === ''
      ? []
      : [
          {
            side: 'answer',
            role: 'assistant',
            source_type: 'message',
            payload_type: tag,
            segments: [{ channel: 'output', type: 'text', format: 'output_text', text }],
            ...metadataField({ ...shared, ...(tag === 'ToolUse' && { thinking: true }) }),
          },
        ]
  const uses = tag === 'ToolUse' ? listOf(body['tool_uses']).filter(isObject) : []
  return [
    ...textDrafts,
    ...uses.map((use, at) => useDraft(tag, use, at === 0 && textDrafts.length === 0 ? shared : {}, exact === true)),
  ]
}

/** Without the pauses between its pieces, which are many and mean little: their number stays. */
export function requestFields(request: Fields): Fields {
  if (!('time_between_chunks' in request)) return request
  const { time_between_chunks, ...rest } = request
  return { ...rest, chunks: listOf(time_between_chunks).length }
}

function useDraft(tag: string, use: Fields, shared: Fields, exact: boolean): EntryDraft {
  const { args, orig_args } = use
  const call = toToolCall(use, exact)
  return {
    side: 'answer',
    role: 'tool',
    source_type: 'tool_call',
    payload_type: tag,
    segments: [],
    tool_call: call,
    ...metadataField({
      ...shared,
      ...(use['orig_name'] !== use['name'] && { orig_name: use['orig_name'], sent_name: use['name'] }),
      ...(orig_args !== undefined && !isSameJson(orig_args, args) && { orig_args }),
    }),
  }
}

/** The tools that an answer asks for. */
export const requestedCalls = ({ answer, exact }: ParsedEntry): readonly ToolCall[] =>
  answer.tag === 'ToolUse'
    ? listOf(answer.body['tool_uses'])
        .filter(isObject)
        .map((use) => toToolCall(use, exact === true))
    : []

const toToolCall = (use: Fields, exact: boolean): ToolCall => ({
  call_id: stringOf(use['id']) ?? null,
  name: nameOf(use),
  status: 'pending',
  arguments: exactText(use['args'], exact),
  ...(isObject(use['args']) && { arguments_json: use['args'] }),
})

/** What a tool is called on the wire once the program no longer knows it. */
const UNKNOWN_TOOL = 'dummy'

function nameOf(use: Fields): string | null {
  const sent = stringOf(use['name']) ?? null
  return sent === UNKNOWN_TOOL ? (stringOf(use['orig_name']) ?? sent) : sent
}

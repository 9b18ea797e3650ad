/** A tool call with its result, as one card shows it. */
import type { MediaItem, ToolCallItem } from '../../../model/api/message.ts'
import { diffOfToolCall } from '../../../model/files/change.ts'
import { findTouchedFiles } from '../../../model/files/touched.ts'
import { summarizeToolCall, toSingleLine } from '../../../model/gist.ts'
import type { NormalizedMessage, ToolCall } from '../../../model/normalized.ts'
import { messageAddress, type TextCuts } from './cut.ts'
import type { BodyAtOffset, CallPairs } from './joined.ts'
import { toMediaItem } from './media.ts'

const MAX_SUMMARY_LENGTH = 240
const MAX_FILES = 50
const MAX_DIFF_LENGTH = 60_000

export function toToolCallItem(
  { body, offset }: BodyAtOffset,
  { results, calls }: CallPairs,
  cuts: TextCuts,
  { inline = false }: { readonly inline?: boolean },
): ToolCallItem | undefined {
  if (body.kind === 'gone' || !body.message.tool_call) return undefined
  const { message, known } = body
  const call = message.tool_call as ToolCall
  const asCall = calls.get(offset)
  const head = {
    call_id: call.call_id,
    name: call.name,
    ...(call.namespace !== undefined && { namespace: call.namespace }),
    gist: toSingleLine(summarizeToolCall(call)).slice(0, MAX_SUMMARY_LENGTH),
  }
  // The card of the call shows all of it.
  if (asCall) return { ...head, status: call.status, joined: asCall.body.known.id }
  const result = results.get(offset)
  const answer = result?.body.kind === 'body' ? result.body.message : undefined
  const media = answer ? imagesOf(answer, known.session, inline) : []
  const end = answer?.tool_call ?? call
  return {
    ...head,
    status: end.status,
    ...(end.source_status !== undefined && { source_status: end.source_status }),
    ...callFields(call, cuts),
    ...resultFields(end, cuts, answer && messageAddress(known.session, answer.id)),
    ...changeFields(message),
    ...(result && { joined: result.body.known.id }),
    ...(media.length > 0 && { media }),
  }
}

function callFields(call: ToolCall, cuts: TextCuts): Partial<ToolCallItem> {
  const args = cuts.value('tool_call.arguments_json', call.arguments_json, call.arguments)
  const input = cuts.value('tool_call.input_json', call.input_json, call.input)
  return {
    ...(call.arguments !== undefined && { arguments: cuts.text('tool_call.arguments', call.arguments) }),
    ...(args && { arguments_json: args }),
    ...(call.input !== undefined && { input: cuts.text('tool_call.input', call.input) }),
    ...(input && { input_json: input }),
  }
}

function resultFields(call: ToolCall, cuts: TextCuts, address: string | undefined): Partial<ToolCallItem> {
  const json = cuts.value('tool_call.output_json', call.output_json, call.output, address)
  return {
    ...(call.output !== undefined && { output: cuts.text('tool_call.output', call.output, address) }),
    ...(json && { output_json: json }),
    ...(call.exit_code !== undefined && { exit_code: call.exit_code }),
    ...(call.duration_ms !== undefined && { duration_ms: call.duration_ms }),
  }
}

/** Results repeat the arguments: what they change was told by the call. */
function changeFields(message: NormalizedMessage): Partial<ToolCallItem> {
  const asCall: NormalizedMessage = { ...message, source_type: 'tool_call' }
  const files = findTouchedFiles(asCall).slice(0, MAX_FILES)
  if (files.length === 0) return {}
  const parts = files.flatMap(({ path, how }) => {
    const change = how === 'named' && files.length > 1 ? undefined : diffOfToolCall(asCall, path)
    return change === undefined ? [] : `--- ${path}\n+++ ${path}\n${change}`
  })
  const diff = parts.join('\n')
  return { files, ...(diff !== '' && diff.length <= MAX_DIFF_LENGTH && { diff }) }
}

const imagesOf = (message: NormalizedMessage, session: string, inline: boolean): readonly MediaItem[] =>
  message.segments.flatMap(({ media }, segment) =>
    media ? toMediaItem(media, { session, message: message.id, segment, inline }) : [],
  )

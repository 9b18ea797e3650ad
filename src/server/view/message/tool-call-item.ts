/** A tool call with its result, as one card shows it. */
import type { MediaItem, ToolCallItem } from '../../../model/api/message.ts'
import { fileChange } from '../../../model/files/change.ts'
import { filesTouched } from '../../../model/files/touched.ts'
import { gistOf, oneLine } from '../../../model/gist.ts'
import type { NormalizedMessage, ToolCall } from '../../../model/normalized.ts'
import { addressOf, type Cuts } from './cut.ts'
import type { Joined, Placed } from './joined.ts'
import { mediaItem } from './media.ts'

const LONGEST_GIST = 240
const MOST_FILES = 50
const LONGEST_DIFF = 60_000

export function toolCallItem(
  { body, offset }: Placed,
  { results, calls }: Joined,
  cuts: Cuts,
  { inline = false }: { readonly inline?: boolean },
): ToolCallItem | undefined {
  if (body.kind === 'gone' || !body.message.tool_call) return undefined
  const { message, known } = body
  const call = message.tool_call as ToolCall
  const asked = calls.get(offset)
  const head = {
    call_id: call.call_id,
    name: call.name,
    ...(call.namespace !== undefined && { namespace: call.namespace }),
    gist: oneLine(gistOf(call)).slice(0, LONGEST_GIST),
  }
  // The card of the call shows all of it.
  if (asked) return { ...head, status: call.status, joined: asked.body.known.id }
  const result = results.get(offset)
  const answer = result?.body.kind === 'body' ? result.body.message : undefined
  const media = answer ? imagesOf(answer, known.session, inline) : []
  const end = answer?.tool_call ?? call
  return {
    ...head,
    status: end.status,
    ...(end.source_status !== undefined && { source_status: end.source_status }),
    ...asking(call, cuts),
    ...answering(end, cuts, answer && addressOf(known.session, answer.id)),
    ...changes(message),
    ...(result && { joined: result.body.known.id }),
    ...(media.length > 0 && { media }),
  }
}

function asking(call: ToolCall, cuts: Cuts): Partial<ToolCallItem> {
  const args = cuts.value('tool_call.arguments_json', call.arguments_json, call.arguments)
  const input = cuts.value('tool_call.input_json', call.input_json, call.input)
  return {
    ...(call.arguments !== undefined && { arguments: cuts.text('tool_call.arguments', call.arguments) }),
    ...(args && { arguments_json: args }),
    ...(call.input !== undefined && { input: cuts.text('tool_call.input', call.input) }),
    ...(input && { input_json: input }),
  }
}

function answering(call: ToolCall, cuts: Cuts, address: string | undefined): Partial<ToolCallItem> {
  const json = cuts.value('tool_call.output_json', call.output_json, call.output, address)
  return {
    ...(call.output !== undefined && { output: cuts.text('tool_call.output', call.output, address) }),
    ...(json && { output_json: json }),
    ...(call.exit_code !== undefined && { exit_code: call.exit_code }),
    ...(call.duration_ms !== undefined && { duration_ms: call.duration_ms }),
  }
}

/** Results repeat the arguments: what they change was told by the call. */
function changes(message: NormalizedMessage): Partial<ToolCallItem> {
  const asked: NormalizedMessage = { ...message, source_type: 'tool_call' }
  const files = filesTouched(asked).slice(0, MOST_FILES)
  if (files.length === 0) return {}
  const parts = files.flatMap(({ path, how }) => {
    const change = how === 'named' && files.length > 1 ? undefined : fileChange(asked, path)
    return change === undefined ? [] : `--- ${path}\n+++ ${path}\n${change}`
  })
  const diff = parts.join('\n')
  return { files, ...(diff !== '' && diff.length <= LONGEST_DIFF && { diff }) }
}

const imagesOf = (message: NormalizedMessage, session: string, inline: boolean): readonly MediaItem[] =>
  message.segments.flatMap(({ media }, segment) =>
    media ? mediaItem(media, { session, message: message.id, segment, inline }) : [],
  )

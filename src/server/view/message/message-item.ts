/** A message as the API tells it: sanitised, without ciphertext, long texts cut. */
import type { LoadedMessage } from '../../../app.ts'
import type {
  MediaItem,
  MessageFlags,
  MessageItem,
  ReasoningItem,
  SegmentItem,
  Showing,
  ToolCallItem,
} from '../../../model/api/message.ts'
import type { Metadata } from '../../../model/metadata.ts'
import type { MessageSegment, NormalizedMessage, ToolCall } from '../../../model/normalized.ts'
import { summarizeToolCall, toSingleLine } from '../../../model/tool-summary.ts'
import { diffOfToolCall, findTouchedFiles } from '../../../model/touched-files.ts'
import { renderHtml, renderSpecHtml } from '../render-html.ts'
import { messageAddress, TextCuts } from './cut-texts.ts'
import { toMediaItem } from './media.ts'
import type { BodyAtOffset, CallPairs } from './pair-calls.ts'

export interface MessageItemOptions {
  readonly variant?: 'original' | 'sanitized'
  /** Images as `data_uri` too. */
  readonly inline?: boolean
  /** Nothing is cut. */
  readonly whole?: boolean
  isRolledBack(message: string): boolean
}

export function toMessageItem(
  { body, offset }: BodyAtOffset,
  pairs: CallPairs,
  options: MessageItemOptions,
): MessageItem {
  const { known } = body
  const head = {
    id: known.id,
    offset,
    timestamp: known.timestamp,
    role: known.role,
    source_type: known.source_type,
  }
  const flags = toFlags(body, options)
  if (body.kind === 'gone') return { ...head, show: classifyMissing(body), flags, segments: [], gone: body.reason }
  const { message } = body
  const { encrypted_content, ...raw } = message.raw
  const cuts = new TextCuts(messageAddress(known.session, known.id), options.whole === true)
  const reasoning = toReasoningItem(message, cuts)
  const tool = toToolCallItem({ body, offset }, pairs, cuts, options)
  const metadata = cuts.value('metadata', otherMetadata(message))
  return {
    ...head,
    show: classifyMessage(message, body, pairs.calls.has(offset)),
    flags,
    segments: message.segments.map((segment, at) => toSegmentItem(message, known.session, segment, at, cuts, options)),
    ...(tool && { tool_call: tool }),
    ...(reasoning && { reasoning }),
    raw,
    ...(metadata && { metadata }),
    ...(cuts.omitted.length > 0 && { left_out: cuts.omitted }),
  }
}

function toSegmentItem(
  message: NormalizedMessage,
  session: string,
  segment: MessageSegment,
  at: number,
  cuts: TextCuts,
  { variant, inline = false }: MessageItemOptions,
): SegmentItem {
  const { channel, type, format, text, media, annotations } = segment
  const displayed = text === undefined ? undefined : cuts.text(`segments.${at}.text`, text)
  const isSanitized = variant === 'sanitized'
  return {
    channel,
    type,
    format,
    ...(displayed !== undefined &&
      (isSanitized ? { text: renderSpecHtml(displayed) } : { text: displayed, html: renderHtml(displayed) })),
    ...(media && { media: toMediaItem(media, { session, message: message.id, segment: at, inline }) }),
    // They count places in the text as it was said.
    ...(annotations && !isSanitized && { annotations }),
  }
}

/** The length of a ciphertext is told, and its hash; itself it never leaves this function. */
function toReasoningItem({ raw, metadata }: NormalizedMessage, cuts: TextCuts): ReasoningItem | undefined {
  const texts = [metadata?.['reasoning_summary'], metadata?.['reasoning_text']].filter(
    (one): one is string => typeof one === 'string' && one.trim() !== '',
  )
  const reasoningText = texts.join('\n\n')
  const sha256 = raw.encrypted_content_sha256
  if (reasoningText === '' && sha256 === undefined) return undefined
  const text = reasoningText === '' ? undefined : cuts.text('reasoning.text', reasoningText)
  return {
    ...(text !== undefined && { text, html: renderHtml(text) }),
    ...(sha256 !== undefined && { encrypted: { sha256, bytes: Buffer.byteLength(raw.encrypted_content ?? '') } }),
  }
}

const SEPARATE_METADATA: ReadonlySet<string> = new Set(['reasoning_summary', 'reasoning_text', 'x_conv'])

function otherMetadata({ metadata }: NormalizedMessage): Metadata | undefined {
  const rest = Object.entries(metadata ?? {}).filter(([key]) => !SEPARATE_METADATA.has(key))
  return rest.length > 0 ? Object.fromEntries(rest) : undefined
}

function toFlags(body: LoadedMessage, { isRolledBack }: MessageItemOptions): MessageFlags {
  const { known } = body
  const metadata = body.kind === 'body' ? body.message.metadata : undefined
  return {
    ...(known.duplicate && { duplicate: true }),
    ...(known.replayed && { replayed: true }),
    ...(known.injected && { injected: true }),
    ...(known.error && { error: true }),
    ...(known.image && { image: true }),
    ...(isRolledBack(known.id) && { rolled_back: true }),
    ...(metadata?.['tangent'] === true && { tangent: true }),
    ...(metadata?.['valid_range'] === 'cut' && { cut: true }),
    ...(metadata?.['pending'] === true && { pending: true }),
  }
}

function classifyMessage(message: NormalizedMessage, { known }: LoadedMessage, isAnswered: boolean): Showing {
  const { role, source_type, metadata, raw, tool_call } = message
  if (known.duplicate || known.replayed) return 'copy'
  if (source_type === 'session') return 'session'
  if (isAnswered) return 'joined'
  if (tool_call) return 'tool'
  if (metadata?.['kind'] === 'summary') return 'summary'
  if (metadata?.['reasoning_summary'] !== undefined || metadata?.['reasoning_text'] !== undefined) return 'reasoning'
  if (role === 'assistant') return 'answer'
  if (role === 'user') return known.injected ? 'context' : 'prompt'
  if (role === 'system') return 'context'
  if (raw.private) return 'reasoning'
  // Of some logs only events are left: where nothing else tells the same, they are what was said.
  if (metadata?.['event_kind'] === 'user_message') return 'prompt'
  return metadata?.['event_kind'] === 'agent_message' ? 'answer' : 'event'
}

function classifyMissing({ known }: LoadedMessage): Showing {
  if (known.duplicate || known.replayed) return 'copy'
  if (known.source_type === 'session') return 'session'
  if (known.role === 'tool') return 'tool'
  if (known.role === 'assistant') return 'answer'
  if (known.role === 'user') return known.injected ? 'context' : 'prompt'
  return known.role === 'system' ? 'context' : 'event'
}

/** A tool call with its result, as one card shows it. */
const MAX_SUMMARY_LENGTH = 240
const MAX_FILES = 50
const MAX_DIFF_LENGTH = 60_000

function toToolCallItem(
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

/** A message as the API returns it: sanitised, without ciphertext, long texts cut, a call together with its result. */
import type { LoadedMessage } from '../../app.ts'
import { sanitizeText } from '../../lib/markup/html.ts'
import type {
  MediaItem,
  MessageFlags,
  MessageItem,
  ReasoningItem,
  SegmentItem,
  Showing,
  ToolCallItem,
} from '../../model/api/message.ts'
import { classify, type MessageKind, promptMarksOf, reasoningTextOf } from '../../model/classify.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { MessageSegment, NormalizedMessage, Role, ToolCall } from '../../model/normalized.ts'
import { NO_SESSION_FACTS, UNREPEATED_EVENT } from '../../model/session-facts.ts'
import { summarizeToolCall, toSingleLine } from '../../model/tool-summary.ts'
import { diffOfToolCall, findTouchedFiles } from '../../model/touched-files.ts'
import { messageAddress, renderHtml, TextCuts, toMediaItem } from './message-content.ts'
import type { BodyAtOffset, CallPairs } from './message-window.ts'

export interface MessageItemOptions {
  readonly variant?: 'original' | 'sanitized'
  /** Images as `data_uri` too. */
  readonly inline?: boolean
  /** Nothing is cut. */
  readonly whole?: boolean
  isRolledBack(message: string): boolean
  isDropped?(message: string): boolean
  /** Id of the sub-agent's session that a call started. */
  childOf?(call: ToolCall, result: NormalizedMessage | undefined): string | undefined
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
  if (body.kind === 'gone') return { ...head, show: showingOfMissing(body), flags, segments: [], gone: body.reason }
  const { message } = body
  const { encrypted_content, ...raw } = message.raw
  const cuts = new TextCuts(messageAddress(known.session, known.id), options.whole === true)
  const reasoning = toReasoningItem(message, cuts)
  const tool = toToolCallItem({ body, offset }, pairs, cuts, options)
  const metadata = cuts.value('metadata', otherMetadata(message))
  return {
    ...head,
    show: showingOf(message, body, pairs.calls.has(offset)),
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
      (isSanitized ? { text: sanitizeText(displayed) } : { text: displayed, html: renderHtml(displayed) })),
    ...(media && { media: toMediaItem(media, { session, message: message.id, segment: at }, inline) }),
    // Their offsets are those of the original text.
    ...(annotations && !isSanitized && { annotations }),
  }
}

/** Of ciphertext only its hash and length leave this function. */
function toReasoningItem(message: NormalizedMessage, cuts: TextCuts): ReasoningItem | undefined {
  const { encrypted_content_sha256: sha256, encrypted_content = '' } = message.raw
  const fullText = reasoningTextOf(message)
  if (fullText === undefined && sha256 === undefined) return undefined
  const text = fullText === undefined ? undefined : cuts.text('reasoning.text', fullText)
  return {
    ...(text !== undefined && { text, html: renderHtml(text) }),
    ...(sha256 !== undefined && { encrypted: { sha256, bytes: Buffer.byteLength(encrypted_content) } }),
  }
}

const SEPARATE_METADATA: ReadonlySet<string> = new Set(['reasoning_summary', 'reasoning_text', 'x_conv'])

function otherMetadata({ metadata }: NormalizedMessage): Metadata | undefined {
  const rest = Object.entries(metadata ?? {}).filter(([key]) => !SEPARATE_METADATA.has(key))
  return rest.length > 0 ? Object.fromEntries(rest) : undefined
}

function toFlags(body: LoadedMessage, { isRolledBack, isDropped }: MessageItemOptions): MessageFlags {
  const { known } = body
  const marks = body.kind === 'body' ? promptMarksOf(body.message, NO_SESSION_FACTS) : []
  return {
    ...(known.duplicate && { duplicate: true }),
    ...(known.replayed && { replayed: true }),
    ...(known.injected && { injected: true }),
    ...(known.error && { error: true }),
    ...(known.image && { image: true }),
    ...(isRolledBack(known.id) && { rolled_back: true }),
    ...((marks.includes('tangent') || (body.kind === 'body' && body.message.metadata?.aside === true)) && {
      tangent: true,
    }),
    ...((marks.includes('cut') || isDropped?.(known.id)) && { cut: true }),
    ...(marks.includes('pending') && { pending: true }),
  }
}

const SHOWINGS: { readonly [kind in MessageKind]: Showing } = {
  prompt: 'prompt',
  answer: 'answer',
  reasoning: 'reasoning',
  call: 'tool',
  result: 'tool',
  summary: 'summary',
  instruction: 'context',
  context: 'context',
  session: 'session',
  event: 'event',
}

function showingOf(message: NormalizedMessage, { known }: LoadedMessage, isAnswered: boolean): Showing {
  if (known.duplicate || known.replayed) return 'copy'
  const { kind } = classify(message)
  if (kind === 'session') return 'session'
  if (isAnswered) return 'joined'
  if (message.tool_call) return 'tool'
  if (kind !== 'summary' && reasoningTextOf(message) !== undefined) return 'reasoning'
  if (kind !== 'event') return SHOWINGS[kind]
  if (message.raw.private) return 'reasoning'
  // In a log that was trimmed to its events, an event that repeats nothing is a prompt or an answer.
  const { kind: spoken } = classify(message, UNREPEATED_EVENT)
  return spoken === 'prompt' || spoken === 'answer' ? spoken : 'event'
}

const MISSING_SHOWINGS: { readonly [role in Role]: Showing } = {
  user: 'prompt',
  assistant: 'answer',
  tool: 'tool',
  system: 'context',
  meta: 'event',
}

function showingOfMissing({ known }: LoadedMessage): Showing {
  if (known.duplicate || known.replayed) return 'copy'
  if (known.source_type === 'session') return 'session'
  return known.role === 'user' && known.injected ? 'context' : MISSING_SHOWINGS[known.role]
}

const MAX_SUMMARY_LENGTH = 240
const MAX_FILES = 50
const MAX_DIFF_LENGTH = 60_000

function toToolCallItem(
  { body, offset }: BodyAtOffset,
  { results, calls }: CallPairs,
  cuts: TextCuts,
  { inline = false, childOf }: MessageItemOptions,
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
  const child = childOf?.(call, answer)
  return {
    ...head,
    status: end.status,
    ...(end.source_status !== undefined && { source_status: end.source_status }),
    ...callFields(call, cuts),
    ...resultFields(end, cuts, answer && messageAddress(known.session, answer.id)),
    ...changeFields(message),
    ...(result && { joined: result.body.known.id }),
    ...(media.length > 0 && { media }),
    ...(child !== undefined && { child_session: child }),
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

/** The changes to files. A result repeats its call's arguments. */
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
    media ? toMediaItem(media, { session, message: message.id, segment }, inline) : [],
  )

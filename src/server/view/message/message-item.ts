/** A message as the API tells it: sanitised, without ciphertext, long texts cut. */
import type { LoadedMessage } from '../../../app.ts'
import type { MessageFlags, MessageItem, ReasoningItem, SegmentItem, Showing } from '../../../model/api/message.ts'
import type { MessageSegment, Metadata, NormalizedMessage } from '../../../model/normalized.ts'
import { renderHtml, renderSpecHtml } from '../rendered.ts'
import { messageAddress, TextCuts } from './cut.ts'
import type { BodyAtOffset, CallPairs } from './joined.ts'
import { toMediaItem } from './media.ts'
import { toToolCallItem } from './tool-call-item.ts'

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

/** A message as the API tells it: sanitised, without ciphertext, long texts cut. */
import type { Body } from '../../../app.ts'
import type { MessageFlags, MessageItem, ReasoningItem, SegmentItem, Showing } from '../../../model/api/message.ts'
import type { MessageSegment, Metadata, NormalizedMessage } from '../../../model/normalized.ts'
import { htmlOf, letterOf } from '../rendered.ts'
import { addressOf, Cuts } from './cut.ts'
import type { Joined, Placed } from './joined.ts'
import { mediaItem } from './media.ts'
import { toolCallItem } from './tool-call-item.ts'

export interface ItemOptions {
  readonly variant?: 'original' | 'sanitized'
  /** Images as `data_uri` too. */
  readonly inline?: boolean
  /** Nothing is cut. */
  readonly whole?: boolean
  isRolledBack(message: string): boolean
}

export function messageItem({ body, offset }: Placed, joins: Joined, options: ItemOptions): MessageItem {
  const { known } = body
  const head = {
    id: known.id,
    offset,
    timestamp: known.timestamp,
    role: known.role,
    source_type: known.source_type,
  }
  const flags = flagsOf(body, options)
  if (body.kind === 'gone') return { ...head, show: showingGone(body), flags, segments: [], gone: body.reason }
  const { message } = body
  const { encrypted_content, ...raw } = message.raw
  const cuts = new Cuts(addressOf(known.session, known.id), options.whole === true)
  const reasoning = reasoningOf(message, cuts)
  const tool = toolCallItem({ body, offset }, joins, cuts, options)
  const metadata = cuts.value('metadata', metadataOf(message))
  return {
    ...head,
    show: showingOf(message, body, joins.calls.has(offset)),
    flags,
    segments: message.segments.map((segment, at) => segmentItem(message, known.session, segment, at, cuts, options)),
    ...(tool && { tool_call: tool }),
    ...(reasoning && { reasoning }),
    raw,
    ...(metadata && { metadata }),
    ...(cuts.left.length > 0 && { left_out: cuts.left }),
  }
}

function segmentItem(
  message: NormalizedMessage,
  session: string,
  segment: MessageSegment,
  at: number,
  cuts: Cuts,
  { variant, inline = false }: ItemOptions,
): SegmentItem {
  const { channel, type, format, text, media, annotations } = segment
  const shown = text === undefined ? undefined : cuts.text(`segments.${at}.text`, text)
  const isSanitized = variant === 'sanitized'
  return {
    channel,
    type,
    format,
    ...(shown !== undefined && (isSanitized ? { text: letterOf(shown) } : { text: shown, html: htmlOf(shown) })),
    ...(media && { media: mediaItem(media, { session, message: message.id, segment: at, inline }) }),
    // They count places in the text as it was said.
    ...(annotations && !isSanitized && { annotations }),
  }
}

/** The length of a ciphertext is told, and its hash; itself it never leaves this function. */
function reasoningOf({ raw, metadata }: NormalizedMessage, cuts: Cuts): ReasoningItem | undefined {
  const texts = [metadata?.['reasoning_summary'], metadata?.['reasoning_text']].filter(
    (one): one is string => typeof one === 'string' && one.trim() !== '',
  )
  const said = texts.join('\n\n')
  const sha256 = raw.encrypted_content_sha256
  if (said === '' && sha256 === undefined) return undefined
  const text = said === '' ? undefined : cuts.text('reasoning.text', said)
  return {
    ...(text !== undefined && { text, html: htmlOf(text) }),
    ...(sha256 !== undefined && { encrypted: { sha256, bytes: Buffer.byteLength(raw.encrypted_content ?? '') } }),
  }
}

const TOLD: ReadonlySet<string> = new Set(['reasoning_summary', 'reasoning_text', 'x_conv'])

function metadataOf({ metadata }: NormalizedMessage): Metadata | undefined {
  const rest = Object.entries(metadata ?? {}).filter(([key]) => !TOLD.has(key))
  return rest.length > 0 ? Object.fromEntries(rest) : undefined
}

function flagsOf(body: Body, { isRolledBack }: ItemOptions): MessageFlags {
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

function showingOf(message: NormalizedMessage, { known }: Body, isAnswered: boolean): Showing {
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

function showingGone({ known }: Body): Showing {
  if (known.duplicate || known.replayed) return 'copy'
  if (known.source_type === 'session') return 'session'
  if (known.role === 'tool') return 'tool'
  if (known.role === 'assistant') return 'answer'
  if (known.role === 'user') return known.injected ? 'context' : 'prompt'
  return known.role === 'system' ? 'context' : 'event'
}

/** The parts of a message and its other fields: text, images, reasoning, attachments, metadata. */

import { type Fields, fieldsOf, isObject, nonEmptyStringOf, numberOf, stringOf } from '../../lib/unknown-values.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { Channel, Media, MessageSegment, Mutable, SourceType, ToolCall } from '../../model/normalized.ts'
import { metadataFromExtension } from '../../model/replay/extension.ts'
import { IMAGE_PLACEHOLDER } from '../../openai/files/forms/datasets.ts'
import { type MessageDraft, NO_SEGMENTS } from '../kit/place-message.ts'

export interface ChatContent {
  readonly segments: readonly MessageSegment[]
  /** Parts with no place among the segments, described: audio, files, unknown kinds. */
  readonly attachments: readonly Fields[]
  /** Other fields of parts, such as `detail` and `cache_control`, with the number of the part. */
  readonly parts: readonly Fields[]
  readonly thoughts: readonly string[]
  /** Reasoning that only its writer can decrypt. */
  readonly secret: string | undefined
  /** Calls and results among the parts. */
  readonly calls: readonly Fields[]
  readonly results: readonly Fields[]
}

const EMPTY_CONTENT: ChatContent = {
  segments: NO_SEGMENTS,
  attachments: [],
  parts: [],
  thoughts: [],
  secret: undefined,
  calls: [],
  results: [],
}

/** Images for the markers in a conversation's texts, in order. */
export class ImageQueue {
  readonly #remaining: string[]

  constructor(images: readonly string[]) {
    this.#remaining = [...images]
  }

  takeFor(text: string, channel: Channel): readonly MessageSegment[] {
    const marks = text.split(IMAGE_PLACEHOLDER).length - 1
    return this.#remaining.splice(0, marks).map((url) => imageSegment('image', url, channel))
  }
}

export function parseChatContent(
  content: unknown,
  channel: Channel,
  role: string,
  imageQueue: ImageQueue | undefined,
): ChatContent {
  if (typeof content === 'string') {
    if (content === '') return EMPTY_CONTENT
    const segments = [chatTextSegment('text', content, channel, role)]
    return {
      ...EMPTY_CONTENT,
      segments: imageQueue ? [...segments, ...imageQueue.takeFor(content, channel)] : segments,
    }
  }
  if (!Array.isArray(content))
    return content === undefined || content === null ? EMPTY_CONTENT : parseSinglePart(content, channel, role)
  const found = new ContentCollector(channel, role)
  content.forEach((part, at) => {
    found.take(part, at)
  })
  return found
}

/** A single part without a surrounding list. */
function parseSinglePart(content: unknown, channel: Channel, role: string): ChatContent {
  const found = new ContentCollector(channel, role)
  found.take(isObject(content) ? content : String(content), 0)
  return found
}

class ContentCollector implements ChatContent {
  readonly segments: MessageSegment[] = []
  readonly attachments: Fields[] = []
  readonly parts: Fields[] = []
  readonly thoughts: string[] = []
  readonly calls: Fields[] = []
  readonly results: Fields[] = []
  secret: string | undefined
  readonly #channel: Channel
  readonly #role: string

  constructor(channel: Channel, role: string) {
    this.#channel = channel
    this.#role = role
  }

  take(part: unknown, at: number): void {
    if (typeof part === 'string') this.segments.push(chatTextSegment('text', part, this.#channel, this.#role))
    if (!isObject(part)) return
    const type = stringOf(part['type']) ?? 'text'
    if (type === 'tool_use') this.calls.push(part)
    else if (type === 'tool_result') this.results.push(part)
    else if (REASONING_TYPES.has(type)) this.#think(part)
    else this.#show(part, type, at)
  }

  #think(part: Fields): void {
    const text =
      nonEmptyStringOf(part['thinking']) ?? nonEmptyStringOf(part['reasoning']) ?? nonEmptyStringOf(part['text'])
    if (text !== undefined) this.thoughts.push(text)
    this.secret ??= nonEmptyStringOf(part['data']) ?? nonEmptyStringOf(part['encrypted_content'])
  }

  #show(part: Fields, type: string, at: number): void {
    const text = stringOf(part['text']) ?? stringOf(fieldsOf(part['text'])?.['value']) ?? stringOf(part['refusal'])
    const url = text === undefined ? imageUrlOf(part, type) : undefined
    if (text !== undefined) this.segments.push(chatTextSegment(type, text, this.#channel, this.#role))
    else if (url !== undefined) this.segments.push(imageSegment(type, url, this.#channel))
    else this.attachments.push(attachmentOf(part, type))
    const extra = extraFields(part)
    if (extra) this.parts.push({ part: at, ...extra })
  }
}

const REASONING_TYPES: ReadonlySet<string> = new Set(['thinking', 'reasoning', 'redacted_thinking'])
const SHOWN_KEYS: ReadonlySet<string> = new Set([
  'type',
  'text',
  'refusal',
  'image_url',
  'image',
  'source',
  'input_audio',
  'file',
  'file_id',
  'file_url',
  'file_data',
  'filename',
  'url',
])

/** Other fields of a part. An image's `detail` is not among them. */
function extraFields(part: Fields): Fields | undefined {
  let extra: Record<string, unknown> | undefined
  for (const key in part) {
    const value = part[key]
    if (SHOWN_KEYS.has(key) || value === null || (Array.isArray(value) && value.length === 0)) continue
    extra ??= {}
    extra[key] = value
  }
  const detail = fieldsOf(part['image_url'])?.['detail']
  return detail === undefined ? extra : { ...extra, detail }
}

/** Instructions count as text of the program, not of a person. */
export function chatTextSegment(format: string, text: string, channel: Channel, role: string): MessageSegment {
  if (channel !== 'system') return { channel, type: 'text', format, text }
  return {
    channel,
    type: 'text',
    format,
    text,
    annotations: [{ kind: 'injected', start: 0, end: text.length, what: role }],
  }
}

const imageSegment = (format: string, url: string, channel: Channel): MessageSegment => ({
  channel,
  type: 'image',
  format,
  media: mediaOf(url),
})

function imageUrlOf(part: Fields, type: string): string | undefined {
  const image = part['image_url'] ?? part['image']
  const given = nonEmptyStringOf(image) ?? nonEmptyStringOf(fieldsOf(image)?.['url'])
  if (given !== undefined || (type !== 'image' && type !== 'input_image')) return given
  const source = fieldsOf(part['source'])
  const data = nonEmptyStringOf(source?.['data'])
  return data === undefined
    ? nonEmptyStringOf(source?.['url'])
    : `data:${nonEmptyStringOf(source?.['media_type']) ?? ''};base64,${data}`
}

const DATA_URI = /^data:([^;,]*)(?:;[^;,]*)*?(;base64)?,/i

function mediaOf(url: string): Media {
  const match = DATA_URI.exec(url.slice(0, 256))
  if (!match) return { url }
  const length = url.length - match[0].length
  const size_bytes = match[2] ? base64Size(url, length) : length
  return match[1] ? { data_uri: url, mime_type: match[1], size_bytes } : { data_uri: url, size_bytes }
}

const base64Size = (text: string, length: number): number =>
  Math.max(0, Math.floor((length * 3) / 4) - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0))

/** Describes audio, a file or an unknown part without its bytes. */
function attachmentOf(part: Fields, format: string): Fields {
  const inner = fieldsOf(part['input_audio']) ?? fieldsOf(part['file']) ?? part
  const attachment: Record<string, unknown> = { format }
  const data = nonEmptyStringOf(inner['data']) ?? nonEmptyStringOf(inner['file_data'])
  if (data !== undefined) {
    const { mime_type, size_bytes } = mediaOf(data.startsWith('data:') ? data : `data:;base64,${data}`)
    if (mime_type !== undefined) attachment['mime_type'] = mime_type
    attachment['size_bytes'] = size_bytes
  }
  for (const key in inner) {
    const value = inner[key]
    if (key === 'type' || key === 'data' || key === 'file_data') continue
    if (typeof value === 'string' || numberOf(value) !== undefined)
      attachment[key === 'format' ? 'encoding' : key] = value
  }
  return attachment
}

const TIME_KEYS = ['create_time', 'created_at', 'timestamp', 'created'] as const

export function messageTimestamp(message: Fields): unknown {
  if (hasNoExtraFields(message)) return undefined
  for (const key of TIME_KEYS) {
    const stamp = message[key]
    if (isPresent(stamp)) return stamp
  }
  return fieldsOf(message['x_conv'])?.['ts']
}

const REASONING_KEYS = ['reasoning_content', 'reasoning', 'thinking', 'reasoning_text'] as const

/** The first key with content. A second one is preserved if its content differs. */
export const reasoningKey = (message: Fields) =>
  REASONING_KEYS.find((key) => nonEmptyStringOf(message[key]) !== undefined)

const KNOWN_MESSAGE_KEYS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'parts',
  'text',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'refusal',
  'name',
  'weight',
  'id',
  'hidden',
  'finish_reason',
  'answers',
  ...TIME_KEYS,
  ...REASONING_KEYS,
  'reasoning_details',
  'thinking_blocks',
  'x_conv',
])

const RENAMED_KEYS = [
  ['name', 'name'],
  ['weight', 'weight'],
  ['id', 'message_id'],
  ['finish_reason', 'finish_reason'],
  ['answers', 'answers'],
] as const

/** Known names are used directly; all others are grouped, so that none is misinterpreted. */
export function chatMetadata(message: Fields, content: ChatContent): Metadata | undefined {
  const metadata: Mutable<Metadata> = {}
  if (!hasNoExtraFields(message)) {
    for (const [key, name] of RENAMED_KEYS)
      if (message[key] !== undefined && message[key] !== null) metadata[name as string] = message[key]
    if (message['hidden'] === true) metadata.injected = true
    Object.assign(metadata, unknownFields(message, KNOWN_MESSAGE_KEYS), metadataFromExtension(message['x_conv']))
  }
  if (content.attachments.length > 0) metadata.attachments = content.attachments
  if (content.parts.length > 0) metadata['parts'] = content.parts
  for (const _ in metadata) return metadata
  return undefined
}

/** Only a role and content. */
export function hasOnlyRoleAndContent(message: Fields): boolean {
  for (const key in message) if (key !== 'role' && key !== 'content') return false
  return true
}

/** Only text, calls or a result, without further fields. */
export function hasNoExtraFields(message: Fields): boolean {
  for (const key in message)
    if (key !== 'role' && key !== 'content' && key !== 'tool_calls' && key !== 'tool_call_id') return false
  return true
}

/** All unknown fields, under one name. */
export function unknownFields(source: Fields, understood: ReadonlySet<string>): Record<string, unknown> | undefined {
  let extra: Record<string, unknown> | undefined
  for (const key in source) {
    const value = source[key]
    if (isEmptyValue(value) || (understood.has(key) && !isUnreadSpelling(source, key, value))) continue
    extra ??= {}
    extra[key] = value
  }
  return extra && { extra }
}

/** Values that programs write for empty fields. */
const isEmptyValue = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0)

const isPresent = (value: unknown): boolean => value !== undefined && value !== null

/** A second form of the reasoning or text, ignored because of the first. */
function isUnreadSpelling(source: Fields, key: string, value: unknown): boolean {
  if (key === 'parts') return isPresent(source['content'])
  if (key === 'text') return isPresent(source['content'] ?? source['parts'])
  if (value === '' || !REASONING_KEYS.some((spelling) => spelling === key)) return false
  const readKey = reasoningKey(source)
  return readKey === undefined || source[readKey] !== value
}

/** A call is completed when its result is paired with it. */
export interface ChatDraft extends MessageDraft {
  readonly tool_call?: Mutable<ToolCall> | undefined
}

/** Fields of a record other than messages. */
export function nonMessageDraft(
  source_type: SourceType,
  payload_type: string,
  metadata: Record<string, unknown>,
): ChatDraft {
  return { role: 'meta', source_type, payload_type, segments: NO_SEGMENTS, metadata }
}

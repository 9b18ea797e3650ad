/** The parts of a message: text, images, and what is neither. */
import { fieldsOf, isObject, listOf, nonEmptyStringOf, stringOf } from '../../../lib/unknown-values.ts'
import type { Attachment } from '../../../model/metadata.ts'
import type { Annotation, Channel, Media, MessageSegment } from '../../../model/normalized.ts'
import { annotateAllInjected, coversText, findInjected } from './injected.ts'

export interface RecordContent {
  readonly segments: readonly MessageSegment[]
  /** Has text, every word of it was put there by the program, and no picture was added. */
  readonly injected: boolean
  readonly secret?: string | undefined
  /** Parts with no place among the segments, described: audio, files, unknown kinds. */
  readonly attachments: readonly Attachment[]
  /** Calls that other programs put among the parts. */
  readonly toolUses: readonly { readonly [key: string]: unknown }[]
}

/** @param role the source's own role word */
export function parseContent(content: unknown, role: string): RecordContent {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
  const segments: MessageSegment[] = []
  const attachments: Attachment[] = []
  const toolUses: { readonly [key: string]: unknown }[] = []
  let secret: string | undefined
  let texts = 0
  let images = 0
  let injectedTexts = 0
  for (const part of parts) {
    if (typeof part === 'string') {
      segments.push(toTextSegment('text', part, role))
      texts++
      continue
    }
    if (!isObject(part)) continue
    const format = stringOf(part['type']) ?? 'text'
    const text = textOf(part)
    if (format === 'encrypted_content') secret ??= stringOf(part['encrypted_content'])
    else if (format === 'tool_use') toolUses.push(part)
    else if (text !== undefined) {
      const segment = toTextSegment(format, text, role)
      segments.push(segment)
      texts++
      if (segment.annotations && coversText(segment.annotations, text)) injectedTexts++
    } else {
      const url = imageUrlOf(part)
      if (url === undefined) attachments.push(attachmentOf(format, part))
      else {
        images++
        segments.push({ channel: channelOf(format, role), type: 'image', format, media: mediaOf(url) })
      }
    }
  }
  const injected = texts > 0 && injectedTexts === texts && images === 0
  return { segments, injected, secret, attachments, toolUses }
}

export function toTextSegment(format: string, text: string, role: string): MessageSegment {
  const channel = channelOf(format, role)
  const annotations = annotationsOf(text, role)
  return annotations.length > 0
    ? { channel, type: 'text', format, text, annotations }
    : { channel, type: 'text', format, text }
}

function annotationsOf(text: string, role: string): readonly Annotation[] {
  if (role === 'user') return findInjected(text)
  return isProgramRole(role) && text !== '' ? annotateAllInjected(text, role) : NO_ANNOTATIONS
}

export function channelOf(format: string, role: string): Channel {
  if (isProgramRole(role)) return 'system'
  if (format.startsWith('input_')) return 'input'
  if (format.startsWith('output_')) return 'output'
  return role === 'user' || role === 'tool' ? 'input' : 'output'
}

const isProgramRole = (role: string): boolean => role === 'developer' || role === 'system'

function textOf(part: { readonly [key: string]: unknown }): string | undefined {
  return stringOf(part['text']) ?? stringOf(part['refusal'])
}

/** `image_url` is a string in Codex and an object with a `url` in what other programs export. */
function imageUrlOf(part: { readonly [key: string]: unknown }): string | undefined {
  const image = part['image_url']
  return nonEmptyStringOf(image) ?? nonEmptyStringOf(fieldsOf(image)?.['url'])
}

const DATA_URI = /^data:([^;,]*)(?:;[^;,]*)*?(;base64)?,/i

export function mediaOf(url: string): Media {
  const match = DATA_URI.exec(url.slice(0, 256))
  if (!match) return { url }
  const size = url.length - match[0].length
  const bytes = match[2] ? base64Size(url, size) : size
  return { data_uri: url, ...(match[1] ? { mime_type: match[1] } : {}), size_bytes: bytes }
}

function base64Size(text: string, length: number): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return Math.max(0, Math.floor((length * 3) / 4) - padding)
}

export function attachmentOf(format: string, part: { readonly [key: string]: unknown }): Attachment {
  const url =
    nonEmptyStringOf(part['audio_url']) ?? nonEmptyStringOf(part['file_url']) ?? nonEmptyStringOf(part['file_id'])
  if (url === undefined) return { format }
  const { data_uri: _, ...media } = mediaOf(url)
  return { format, ...media }
}

const NO_ANNOTATIONS: readonly Annotation[] = []

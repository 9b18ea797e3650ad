/** Reads the content of a message and its tool calls, and makes new content. */

import { type Fields, fieldsOf, nonEmptyStringOf, parseStructure, stringOf, toJsonText } from '../lib/unknown-values.ts'
import type { Content, ContentPart, ImageDetail, ImagePart, TextPart, ToolCall } from './message.ts'

const IMAGE_DETAILS: readonly string[] = ['auto', 'low', 'high', 'original'] satisfies readonly ImageDetail[]

/** The text, or the first text part; empty if there is none. Ignores later text parts. */
export function firstTextOf(content: unknown): string {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? (stringOf(fieldsOf(content.find(isTextPart))?.['text']) ?? '') : ''
}

/** Replaces the first text part, or inserts one at the beginning. */
export function withText(content: unknown, text: string): Content {
  if (!Array.isArray(content)) return text
  const at = content.findIndex(isTextPart)
  return at < 0 ? [toTextPart(text), ...content] : content.with(at, { ...content[at], text })
}

/** All text parts and refusals, concatenated. */
export function allTextOf(content: unknown): string {
  if (!Array.isArray(content)) return firstTextOf(content)
  return content
    .map((part) => (isTextPart(part) ? firstTextOf([part]) : (stringOf(fieldsOf(part)?.['refusal']) ?? '')))
    .join('')
}

/** Appends a part. A text becomes a text part first, unless it is empty. */
export function withPart(content: unknown, part: ContentPart): readonly ContentPart[] {
  if (Array.isArray(content)) return [...content, part]
  if (content === undefined || content === null || content === '') return [part]
  return [toTextPart(typeof content === 'string' ? content : toJsonText(content)), part]
}

export const toTextPart = (text: string): TextPart => ({ type: 'text', text })

/** Leaves out an unknown detail, so that the API uses its default. */
export function toImagePart(url: string, detail?: string): ImagePart {
  return { type: 'image_url', image_url: detail !== undefined && isImageDetail(detail) ? { url, detail } : { url } }
}

/** Id of the uploaded file in a part, in either form. */
export function fileIdOf(part: unknown): string | undefined {
  const fields = fieldsOf(part)
  return fields?.['type'] === 'file'
    ? (nonEmptyStringOf(fieldsOf(fields['file'])?.['file_id']) ?? nonEmptyStringOf(fields['file_id']))
    : undefined
}

const isTextPart = (part: unknown): boolean => fieldsOf(part)?.['type'] === 'text'
const isImageDetail = (detail: string): detail is ImageDetail => IMAGE_DETAILS.includes(detail)

/** The name of the called tool. */
export function nameOf(call: ToolCall): string {
  return call.type === 'custom' ? call.custom.name : call.function.name
}

/**
 * The parsed arguments: an empty text means none; the input of a custom tool becomes `input`. Undefined if they are not
 * a JSON object.
 */
export function argumentsOf(call: ToolCall): Fields | undefined {
  if (call.type === 'custom') return { input: call.custom.input }
  return call.function.arguments.trim() === '' ? {} : fieldsOf(parseStructure(call.function.arguments))
}

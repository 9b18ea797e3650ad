/** Reads the content of a message and its tool calls, and makes new content. */

import { type Fields, fieldsOf, nonEmptyStringOf, parseStructure, stringOf, toJsonText } from '../lib/unknown-values.ts'
import type { Content, ContentPart, ImageDetail, ImagePart, TextPart, ToolCall } from './message.ts'

const IMAGE_DETAILS: readonly string[] = ['auto', 'low', 'high', 'original'] satisfies readonly ImageDetail[]

/** The text itself, or that of the first text part; empty where there is none. Later text parts are not looked at. */
export function firstTextOf(content: unknown): string {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? (stringOf(fieldsOf(content.find(isTextPart))?.['text']) ?? '') : ''
}

/** The content with another text: in place of the first text part, or before all parts where there is none. */
export function withText(content: unknown, text: string): Content {
  if (!Array.isArray(content)) return text
  const at = content.findIndex(isTextPart)
  return at < 0 ? [toTextPart(text), ...content] : content.with(at, { ...content[at], text })
}

/** All that is said: every text part and every refusal, one after the other. */
export function allTextOf(content: unknown): string {
  if (!Array.isArray(content)) return firstTextOf(content)
  return content
    .map((part) => (isTextPart(part) ? firstTextOf([part]) : (stringOf(fieldsOf(part)?.['refusal']) ?? '')))
    .join('')
}

/** The content as a list that ends with the part. A text becomes a text part; an empty one is left out. */
export function withPart(content: unknown, part: ContentPart): readonly ContentPart[] {
  if (Array.isArray(content)) return [...content, part]
  if (content === undefined || content === null || content === '') return [part]
  return [toTextPart(typeof content === 'string' ? content : toJsonText(content)), part]
}

export const toTextPart = (text: string): TextPart => ({ type: 'text', text })

/** A detail that nobody knows is left out, and the API takes its own default. */
export function toImagePart(url: string, detail?: string): ImagePart {
  return { type: 'image_url', image_url: detail !== undefined && isImageDetail(detail) ? { url, detail } : { url } }
}

/** The id of the uploaded file that a part names, in either form. */
export function fileIdOf(part: unknown): string | undefined {
  const fields = fieldsOf(part)
  return fields?.['type'] === 'file'
    ? (nonEmptyStringOf(fieldsOf(fields['file'])?.['file_id']) ?? nonEmptyStringOf(fields['file_id']))
    : undefined
}

const isTextPart = (part: unknown): boolean => fieldsOf(part)?.['type'] === 'text'
const isImageDetail = (detail: string): detail is ImageDetail => IMAGE_DETAILS.includes(detail)

/** The name of the tool that is called. */
export function nameOf(call: ToolCall): string {
  return call.type === 'custom' ? call.custom.name : call.function.name
}

/**
 * The arguments of a call: no text at all means none, and the input of a custom tool is one named `input`. Nothing where
 * the model wrote what is no JSON object.
 */
export function argumentsOf(call: ToolCall): Fields | undefined {
  if (call.type === 'custom') return { input: call.custom.input }
  return call.function.arguments.trim() === '' ? {} : fieldsOf(parseStructure(call.function.arguments))
}

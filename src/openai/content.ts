/** Looks into the content of a message, which is a text, a list of parts, or nothing; and makes new content of it. */

import { fieldsOf, jsonText, stringOf, wordOf } from '../lib/object.ts'
import type { Content, ContentPart, ImageDetail, ImagePart, TextPart } from './message.ts'

const DETAILS: readonly string[] = ['auto', 'low', 'high', 'original'] satisfies readonly ImageDetail[]

/** The text itself, or that of the first text part; empty where there is none. Later text parts are not looked at. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? (stringOf(fieldsOf(content.find(isText))?.['text']) ?? '') : ''
}

/** The content with another text: in place of the first text part, or before all parts where there is none. */
export function withText(content: unknown, text: string): Content {
  if (!Array.isArray(content)) return text
  const at = content.findIndex(isText)
  return at < 0 ? [textPart(text), ...content] : content.with(at, { ...content[at], text })
}

/** All that is said: every text part and every refusal, one after the other. */
export function allTextOf(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content)
  return content.map((part) => (isText(part) ? textOf([part]) : (stringOf(fieldsOf(part)?.['refusal']) ?? ''))).join('')
}

/** The content as a list that ends with the part. A text becomes a text part; an empty one is left out. */
export function withPart(content: unknown, part: ContentPart): readonly ContentPart[] {
  if (Array.isArray(content)) return [...content, part]
  if (content === undefined || content === null || content === '') return [part]
  return [textPart(typeof content === 'string' ? content : jsonText(content)), part]
}

export const textPart = (text: string): TextPart => ({ type: 'text', text })

/** A detail that nobody knows is left out, and the API takes its own default. */
export function imagePart(url: string, detail?: string): ImagePart {
  return { type: 'image_url', image_url: detail !== undefined && isDetail(detail) ? { url, detail } : { url } }
}

/** The id of the uploaded file that a part names, in either form. */
export function fileIdOf(part: unknown): string | undefined {
  const fields = fieldsOf(part)
  return fields?.['type'] === 'file'
    ? (wordOf(fieldsOf(fields['file'])?.['file_id']) ?? wordOf(fields['file_id']))
    : undefined
}

const isText = (part: unknown): boolean => fieldsOf(part)?.['type'] === 'text'
const isDetail = (detail: string): detail is ImageDetail => DETAILS.includes(detail)

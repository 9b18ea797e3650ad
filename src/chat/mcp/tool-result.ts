/** What a server answered, as the result of a tool. Pure. */
import { IMAGES_SUPPLIED } from '../../conversation/limits.ts'
import type { ImageBlock, ImageFormat } from '../../conversation/message.ts'
import type { JsonValue } from '../../lib/json/lossless.ts'
import { type Fields, fieldsOf, listOf, stringOf } from '../../lib/unknown-values.ts'
import type { ToolRunResult } from '../tools/tool.ts'

const IMAGE_FORMATS: { readonly [type: string]: ImageFormat } = {
  'image/gif': 'Gif',
  'image/jpeg': 'Jpeg',
  'image/jpg': 'Jpeg',
  'image/png': 'Png',
  'image/webp': 'Webp',
}

/** The whole answer as JSON; where it holds images, its texts, and the images beside them. */
export function toToolRunResult(answer: Fields): ToolRunResult {
  const blocks = listOf(answer['content']).map((block) => fieldsOf(block) ?? {})
  const images = blocks.flatMap((block) => toImageBlock(block) ?? [])
  const status = answer['isError'] === true ? 'Error' : 'Success'
  if (images.length === 0) return { status, content: [{ Json: answer as JsonValue }], images, changedFiles: [] }
  const texts = blocks.filter((block) => !toImageBlock(block)).map((block) => ({ Text: blockText(block) }))
  return { status, content: [...texts, { Text: IMAGES_SUPPLIED }], images, changedFiles: [] }
}

export function toImageBlock(block: Fields): ImageBlock | undefined {
  if (block['type'] !== 'image') return undefined
  const type = stringOf(block['mimeType'])?.toLowerCase() ?? ''
  const format = Object.hasOwn(IMAGE_FORMATS, type) ? IMAGE_FORMATS[type] : undefined
  const data = stringOf(block['data'])
  if (format === undefined || data === undefined) return undefined
  return { format, source: { Bytes: Array.from(Buffer.from(data, 'base64')) } }
}

const blockText = (block: Fields): string => stringOf(block['text']) ?? JSON.stringify(block)

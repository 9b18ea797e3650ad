/** Images as the program stores them: four formats, few and not too large. */
import { imageFormatOf } from '../create.ts'
import { MAX_IMAGE_SIZE } from '../limits.ts'
import type { ImageBlock } from '../message.ts'

const IMAGE_DATA_URI = /^data:image\/([a-z]+)(?:;[^,;]+)*;base64,/i

/** Nothing for an image that cannot be stored. */
export function imageBlockFromUrl(url: string): ImageBlock | undefined {
  const [head = '', extension = ''] = IMAGE_DATA_URI.exec(url) ?? []
  const format = imageFormatOf(extension)
  if (format === undefined) return undefined
  const bytes = Buffer.from(url.slice(head.length), 'base64')
  if (bytes.length === 0 || bytes.length > MAX_IMAGE_SIZE) return undefined
  return { format, source: { Bytes: Array.from(bytes) } }
}

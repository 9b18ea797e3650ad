/** Images beside a message. */
import { fieldsOf, isObject, listOf, stringOf } from '../../lib/object.ts'
import type { MessageSegment } from '../../model/normalized.ts'

export function imagesOf(images: unknown): readonly MessageSegment[] {
  return listOf(images)
    .filter(isObject)
    .map(({ format, source }) => {
      const mime_type = `image/${(stringOf(format) ?? 'unknown').toLowerCase()}`
      const packed = base64Of(fieldsOf(source)?.['Bytes'])
      const media = packed === undefined ? { mime_type } : withData(mime_type, packed)
      return { channel: 'input', type: 'image', format: 'input_image', media }
    })
}

function withData(mime_type: string, packed: string) {
  const padding = packed.endsWith('==') ? 2 : packed.endsWith('=') ? 1 : 0
  const size_bytes = Math.max(0, Math.floor((packed.length * 3) / 4) - padding)
  return { data_uri: `data:${mime_type};base64,${packed}`, mime_type, size_bytes }
}

/** Usually packed already; a list only where the row was read to the letter. */
function base64Of(bytes: unknown): string | undefined {
  if (typeof bytes === 'string') return bytes
  const isBytes = Array.isArray(bytes) && bytes.every((one) => Number.isInteger(one) && one >= 0 && one <= 255)
  return isBytes ? Buffer.from(bytes as number[]).toString('base64') : undefined
}

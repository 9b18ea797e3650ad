/** Images beside a message. */
import { fieldsOf, isObject, listOf, stringOf } from '../../lib/object.ts'
import type { MessageSegment } from '../../model/normalized.ts'

export function imageSegments(images: unknown): readonly MessageSegment[] {
  return listOf(images)
    .filter(isObject)
    .map(({ format, source }) => {
      const mime_type = `image/${(stringOf(format) ?? 'unknown').toLowerCase()}`
      const base64 = base64Of(fieldsOf(source)?.['Bytes'])
      const media = base64 === undefined ? { mime_type } : withData(mime_type, base64)
      return { channel: 'input', type: 'image', format: 'input_image', media }
    })
}

function withData(mime_type: string, base64: string) {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  const size_bytes = Math.max(0, Math.floor((base64.length * 3) / 4) - padding)
  return { data_uri: `data:${mime_type};base64,${base64}`, mime_type, size_bytes }
}

/** Usually packed already; a list only where the row was read to the letter. */
function base64Of(bytes: unknown): string | undefined {
  if (typeof bytes === 'string') return bytes
  const isBytes = Array.isArray(bytes) && bytes.every((one) => Number.isInteger(one) && one >= 0 && one <= 255)
  return isBytes ? Buffer.from(bytes as number[]).toString('base64') : undefined
}

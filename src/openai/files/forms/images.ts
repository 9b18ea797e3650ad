/** Pictures that stand beside the messages and are meant by marks in their texts. */
import { type Fields, listOf, wordOf } from '../../../lib/object.ts'

export const IMAGE_MARK = '<image>'

/** Paths or addresses, in the order of the marks; nothing when the record has none. */
export function imagesIn(record: Fields): readonly string[] | undefined {
  const images = listOf(record['images'] ?? record['image']).flatMap((one) => wordOf(one) ?? [])
  const single = wordOf(record['image'])
  if (single !== undefined) return [single]
  return images.length > 0 ? images : undefined
}

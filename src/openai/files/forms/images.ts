/** Pictures that stand beside the messages and are meant by marks in their texts. */
import { type Fields, listOf, nonEmptyStringOf } from '../../../lib/unknown-values.ts'

export const IMAGE_PLACEHOLDER = '<image>'

/** Paths or addresses, in the order of the marks; nothing when the record has none. */
export function readRecordImages(record: Fields): readonly string[] | undefined {
  const images = listOf(record['images'] ?? record['image']).flatMap((one) => nonEmptyStringOf(one) ?? [])
  const single = nonEmptyStringOf(record['image'])
  if (single !== undefined) return [single]
  return images.length > 0 ? images : undefined
}

/** Image files, as messages carry them. */
import { extname } from 'node:path'
import { imageFormatOf } from '../../../conversation/create.ts'
import { MAX_IMAGE_SIZE, MAX_NUMBER_OF_IMAGES_PER_REQUEST } from '../../../conversation/limits.ts'
import type { ImageBlock } from '../../../conversation/message.ts'
import { openRegularHandle } from '../../../lib/files/regular-file.ts'
import { isSystemError, systemErrorReason } from '../../../lib/files/system-error.ts'
import type { ReadPart } from './fs-read.ts'

/** The same file twice is one image. */
export async function readImages(paths: readonly string[]): Promise<ReadPart> {
  const files = [...new Set(paths)]
  if (files.length > MAX_NUMBER_OF_IMAGES_PER_REQUEST)
    return { error: `${files.length} images are too many: ${MAX_NUMBER_OF_IMAGES_PER_REQUEST} can be read at once.` }
  const read = await Promise.all(files.map(readImage))
  const faults = read.filter((one) => typeof one === 'string')
  if (faults.length > 0) return { error: faults.join('\n') }
  return { images: read.filter((one) => typeof one !== 'string') }
}

/** A text says why not. */
export async function readImage(path: string): Promise<ImageBlock | string> {
  const format = imageFormatOf(extname(path).slice(1))
  if (format === undefined) return `${path} is not a gif, jpeg, png or webp file.`
  try {
    const file = await openRegularHandle(path)
    try {
      const found = await file.stat()
      if (found.size > MAX_IMAGE_SIZE) return `${path} has ${found.size} bytes: ${MAX_IMAGE_SIZE} are the most.`
      return { format, source: { Bytes: Array.from(await file.readFile()) } }
    } finally {
      await file.close()
    }
  } catch (error) {
    if (!isSystemError(error)) throw error
    return `${path}: ${systemErrorReason(error)}`
  }
}

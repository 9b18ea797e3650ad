/** Images of a log as files of their own: their addresses, and the bytes behind these. */
import type { MediaItem } from '../../../model/api/message.ts'
import type { Media } from '../../../model/normalized.ts'

/** Pictures made of dots: nothing in them can act. */
const RASTER_DATA_URI = /^data:(image\/(?:png|jpeg|jpg|gif|webp|avif|bmp));base64,/i

export interface MediaItemOptions {
  readonly session: string
  readonly message: string
  /** Its place among the segments. */
  readonly segment: number
  readonly inline: boolean
}

export function toMediaItem(media: Media, { session, message, segment, inline }: MediaItemOptions): MediaItem {
  const { data_uri, url, mime_type, size_bytes } = media
  const isImage = data_uri !== undefined && RASTER_DATA_URI.test(data_uri)
  return {
    ...(isImage && { url: `/api/media/${mediaId(session, message, segment)}` }),
    ...(url !== undefined && { source_url: url }),
    ...(mime_type !== undefined && { mime_type }),
    ...(size_bytes !== undefined && { size_bytes }),
    ...(inline && data_uri !== undefined && { data_uri }),
  }
}

const mediaId = (session: string, message: string, segment: number): string =>
  Buffer.from(JSON.stringify([session, message, segment])).toString('base64url')

export interface MediaLocation {
  readonly session: string
  readonly message: string
  readonly segment: number
}

export function parseMediaId(id: string): MediaLocation | undefined {
  try {
    const [session, message, segment] = JSON.parse(Buffer.from(id, 'base64url').toString('utf8')) as unknown[]
    if (typeof session !== 'string' || typeof message !== 'string' || !Number.isInteger(segment)) return undefined
    return { session, message, segment: segment as number }
  } catch {
    return undefined
  }
}

/** Nothing for what a browser could run. */
export function decodeImage(media: Media | undefined): { readonly type: string; readonly bytes: Buffer } | undefined {
  const uri = media?.data_uri
  const match = uri === undefined ? null : RASTER_DATA_URI.exec(uri)
  if (!uri || !match) return undefined
  const type = (match[1] ?? '').toLowerCase().replace('/jpg', '/jpeg')
  return { type, bytes: Buffer.from(uri.slice(match[0].length), 'base64') }
}

/** The contents of a message in replies: long texts cut, texts as HTML, images at addresses of their own. */
import { renderMarkdown } from '../../lib/markup/html.ts'
import type { LeftOut, MediaItem } from '../../model/api/message.ts'
import type { Media } from '../../model/normalized.ts'
import { LruCache } from '../lru-cache.ts'

/** Longer texts are cut; the client loads them on demand. */
const MAX_INLINE_BYTES = 100_000
/** Characters of a text that was cut. */
const SHOWN_LENGTH = 8_000

/** Cuts the long texts of one message, and records what it cut. */
export class TextCuts {
  readonly #address: string
  readonly #isUncut: boolean
  readonly omitted: LeftOut[] = []

  /** @param address of the message */
  constructor(address: string, isUncut = false) {
    this.#address = address
    this.#isUncut = isUncut
  }

  /** The text, or its beginning. @param address of the message that holds it */
  text(field: string, text: string, address = this.#address): string {
    if (this.#isUncut || text.length * 3 <= MAX_INLINE_BYTES) return text
    const bytes = Buffer.byteLength(text)
    if (bytes <= MAX_INLINE_BYTES) return text
    this.#note(field, bytes, address)
    return cutText(text)
  }

  /** The value, or undefined if it is long. @param text that it was parsed from */
  value<T extends object>(field: string, value: T | undefined, text?: string, address = this.#address): T | undefined {
    if (value === undefined || this.#isUncut || (text !== undefined && text.length * 3 <= MAX_INLINE_BYTES))
      return value
    const bytes = jsonSizeOf(value)
    if (bytes <= MAX_INLINE_BYTES) return value
    this.#note(field, bytes, address)
    return undefined
  }

  #note(field: string, bytes: number, address: string): void {
    this.omitted.push({ field, bytes, url: `${address}/field?name=${encodeURIComponent(field)}` })
  }
}

/** Never cuts between the halves of a character. */
function cutText(text: string): string {
  const last = text.charCodeAt(SHOWN_LENGTH - 1)
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? SHOWN_LENGTH - 1 : SHOWN_LENGTH)
}

/** Values nested too deep for JSON are too long. */
function jsonSizeOf(value: object): number {
  try {
    return JSON.stringify(value).length
  } catch {
    return Number.MAX_SAFE_INTEGER
  }
}

export const messageAddress = (session: string, message: string): string =>
  `/api/sessions/${encodeURIComponent(session)}/messages/${encodeURIComponent(message)}`

const MAX_CACHED_LENGTH = 12_000_000
const htmlCache = new LruCache<string, string>(MAX_CACHED_LENGTH, (html) => html.length)

/** A text as sanitised HTML. Pages request the same texts repeatedly. */
export function renderHtml(text: string): string {
  const cached = htmlCache.get(text)
  if (cached !== undefined) return cached
  const html = renderMarkdown(text)
  htmlCache.set(text, html)
  return html
}

/** Raster images cannot contain scripts. */
const RASTER_DATA_URI = /^data:(image\/(?:png|jpeg|jpg|gif|webp|avif|bmp));base64,/i

interface MediaLocation {
  readonly session: string
  readonly message: string
  /** Index of the segment. */
  readonly segment: number
}

export function toMediaItem(media: Media, location: MediaLocation, inline: boolean): MediaItem {
  const { data_uri, url, mime_type, size_bytes } = media
  const isImage = data_uri !== undefined && RASTER_DATA_URI.test(data_uri)
  return {
    ...(isImage && { url: `/api/media/${mediaId(location)}` }),
    ...(url !== undefined && { source_url: url }),
    ...(mime_type !== undefined && { mime_type }),
    ...(size_bytes !== undefined && { size_bytes }),
    ...(inline && data_uri !== undefined && { data_uri }),
  }
}

const mediaId = ({ session, message, segment }: MediaLocation): string =>
  Buffer.from(JSON.stringify([session, message, segment])).toString('base64url')

export function parseMediaId(id: string): MediaLocation | undefined {
  try {
    const [session, message, segment] = JSON.parse(Buffer.from(id, 'base64url').toString('utf8')) as unknown[]
    if (typeof session !== 'string' || typeof message !== 'string' || !Number.isInteger(segment)) return undefined
    return { session, message, segment: segment as number }
  } catch {
    return undefined
  }
}

/** Undefined for anything that a browser could run. */
export function decodeImage(media: Media | undefined): { readonly type: string; readonly bytes: Buffer } | undefined {
  const uri = media?.data_uri
  const match = uri === undefined ? null : RASTER_DATA_URI.exec(uri)
  if (!uri || !match) return undefined
  const type = (match[1] ?? '').toLowerCase().replace('/jpg', '/jpeg')
  return { type, bytes: Buffer.from(uri.slice(match[0].length), 'base64') }
}

/** The parts of a message: words and images. */
import { printable } from '../../lib/text.ts'
import type { Media, MessageSegment, NormalizedMessage } from '../../model/normalized.ts'
import type { Image } from './material.ts'

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly image: Image }
  /** An image whose bytes are elsewhere, or of a kind that is not shown. */
  | { readonly kind: 'absent'; readonly note: string; readonly url?: string }

/** @param all also the stretches of a prompt that nobody typed */
export function partsOf(message: NormalizedMessage, all: boolean): readonly Part[] {
  return message.segments.flatMap((segment): readonly Part[] => {
    if (segment.type === 'image') return [imagePart(segment.media ?? {})]
    const text = printable(all ? (segment.text ?? '') : typed(segment))
    return text.trim() === '' ? [] : [{ kind: 'text', text }]
  })
}

/** A text without what programs put into it. */
export function typed({ text = '', annotations }: MessageSegment): string {
  let rest = ''
  let at = 0
  for (const mark of annotations ?? []) {
    if (mark.kind !== 'injected') continue
    rest += text.slice(at, Math.max(at, mark.start))
    at = Math.max(at, mark.end)
  }
  return rest + text.slice(at)
}

/** Pictures made of dots: nothing in them can act. */
const RASTER = /^data:image\/(png|jpe?g|gif|webp|avif|bmp);base64,[\w+/-]+={0,2}$/i

function imagePart({ data_uri: given, url, mime_type, size_bytes }: Media): Part {
  const data_uri = given?.replaceAll(/\s/g, '') ?? ''
  const extension = RASTER.exec(data_uri)?.[1]?.toLowerCase().replace('jpeg', 'jpg')
  if (extension !== undefined) return { kind: 'image', image: { data_uri, extension } }
  const note = [mime_type, size_bytes !== undefined && `${size_bytes} bytes`].filter(Boolean).join(', ')
  return { kind: 'absent', note: printable(note), ...(url !== undefined && { url: printable(url) }) }
}

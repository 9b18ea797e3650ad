/** The parts of a message: words and images. */
import { toPrintable } from '../lib/text.ts'
import { withoutInjectedText } from '../model/classify.ts'
import type { Media, NormalizedMessage } from '../model/normalized.ts'
import type { ExportImage } from './export-input.ts'

export type MessagePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly image: ExportImage }
  /** An image whose bytes are elsewhere, or of a kind that is not shown. */
  | { readonly kind: 'absent'; readonly note: string; readonly url?: string }

/** @param all also the stretches of a prompt that nobody typed */
export function messagePartsOf(message: NormalizedMessage, all: boolean): readonly MessagePart[] {
  return message.segments.flatMap((segment): readonly MessagePart[] => {
    if (segment.type === 'image') return [toExportImage(segment.media ?? {})]
    const text = toPrintable(all ? (segment.text ?? '') : withoutInjectedText(segment))
    return text.trim() === '' ? [] : [{ kind: 'text', text }]
  })
}

/** Pictures made of dots: nothing in them can act. */
const RASTER_DATA_URI = /^data:image\/(png|jpe?g|gif|webp|avif|bmp);base64,[\w+/-]+={0,2}$/i

function toExportImage({ data_uri: given, url, mime_type, size_bytes }: Media): MessagePart {
  const data_uri = given?.replaceAll(/\s/g, '') ?? ''
  const extension = RASTER_DATA_URI.exec(data_uri)?.[1]?.toLowerCase().replace('jpeg', 'jpg')
  if (extension !== undefined) return { kind: 'image', image: { data_uri, extension } }
  const note = [mime_type, size_bytes !== undefined && `${size_bytes} bytes`].filter(Boolean).join(', ')
  return { kind: 'absent', note: toPrintable(note), ...(url !== undefined && { url: toPrintable(url) }) }
}

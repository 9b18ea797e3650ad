/** A message in the specification's own shape. */
import type { NormalizedMessage } from '../../../model/normalized.ts'
import { renderSpecHtml } from '../rendered.ts'

/** `sanitized` puts HTML of the allowed tags in place of each text. Annotations count places in the text as it was said. */
export function toSpecMessage(message: NormalizedMessage, variant: 'original' | 'sanitized'): NormalizedMessage {
  if (variant === 'original') return message
  const segments = message.segments.map(({ annotations: _, ...segment }) =>
    segment.text === undefined ? segment : { ...segment, text: renderSpecHtml(segment.text) },
  )
  return { ...message, segments }
}

/** A message in the specification's own shape. */
import type { NormalizedMessage } from '../../../model/normalized.ts'
import { letterOf } from '../rendered.ts'

/** `sanitized` puts HTML of the allowed tags in place of each text. Annotations count places in the text as it was said. */
export function specified(message: NormalizedMessage, variant: 'original' | 'sanitized'): NormalizedMessage {
  if (variant === 'original') return message
  const segments = message.segments.map(({ annotations: _, ...segment }) =>
    segment.text === undefined ? segment : { ...segment, text: letterOf(segment.text) },
  )
  return { ...message, segments }
}

/** What a person typed, in few words. */

import type { NormalizedMessage } from '../../../model/normalized.ts'
import { searchableTextOf } from '../../../model/searchable-text.ts'
import { toSingleLine } from '../../../model/tool-summary.ts'

const MAX_PROMPT_LENGTH = 200

/** What programs added is taken away. */
export function promptLineOf(message: NormalizedMessage): string {
  const { prompt } = searchableTextOf(message)
  const fullText = prompt ?? message.segments.map(({ text }) => text ?? '').join('\n')
  const line = toSingleLine(fullText.slice(0, MAX_PROMPT_LENGTH * 4))
  if (line === '' && message.segments.some(({ type }) => type === 'image')) return '[image]'
  return line.length > MAX_PROMPT_LENGTH ? `${line.slice(0, MAX_PROMPT_LENGTH).trimEnd()}…` : line
}

/** What a person typed, in few words. */
import { oneLine } from '../../../model/gist.ts'
import type { NormalizedMessage } from '../../../model/normalized.ts'
import { spokenIn } from '../../../model/spoken.ts'

const LONGEST = 200

/** What programs added is taken away. */
export function promptIn(message: NormalizedMessage): string {
  const { prompt } = spokenIn(message)
  const said = prompt ?? message.segments.map(({ text }) => text ?? '').join('\n')
  const line = oneLine(said.slice(0, LONGEST * 4))
  if (line === '' && message.segments.some(({ type }) => type === 'image')) return '[image]'
  return line.length > LONGEST ? `${line.slice(0, LONGEST).trimEnd()}…` : line
}

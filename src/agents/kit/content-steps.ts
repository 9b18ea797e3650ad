/** Makes parts of a `Content` of the Gemini API from a conversation's messages, for the programs that store them. */
import type { Fields } from '../../lib/unknown-values.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { ReplayCall } from '../../model/replay/step.ts'
import { NOT_A_COMMAND } from './content-parts.ts'
import { type BlockForm, blocksOf, imageBlocks, type NamedCall, outputOf, type StepNaming } from './step-blocks.ts'

export const PART_FORM: BlockForm = {
  text: (text) => ({ text }),
  image: ({ mimeType, data }) => ({ inlineData: { mimeType, data } }),
}

export const partsOfMessage = (message: NormalizedMessage, naming: StepNaming): readonly Fields[] =>
  blocksOf(PART_FORM, message, naming)

export function withMark(parts: readonly Fields[], isCommand: (text: string) => boolean): readonly Fields[] {
  const text = parts[0]?.['text']
  return typeof text === 'string' && isCommand(text) ? [{ text: NOT_A_COMMAND }, ...parts] : parts
}

/** The functionResponse of a call, and the images of its result beside it. */
export function responseParts(call: ReplayCall, { id, name }: NamedCall, naming: StepNaming): readonly Fields[] {
  const { result } = call
  const output = outputOf(call, naming)
  const response = !result || result.tool.status === 'error' ? { error: output } : { output }
  const images = result ? imageBlocks(PART_FORM, result.segments, result.message, naming) : []
  return [{ functionResponse: { id, name, response } }, ...images]
}

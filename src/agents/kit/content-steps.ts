/** Makes parts of a `Content` of the Gemini API from a conversation's messages, for the programs that store them. */
import type { Fields } from '../../lib/unknown-values.ts'
import type { MessageSegment, NormalizedMessage } from '../../model/normalized.ts'
import {
  ABORTED,
  type AnswerPart,
  type AnswerStep,
  attachmentNote,
  attachmentsOf,
  type ReplayCall,
  type ReplayResult,
  toConversionChange,
} from '../../model/replay/step.ts'
import { NOT_A_COMMAND } from './content-parts.ts'
import type { LineNaming } from './line-writer.ts'

const DATA_URI = /^data:([\w.+-]+\/[\w.+-]+);base64,(.*)$/s

/** Text and images in order, then notes for what the API cannot hold. */
export const partsOfMessage = (message: NormalizedMessage, naming: LineNaming): readonly Fields[] => [
  ...message.segments.flatMap((segment) => partOf(segment, message.timestamp, naming)),
  ...attachmentsOf(message).map((one) => ({ text: attachmentNote(one) })),
]

function partOf({ text, media }: MessageSegment, at: string, { repair }: LineNaming): readonly Fields[] {
  if (text !== undefined) return [{ text }]
  const [, mimeType, data] = DATA_URI.exec(media?.data_uri ?? '') ?? []
  if (mimeType !== undefined) return [{ inlineData: { mimeType, data } }]
  const url = media?.url ?? media?.data_uri
  if (url === undefined) return []
  repair(at, toConversionChange('image_unheld'))
  return [{ text: attachmentNote({ format: 'image', url: media?.url }) }]
}

/** Without calls that the model's server ran: the program has no such tool, and would show them as its own. */
export const ownPartsOf = ({ said }: AnswerStep): readonly AnswerPart[] =>
  said.filter((part) => part.kind !== 'call' || !part.call.isServed)

export function withMark(parts: readonly Fields[], isCommand: (text: string) => boolean): readonly Fields[] {
  const text = parts[0]?.['text']
  return typeof text === 'string' && isCommand(text) ? [{ text: NOT_A_COMMAND }, ...parts] : parts
}

/** Arguments that are not an object are wrapped: the API takes nothing else. */
export function argumentsOf({ tool, message }: ReplayCall, { repair }: LineNaming): object {
  const json = tool.arguments_json ?? tool.input_json
  if (json !== undefined && !Array.isArray(json)) return json
  const text = tool.arguments ?? tool.input ?? ''
  if (text === '' || text === '{}') return {}
  repair(message.timestamp, toConversionChange('arguments_wrapped'))
  return { _raw: text }
}

interface NamedCall {
  readonly id: string
  readonly name: string
}

/** The functionResponse of a result, and its images beside it. */
export function responseParts(result: ReplayResult, { id, name }: NamedCall, naming: LineNaming): readonly Fields[] {
  const output = result.tool.output ?? ''
  const response = result.tool.status === 'error' ? { error: output } : { output }
  const images = result.segments.filter(({ type }) => type === 'image')
  return [
    { functionResponse: { id, name, response } },
    ...images.flatMap((segment) => partOf(segment, result.message.timestamp, naming)),
  ]
}

/** The API refuses a call without a response. */
export function missingResponse({ message }: ReplayCall, { id, name }: NamedCall, naming: LineNaming): Fields {
  naming.repair(message.timestamp, toConversionChange('call_aborted'))
  return { functionResponse: { id, name, response: { error: ABORTED } } }
}

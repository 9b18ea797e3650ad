/** Steps of a conversation as the records of a program: what the writers of such formats share. */
import type { Fields } from '../../lib/unknown-values.ts'
import { MISSING_MARK } from '../../model/metadata.ts'
import type { Media, MessageSegment, NormalizedMessage } from '../../model/normalized.ts'
import type { ElementFacts } from '../../model/replay/extension.ts'
import {
  ABORTED,
  type AnswerPart,
  type AnswerStep,
  attachmentNote,
  attachmentsOf,
  type ConversionChange,
  elementFactsOf,
  type OrphanStep,
  orphanText,
  type ReplayCall,
  resultFactsOf,
  toConversionChange,
} from '../../model/replay/step.ts'
import { nameCall, type UniqueCallIds, type UniqueToolNames } from '../../model/replay/unique-names.ts'

export interface StepNaming {
  readonly ids: UniqueCallIds
  readonly names: UniqueToolNames
  /** Reports what was invented or changed. */
  repair(at: string, what: ConversionChange): void
}

/** How a format writes a text and an image. */
export interface BlockForm {
  text(text: string): Fields
  /** Undefined for an image that the format cannot hold. */
  image(image: EncodedImage): Fields | undefined
}

export interface EncodedImage {
  readonly uri: string
  readonly mimeType: string
  readonly data: string
}

const DATA_URI = /^data:([\w.+-]+\/[\w.+-]+);base64,(.*)$/s

/** Undefined for an image that is only an address. */
export function encodedImage(media: Media | undefined): EncodedImage | undefined {
  const [uri, mimeType, data = ''] = DATA_URI.exec(media?.data_uri ?? '') ?? []
  return uri === undefined || mimeType === undefined ? undefined : { uri, mimeType, data }
}

/** Text and images in order, then notes for what the format cannot hold. */
export const blocksOf = (form: BlockForm, message: NormalizedMessage, naming: StepNaming): readonly Fields[] => [
  ...message.segments.flatMap((one) =>
    one.text === undefined ? imageBlocks(form, [one], message, naming) : [form.text(one.text)],
  ),
  ...attachmentsOf(message).map((one) => form.text(attachmentNote(one))),
]

/** For formats whose answers hold no images. */
export const wordBlocks = ({ text }: BlockForm, message: NormalizedMessage, naming: StepNaming): readonly Fields[] =>
  blocksOf({ text, image: () => undefined }, message, naming)

/** The images among the segments of a message; a note for one that the format cannot hold. */
export const imageBlocks = (
  form: BlockForm,
  segments: readonly MessageSegment[],
  { timestamp }: NormalizedMessage,
  naming: StepNaming,
): readonly Fields[] =>
  segments.flatMap(({ text, media }) => {
    if (text !== undefined || (media?.data_uri === undefined && media?.url === undefined)) return []
    const image = encodedImage(media)
    const block = image && form.image(image)
    if (block) return [block]
    naming.repair(timestamp, toConversionChange('image_unheld'))
    return [form.text(attachmentNote({ format: 'image', url: media.url }))]
  })

/** Without calls that the model's server ran: the program has no such tool, and would show them as its own. */
const ownPartsOf = ({ said }: AnswerStep): readonly AnswerPart[] =>
  said.filter((part) => part.kind !== 'call' || !part.call.isServed)

/** Whether the model speaks again after a call or a text: the results of its calls come before. */
export const speaksAgain = (part: AnswerPart, open: readonly AnswerPart[]): boolean =>
  part.kind !== 'call' && open.some(({ kind }) => kind === 'call' || kind === 'words')

/**
 * An answer as the records of a format, in order.
 * @param isNext whether a part cannot join those of the record before it
 */
export function splitAnswer(
  step: AnswerStep,
  isNext: (part: AnswerPart, open: readonly AnswerPart[]) => boolean = speaksAgain,
): readonly (readonly AnswerPart[])[] {
  const records: AnswerPart[][] = []
  for (const part of ownPartsOf(step)) {
    const open = records.at(-1)
    if (open && !isNext(part, open)) open.push(part)
    else records.push([part])
  }
  return records
}

/** What a record takes from the messages that it is made of. */
export interface RecordFacts {
  readonly at: string
  /** The one with the words, else the first. */
  readonly message: NormalizedMessage | undefined
  readonly model: string | undefined
}

export function recordFactsOf(parts: readonly AnswerPart[]): RecordFacts {
  const messages = parts.map((part) => (part.kind === 'call' ? part.call.message : part.message))
  return {
    at: messages[0]?.timestamp ?? '',
    message: messages[parts.findIndex(({ kind }) => kind === 'words')] ?? messages[0],
    model: messages.map(({ metadata }) => metadata?.model).find((one) => typeof one === 'string'),
  }
}

/** A result without its call is refused, so it becomes a text, with its images. */
export function orphanRecord(
  form: BlockForm,
  step: OrphanStep,
  naming: StepNaming,
): { readonly blocks: readonly Fields[]; readonly at: string; readonly facts: ElementFacts } {
  naming.repair(step.at, toConversionChange('result_in_words'))
  const { message, segments } = step.result
  return {
    blocks: [form.text(orphanText(step)), ...imageBlocks(form, segments, message, naming)],
    at: message.timestamp,
    facts: { ...elementFactsOf(message), synthetic: 'orphan' },
  }
}

export interface NamedCall {
  readonly id: string
  readonly name: string
}

/** Valid for the target. Call it once per call. */
export const nameFor = (call: ReplayCall, naming: StepNaming): NamedCall =>
  nameCall(call, naming, (change) => naming.repair(call.message.timestamp, change))

/** Arguments that are not an object are wrapped: the API takes nothing else. */
export function argumentsOf({ tool, message }: ReplayCall, { repair }: StepNaming): object {
  const json = tool.arguments_json ?? tool.input_json
  if (json !== undefined && !Array.isArray(json)) return json
  const text = tool.arguments ?? tool.input ?? ''
  if (text === '' || text === '{}') return {}
  repair(message.timestamp, toConversionChange('arguments_wrapped'))
  return { _raw: text }
}

/** The output of a call. The API refuses a call without a result, so it gets one. */
export function outputOf({ result, message }: ReplayCall, naming: StepNaming): string {
  if (result) return result.tool.output ?? ''
  naming.repair(message.timestamp, toConversionChange('call_aborted'))
  return ABORTED
}

/** Facts of what has no message: it was made for the target. */
export const MADE: ElementFacts = { synthetic: MISSING_MARK }

/** @param isErrorStored the format tells an error from other results */
export function callFactsOf({ result }: ReplayCall, isErrorStored = false): ElementFacts | undefined {
  if (!result) return MADE
  return isErrorStored && result.tool.status === 'error' ? elementFactsOf(result.message) : resultFactsOf(result)
}

/** When the result came, else when the call was made. */
export const answeredAt = (call: ReplayCall): string => (call.result ?? call).message.timestamp

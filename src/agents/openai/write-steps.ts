/** Converts the steps of a conversation to messages of the chat API. */
import type { Fields } from '../../lib/unknown-values.ts'
import { MISSING_MARK } from '../../model/metadata.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { WrittenElement } from '../../model/replay/extension.ts'
import {
  ABORTED,
  type AnswerStep,
  attachmentNote,
  attachmentsOf,
  type ConversionChange,
  callsOfAnswer,
  elementFactsOf,
  imageAddressesOf,
  type OrphanStep,
  orphanText,
  type ReplayCall,
  type ReplayStep,
  resultFactsOf,
  textMessagesOf,
  textsWithNotes,
  toConversionChange,
} from '../../model/replay/step.ts'
import { nameCall, type UniqueCallIds, type UniqueToolNames } from '../../model/replay/unique-names.ts'

export interface ChatNaming {
  readonly ids: UniqueCallIds
  readonly names: UniqueToolNames
  /** Whether the target allows calls of custom tools. */
  readonly customCalls: boolean
  /** Reports inserted or changed values. */
  repair(at: string, what: ConversionChange): void
}

export interface ChatElement extends WrittenElement {
  readonly value: Fields
}

export function stepMessages(step: ReplayStep, naming: ChatNaming): readonly ChatElement[] {
  switch (step.kind) {
    case 'instruction':
      return [{ value: { role: step.role, content: textContent(step.message) }, facts: elementFactsOf(step.message) }]
    case 'prompt':
      return [{ value: { role: 'user', content: userContent(step.message) }, facts: elementFactsOf(step.message) }]
    case 'answer':
      return answerMessages(step, naming)
    case 'orphan':
      return orphanMessages(step, naming)
    case 'aside':
      return []
  }
}

/** A single text is a string; several are parts, so that each stays unchanged. */
function textContent(message: NormalizedMessage): string | readonly Fields[] {
  const texts = textsWithNotes(message)
  return texts.length > 1 ? texts.map(textPart) : (texts[0] ?? '')
}

function userContent(message: NormalizedMessage): string | readonly Fields[] {
  if (imageAddressesOf(message.segments).length === 0) return textContent(message)
  const parts = message.segments.flatMap(({ text, media }): readonly Fields[] => {
    const url = media?.data_uri ?? media?.url
    if (text !== undefined) return text === '' ? [] : [textPart(text)]
    return url === undefined ? [] : [imagePart(url)]
  })
  return [...parts, ...attachmentsOf(message).map((one) => textPart(attachmentNote(one)))]
}

const textPart = (text: string): Fields => ({ type: 'text', text })
const imagePart = (url: string): Fields => ({ type: 'image_url', image_url: { url } })

/** One message for the answer, one for each result, then the images from results. */
function answerMessages(step: AnswerStep, naming: ChatNaming): readonly ChatElement[] {
  const textMessages = textMessagesOf(step)
  const calls = callsOfAnswer(step).filter(({ isServed }) => !isServed)
  if (textMessages.length === 0 && calls.length === 0) return []
  const text = textMessages.flatMap(textsWithNotes).join('\n\n')
  const tool_calls = calls.map((call) => toolCallOf(call, naming))
  const value: Fields = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(calls.length > 0 && { tool_calls }),
  }
  const first = textMessages[0] ?? calls[0]?.message
  const results = calls.map((call, at) => resultMessage(call, tool_calls[at]?.id ?? '', naming))
  const images = calls.flatMap(({ result }) => (result ? imageAddressesOf(result.segments) : []))
  return [{ value, facts: first && elementFactsOf(first) }, ...results, ...imageMessages(images)]
}

function toolCallOf(call: ReplayCall, naming: ChatNaming): Fields & { readonly id: string } {
  const { tool, message } = call
  const { id, name } = nameCall(call, naming, (change) => naming.repair(message.timestamp, change))
  if (tool.input === undefined) return { id, type: 'function', function: { name, arguments: tool.arguments || '{}' } }
  if (naming.customCalls) return { id, type: 'custom', custom: { name, input: tool.input } }
  return { id, type: 'function', function: { name, arguments: JSON.stringify({ input: tool.input }) } }
}

function resultMessage({ result, message }: ReplayCall, tool_call_id: string, naming: ChatNaming): ChatElement {
  if (result) {
    const value = { role: 'tool', tool_call_id, content: result.tool.output ?? '' }
    return { value, facts: resultFactsOf(result) }
  }
  naming.repair(message.timestamp, toConversionChange('call_aborted'))
  return { value: { role: 'tool', tool_call_id, content: ABORTED }, facts: { synthetic: MISSING_MARK } }
}

/** Results cannot contain images, so a user message contains them. */
function imageMessages(urls: readonly string[]): readonly ChatElement[] {
  if (urls.length === 0) return []
  return [{ value: { role: 'user', content: urls.map(imagePart) }, facts: { synthetic: 'tool_images' } }]
}

/** A result without its call is not allowed, so it becomes a text. */
function orphanMessages(step: OrphanStep, naming: ChatNaming): readonly ChatElement[] {
  naming.repair(step.at, toConversionChange('result_in_words'))
  const { message } = step.result
  const value = { role: 'user', content: orphanText(step) }
  return [
    { value, facts: { ...elementFactsOf(message), synthetic: 'orphan' } },
    ...imageMessages(imageAddressesOf(message.segments)),
  ]
}

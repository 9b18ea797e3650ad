/** Converts the steps of a conversation to the records that Claude Code reads. */
import { type Fields, isObject, parseStructure } from '../../lib/unknown-values.ts'
import type { MessageSegment, NormalizedMessage, ToolCall } from '../../model/normalized.ts'
import type { ElementFacts } from '../../model/replay/extension.ts'
import {
  type AnswerPart,
  type AnswerStep,
  attachmentNote,
  attachmentsOf,
  callsOfAnswer,
  elementFactsOf,
  type InstructionStep,
  type OrphanStep,
  orphanText,
  type PromptStep,
  type ReplayCall,
  type ReplayStep,
  textsWithNotes,
  toConversionChange,
} from '../../model/replay/step.ts'
import { answeredAt, callFactsOf, nameFor, outputOf, type StepNaming } from '../kit/step-blocks.ts'
import { AGENT_ID } from './find.ts'

/** A record without its place in the chain. */
export interface ChainItem {
  readonly type: 'user' | 'assistant'
  readonly at: string
  readonly fields: Fields
  readonly facts: ElementFacts | undefined
}

export interface ChainNaming extends StepNaming {
  /** For answers whose model is not known. */
  readonly model: string
  newId(): string
}

export function stepItems(step: ReplayStep, naming: ChainNaming): readonly ChainItem[] {
  switch (step.kind) {
    case 'instruction':
      return [instructionItem(step, naming)]
    case 'prompt':
      return [promptItem(step, naming)]
    case 'answer':
      return answerItems(step, naming)
    case 'orphan':
      return [orphanItem(step, naming)]
    case 'aside':
      return []
  }
}

const userItem = (at: string, content: unknown, facts: ElementFacts | undefined, more: Fields = {}): ChainItem => ({
  type: 'user',
  at,
  fields: { message: { role: 'user', content }, ...more },
  facts,
})

/** Sessions hold no text of the system. A summary is marked as Claude Code marks its own. */
function instructionItem({ message, isSummary, at }: InstructionStep, naming: ChainNaming): ChainItem {
  const marks = isSummary ? { isVisibleInTranscriptOnly: true, isCompactSummary: true } : { isMeta: true }
  return userItem(at, inputContent(message, naming), elementFactsOf(message), marks)
}

const promptItem = ({ message, isInjected, at }: PromptStep, naming: ChainNaming): ChainItem =>
  userItem(at, inputContent(message, naming), elementFactsOf(message), isInjected ? { isMeta: true } : {})

/** A single text is a string. The server takes no empty text. */
function inputContent(message: NormalizedMessage, naming: ChainNaming): string | readonly Fields[] {
  const blocks = [
    ...message.segments.flatMap((segment) => inputBlock(segment, message.timestamp, naming)),
    ...attachmentsOf(message).map((one) => textBlock(attachmentNote(one))),
  ]
  const sent = blocks.filter(({ type, text }) => type !== 'text' || String(text).trim() !== '')
  const [only] = sent
  if (!only) {
    naming.repair(message.timestamp, toConversionChange('prompt_empty', EMPTY))
    return EMPTY
  }
  return sent.length === 1 && only['type'] === 'text' ? String(only['text']) : sent
}

const EMPTY = 'Empty prompt'

const textBlock = (text: string): Fields => ({ type: 'text', text })

const DATA_URI = /^data:([^;,]+);base64,(.*)$/s

function inputBlock({ text, media }: MessageSegment, at: string, { repair }: ChainNaming): readonly Fields[] {
  if (text !== undefined) return [textBlock(text)]
  const url = media?.data_uri ?? media?.url
  if (url === undefined) return []
  const [, media_type, data] = DATA_URI.exec(url) ?? []
  if (data !== undefined) return [{ type: 'image', source: { type: 'base64', media_type, data } }]
  if (/^https?:/i.test(url)) return [{ type: 'image', source: { type: 'url', url } }]
  repair(at, toConversionChange('image_unaddressed'))
  return [textBlock(attachmentNote({ format: 'image', url }))]
}

/** One record per block, all of one response, and then a record per result. */
function answerItems(step: AnswerStep, naming: ChainNaming): readonly ChainItem[] {
  const id = `msg_${naming.newId()}`
  const callIds = new Map<ReplayCall, string>()
  const parts = step.said.flatMap((part) => {
    const made = answerBlock(part, step, callIds, naming)
    return made ? [made] : []
  })
  const items = parts.map(({ block, message, facts }, at) => {
    const isLast = at === parts.length - 1
    return responseItem({ id, block, message, isLast, isCalling: callIds.size > 0, model: naming.model, facts })
  })
  for (const call of callsOfAnswer(step)) {
    const callId = callIds.get(call)
    if (callId !== undefined) items.push(resultItem(call, callId, naming))
  }
  return items
}

interface AnswerBlock {
  readonly block: Fields
  readonly message: NormalizedMessage
  readonly facts: ElementFacts | undefined
}

function answerBlock(
  part: AnswerPart,
  { group }: AnswerStep,
  callIds: Map<ReplayCall, string>,
  naming: ChainNaming,
): AnswerBlock | undefined {
  if (part.kind === 'thought') return thoughtBlock(part.message, part.text, group.src)
  if (part.kind === 'words') {
    const text = textsWithNotes(part.message).join('\n\n')
    if (text.trim() === '') return undefined
    return { block: textBlock(text), message: part.message, facts: elementFactsOf(part.message) }
  }
  const { call } = part
  const { message, tool, isServed } = call
  // Claude Code does not record a call that the model's server ran.
  if (isServed) return undefined
  const named = nameFor(call, naming)
  callIds.set(call, named.id)
  const facts: ElementFacts = {
    ...elementFactsOf(message),
    ...(tool.call_id !== null && named.id !== tool.call_id && { orig_id: tool.call_id }),
    ...(tool.name !== null && named.name !== tool.name && { orig_name: tool.name }),
  }
  const input = inputOf(tool, () => naming.repair(message.timestamp, toConversionChange('arguments_wrapped')))
  return { block: { type: 'tool_use', id: named.id, name: named.name, input }, message, facts }
}

/** The server takes only thoughts with the signature that it gave them. */
function thoughtBlock(message: NormalizedMessage, text: string, src: string | undefined): AnswerBlock | undefined {
  const signature = message.raw.encrypted_content
  if (src !== AGENT_ID || signature === undefined) return undefined
  const block =
    message.raw.payload_type === 'redacted_thinking'
      ? { type: 'redacted_thinking', data: signature }
      : { type: 'thinking', thinking: text, signature }
  return { block, message, facts: elementFactsOf(message) }
}

/** Always an object. */
function inputOf(tool: ToolCall, wrapped: () => void): object {
  if (tool.input !== undefined) return { input: tool.input }
  const text = tool.arguments ?? ''
  if (text.trim() === '') return {}
  const parsed = parseStructure(text)
  if (isObject(parsed)) return parsed
  wrapped()
  return { _raw: text }
}

function responseItem(given: {
  readonly id: string
  readonly block: Fields
  readonly message: NormalizedMessage
  readonly isLast: boolean
  readonly isCalling: boolean
  readonly model: string
  readonly facts: ElementFacts | undefined
}): ChainItem {
  const { id, block, message, isLast, isCalling, facts } = given
  const model = typeof message.metadata?.model === 'string' ? message.metadata.model : given.model
  const stop_reason = !isLast ? null : isCalling ? 'tool_use' : 'end_turn'
  return {
    type: 'assistant',
    at: message.timestamp,
    fields: {
      message: {
        model,
        id,
        type: 'message',
        role: 'assistant',
        content: [block],
        stop_reason,
        stop_sequence: null,
        usage: NO_TOKENS,
      },
    },
    facts,
  }
}

/** What was spent elsewhere is not counted again. */
const NO_TOKENS = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
}

function resultItem(call: ReplayCall, tool_use_id: string, naming: ChainNaming): ChainItem {
  const { result } = call
  const images = result ? imageBlocks(result.segments, result.message.timestamp, naming) : []
  const text = outputOf(call, naming)
  const content = images.length === 0 ? text : text === '' ? images : [textBlock(text), ...images]
  const isError = result?.tool.status !== 'success'
  const block = { tool_use_id, type: 'tool_result', content, ...(isError && { is_error: true }) }
  return userItem(answeredAt(call), [block], callFactsOf(call))
}

const imageBlocks = (segments: readonly MessageSegment[], at: string, naming: ChainNaming): readonly Fields[] =>
  segments.flatMap((segment) => (segment.type === 'image' ? inputBlock(segment, at, naming) : []))

/** The server takes no result without its call, so it becomes a text. */
function orphanItem(step: OrphanStep, naming: ChainNaming): ChainItem {
  naming.repair(step.at, toConversionChange('result_in_words'))
  const { message, segments } = step.result
  const images = imageBlocks(segments, step.at, naming)
  const text = orphanText(step)
  const content = images.length === 0 ? text : [textBlock(text), ...images]
  return userItem(step.at, content, { ...elementFactsOf(message), synthetic: 'orphan' })
}

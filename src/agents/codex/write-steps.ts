/** Converts the steps of a conversation to the records that Codex reads. */
import { type Fields, isObject, listOf, stringOf } from '../../lib/unknown-values.ts'
import { MISSING_MARK } from '../../model/metadata.ts'
import type { MessageSegment, NormalizedMessage } from '../../model/normalized.ts'
import type { ElementFacts, WrittenElement } from '../../model/replay/extension.ts'
import {
  ABORTED,
  type AnswerStep,
  attachmentNote,
  attachmentsOf,
  type ConversionChange,
  callsOfAnswer,
  elementFactsOf,
  type OrphanStep,
  orphanText,
  type PromptStep,
  type ReplayCall,
  type ReplayResult,
  type ReplayStep,
  resultFactsOf,
  textsWithNotes,
  toConversionChange,
} from '../../model/replay/step.ts'
import { nameCall, type UniqueCallIds, type UniqueToolNames } from '../../model/replay/unique-names.ts'
import { coversText, findInjected } from './record/content.ts'

/** A line without its time. */
export interface LogItem extends WrittenElement {
  readonly type: 'session_meta' | 'response_item' | 'event_msg'
  readonly value: Fields
  readonly at: string
}

export interface LogNaming {
  readonly ids: UniqueCallIds
  readonly names: UniqueToolNames
  /** Reports what was invented or changed. */
  repair(at: string, what: ConversionChange): void
}

export function stepItems(step: ReplayStep, naming: LogNaming): readonly LogItem[] {
  switch (step.kind) {
    case 'instruction':
      return [messageItem('developer', step.message, inputParts(step.message, naming))]
    case 'prompt':
      return promptItems(step, naming)
    case 'answer':
      return answerItems(step, naming)
    case 'orphan':
      return orphanItems(step, naming)
    case 'aside':
      return []
  }
}

function responseItem(at: string, value: Fields, facts?: ElementFacts): LogItem {
  return { type: 'response_item', value, at, facts }
}

/** What the screen shows when the session is resumed. */
const screenEvent = (at: string, value: Fields): LogItem => ({ type: 'event_msg', value, at })

function messageItem(role: 'developer' | 'user', normalized: NormalizedMessage, content: readonly Fields[]): LogItem {
  return responseItem(normalized.timestamp, { type: 'message', role, content }, elementFactsOf(normalized))
}

function promptItems(
  { message: normalized, isInjected: isProgramText }: PromptStep,
  naming: LogNaming,
): readonly LogItem[] {
  const content = inputParts(normalized, naming)
  const sent = messageItem('user', normalized, content)
  // Codex takes what another program inserted for a prompt, unless it would insert the same.
  const isHidden = isProgramText && content.every((part) => isInjected(stringOf(part['text'])))
  return isHidden ? [sent] : [sent, screenEvent(normalized.timestamp, promptEvent(content))]
}

const inputParts = (normalized: NormalizedMessage, naming: LogNaming): readonly Fields[] => [
  ...normalized.segments.flatMap((segment) => inputPart(segment, normalized.timestamp, naming)),
  ...attachmentsOf(normalized).map((one) => ({ type: 'input_text', text: attachmentNote(one) })),
]

/** Codex sends the image's URL, and servers accept no other scheme. */
const IMAGE_ADDRESS = /^(?:data:|https?:)/i

function inputPart({ text, media }: MessageSegment, at: string, { repair }: LogNaming): readonly Fields[] {
  if (text !== undefined) return [{ type: 'input_text', text }]
  const url = media?.data_uri ?? media?.url
  if (url === undefined) return []
  if (IMAGE_ADDRESS.test(url)) return [{ type: 'input_image', image_url: url }]
  repair(at, toConversionChange('image_unaddressed'))
  return [{ type: 'input_text', text: attachmentNote({ format: 'image', url }) }]
}

/** All calls first, then all results, in the order of the calls. */
function answerItems(step: AnswerStep, naming: LogNaming): readonly LogItem[] {
  const items: LogItem[] = []
  const callIds = new Map<ReplayCall, string>()
  for (const one of step.said) {
    if (one.kind === 'thought') items.push(...reasoningItems(one.message, one.text, step.group.src))
    else if (one.kind === 'words') items.push(...textItems(one.message))
    else {
      const { call } = one
      const named = nameCall(call, naming, (change) => naming.repair(call.message.timestamp, change))
      callIds.set(call, named.id)
      items.push(callItem(call, named))
    }
  }
  for (const call of callsOfAnswer(step)) items.push(resultItem(call, callIds.get(call) ?? '', naming))
  return items
}

/** Codex accepts only reasoning that it encrypted itself. Other reasoning is shown but not sent. */
function reasoningItems(
  { timestamp, raw }: NormalizedMessage,
  text: string,
  src: string | undefined,
): readonly LogItem[] {
  const sealed = raw.encrypted_content
  if (src === 'codex' && sealed !== undefined) {
    const summary = text === '' ? [] : [{ type: 'summary_text', text }]
    return [responseItem(timestamp, { type: 'reasoning', summary, encrypted_content: sealed })]
  }
  return text === '' ? [] : [screenEvent(timestamp, { type: 'agent_reasoning', text })]
}

function textItems(normalized: NormalizedMessage): readonly LogItem[] {
  const texts = textsWithNotes(normalized)
  const facts = elementFactsOf(normalized)
  const phase = facts?.phase === undefined ? {} : { phase: facts.phase }
  const content = texts.map((text) => ({ type: 'output_text', text }))
  return [
    screenEvent(normalized.timestamp, { type: 'agent_message', message: texts.join('\n'), ...phase }),
    responseItem(normalized.timestamp, { type: 'message', role: 'assistant', content, ...phase }, facts),
  ]
}

function callItem(
  { tool, message: normalized }: ReplayCall,
  { id: call_id, name }: { readonly id: string; readonly name: string },
): LogItem {
  const { timestamp } = normalized
  const facts: ElementFacts = {
    ...elementFactsOf(normalized),
    ...(tool.call_id !== null && call_id !== tool.call_id && { orig_id: tool.call_id }),
    ...(tool.name !== null && name !== tool.name && { orig_name: tool.name }),
  }
  const namespace = tool.namespace === undefined ? {} : { namespace: tool.namespace }
  if (tool.input !== undefined)
    return responseItem(
      timestamp,
      { type: 'custom_tool_call', status: 'completed', call_id, name, ...namespace, input: tool.input },
      facts,
    )
  return responseItem(
    timestamp,
    { type: 'function_call', name, ...namespace, arguments: tool.arguments || '{}', call_id },
    facts,
  )
}

function resultItem(
  { tool, result, message: normalized, isServed }: ReplayCall,
  call_id: string,
  naming: LogNaming,
): LogItem {
  const type = tool.input === undefined ? 'function_call_output' : 'custom_tool_call_output'
  if (result)
    return responseItem(
      result.message.timestamp,
      { type, call_id, output: resultOutput(result, naming) },
      resultFactsOf(result),
    )
  if (isServed) return responseItem(normalized.timestamp, { type, call_id, output: '' }, { synthetic: MISSING_MARK })
  naming.repair(normalized.timestamp, toConversionChange('call_aborted'))
  return responseItem(normalized.timestamp, { type, call_id, output: ABORTED }, { synthetic: MISSING_MARK })
}

function resultOutput(
  { tool, message: normalized, segments }: ReplayResult,
  naming: LogNaming,
): string | readonly Fields[] {
  const text = tool.output ?? ''
  const images = imageParts(segments, normalized.timestamp, naming)
  if (images.length === 0) return text
  return text === '' ? images : [{ type: 'input_text', text }, ...images]
}

const imageParts = (segments: readonly MessageSegment[], at: string, naming: LogNaming): readonly Fields[] =>
  segments.flatMap((segment) => (segment.type === 'image' ? inputPart(segment, at, naming) : []))

/** Codex drops a result without its call, so it becomes a text. */
function orphanItems(step: OrphanStep, naming: LogNaming): readonly LogItem[] {
  naming.repair(step.at, toConversionChange('result_in_words'))
  const { message: normalized } = step.result
  const text = orphanText(step)
  const content = [{ type: 'input_text', text }, ...imageParts(normalized.segments, normalized.timestamp, naming)]
  return [
    responseItem(
      normalized.timestamp,
      { type: 'message', role: 'user', content },
      { ...elementFactsOf(normalized), synthetic: 'orphan' },
    ),
    screenEvent(normalized.timestamp, promptEvent(content)),
  ]
}

/** A prompt's event. The list of sessions takes its first line from it. */
const promptEvent = (content: readonly Fields[]): Fields => ({
  type: 'user_message',
  message: textsOf(content).join('\n'),
  images: [],
})

/** The items of logs before the envelope had no events: without them Codex does not list the session. */
export function itemEvent({ type, role, content }: Fields): Fields | undefined {
  if (type !== 'message') return undefined
  const parts = listOf(content).filter(isObject)
  if (role === 'user') {
    const typed = parts.filter((part) => !isInjected(stringOf(part['text'])))
    return typed.length > 0 ? promptEvent(typed) : undefined
  }
  const texts = role === 'assistant' ? textsOf(parts) : []
  return texts.length > 0 ? { type: 'agent_message', message: texts.join('\n') } : undefined
}

const isInjected = (text: string | undefined): boolean => text !== undefined && coversText(findInjected(text), text)

const textsOf = (parts: readonly Fields[]): readonly string[] => parts.flatMap((part) => stringOf(part['text']) ?? [])

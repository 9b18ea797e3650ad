/** Writes a conversation as a session that `copilot --resume` continues. */
import { type Fields, fieldsOf, stringOf } from '../../lib/unknown-values.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { type AnswerPart, elementFactsOf, type ReplayCall, type ReplayStep } from '../../model/replay/step.ts'
import { type LineContext, type LinePlace, lineWriter, type NewLine } from '../kit/line-writer.ts'
import {
  answeredAt,
  argumentsOf,
  type BlockForm,
  blocksOf,
  callFactsOf,
  imageBlocks,
  nameFor,
  orphanRecord,
  outputOf,
  recordFactsOf,
  type StepNaming,
  speaksAgain,
  splitAnswer,
  wordBlocks,
} from '../kit/step-blocks.ts'
import { faultOf } from './envelope.ts'
import { dataOf, typeOf } from './record.ts'
import { AGENT_ID } from './store.ts'

export const write = lineWriter({
  agent: AGENT_ID,
  toolNames: { fits: /^[A-Za-z_][\w-]*$/, allowedCharacters: /[\w-]/, maxLength: 64 },
  header,
  isHeader: (record) => typeOf(record) === 'session.start' && faultOf(record) === undefined,
  // One event that it cannot read, and Copilot CLI rejects the session.
  isOwn: (record) => faultOf(record) === undefined,
  linesOf,
  place,
  idOf: (line) => stringOf(line['id']),
  carrier: () => ({ type: 'session.info', data: { infoType: 'conversion', message: '' } }),
})

function header({ session, options, sessionId }: LineContext, own: Fields | undefined): Fields {
  const given = own && dataOf(own)
  const startTime = given?.['startTime'] ?? session.started_at ?? options.now().toISOString()
  const cwd = options.cwd ?? session.cwd
  const context = { ...fieldsOf(given?.['context']), ...(cwd !== undefined && { cwd }) }
  if (own) return { ...own, data: { ...given, ...(options.isStandalone && { sessionId }), context } }
  const copilotVersion = session.agent === AGENT_ID ? (session.agent_version ?? '0.0.0') : '0.0.0'
  const data = { sessionId, version: 1, producer: 'fumibako', copilotVersion, startTime, context }
  return { type: 'session.start', data, id: sessionId, timestamp: startTime, parentId: null }
}

function place(value: Fields, { at, id, previous }: LinePlace): Fields {
  const { type, data, ...rest } = value
  const named = type === 'assistant.message' ? { messageId: id, ...fieldsOf(data) } : data
  return { type, data: named, id, timestamp: at, parentId: previous ?? null, ...rest }
}

/** Texts are joined; images stand beside them. */
const FORM: BlockForm = {
  text: (text) => ({ text }),
  image: ({ mimeType, data }) => ({ type: 'blob', data, mimeType, displayName: 'image' }),
}

const joinedTexts = (blocks: readonly Fields[]): string => blocks.flatMap(({ text }) => text ?? []).join('\n\n')

const blobsIn = (blocks: readonly Fields[]): readonly Fields[] => blocks.filter(({ type }) => type === 'blob')

function linesOf(step: ReplayStep, naming: StepNaming): readonly NewLine[] {
  switch (step.kind) {
    case 'instruction':
      return [promptLine(step.message, naming, { source: 'instruction' })]
    case 'prompt':
      return [promptLine(step.message, naming, step.isInjected ? { source: 'context' } : {})]
    case 'answer':
      return splitAnswer(step, isNextEvent).flatMap((parts) => eventLines(parts, naming))
    case 'orphan': {
      const { blocks, at, facts } = orphanRecord(FORM, step, naming)
      const data = { content: joinedTexts(blocks), attachments: blobsIn(blocks) }
      return [{ value: { type: 'user.message', data }, at, facts }]
    }
    case 'aside':
      return []
  }
}

function promptLine(message: NormalizedMessage, naming: StepNaming, values: object): NewLine {
  const blocks = blocksOf(FORM, message, naming)
  const data = { content: joinedTexts(blocks), attachments: blobsIn(blocks), ...values }
  return { value: { type: 'user.message', data }, at: message.timestamp, facts: elementFactsOf(message) }
}

/** An event holds one thought, one text and calls, in this order. Results come before the model speaks again. */
const isNextEvent = (part: AnswerPart, open: readonly AnswerPart[]): boolean =>
  speaksAgain(part, open) || (part.kind === 'thought' && open.some(({ kind }) => kind === 'thought'))

function eventLines(parts: readonly AnswerPart[], naming: StepNaming): readonly NewLine[] {
  const results: NewLine[] = []
  let content = ''
  let reasoningText = ''
  const toolRequests: Fields[] = []
  for (const part of parts) {
    if (part.kind === 'thought') reasoningText = part.text
    else if (part.kind === 'words') content = joinedTexts(wordBlocks(FORM, part.message, naming))
    else {
      const { id: toolCallId, name } = nameFor(part.call, naming)
      toolRequests.push({ toolCallId, name, arguments: argumentsOf(part.call, naming), type: 'function' })
      results.push(resultLine(part.call, toolCallId, naming))
    }
  }
  const { at, message, model } = recordFactsOf(parts)
  const data = {
    ...(model !== undefined && { model }),
    ...{ content, toolRequests },
    ...(reasoningText !== '' && { reasoningText }),
  }
  const value = { type: 'assistant.message', data }
  return [{ value, at, facts: message && elementFactsOf(message) }, ...results]
}

function resultLine(call: ReplayCall, toolCallId: string, naming: StepNaming): NewLine {
  const { result, message } = call
  const blocks = imageBlocks(FORM, result?.segments ?? [], message, naming)
  const output = joinedTexts([FORM.text(outputOf(call, naming)), ...blocks])
  const images = blobsIn(blocks).map((blob) => ({ ...blob, type: 'image' }))
  const data =
    result?.tool.status === 'success'
      ? {
          ...{ toolCallId, success: true },
          result: { content: output, ...(images.length > 0 && { binaryResultsForLlm: images }) },
        }
      : { toolCallId, success: false, error: { message: output, code: 'failure' } }
  const value = { type: 'tool.execution_complete', data }
  return { value, at: answeredAt(call), facts: callFactsOf(call, true) }
}

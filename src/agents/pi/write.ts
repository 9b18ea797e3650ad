/** Writes a conversation as a session that `pi --session` continues. */
import { type Fields, stringOf } from '../../lib/unknown-values.ts'
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
  type NamedCall,
  nameFor,
  orphanRecord,
  outputOf,
  recordFactsOf,
  type StepNaming,
  splitAnswer,
  wordBlocks,
} from '../kit/step-blocks.ts'
import { isEntry, isHeader, UNKNOWN } from './record.ts'
import { AGENT_ID } from './store.ts'

export const write = lineWriter({
  agent: AGENT_ID,
  toolNames: { fits: /^[A-Za-z_][\w-]*$/, allowedCharacters: /[\w-]/, maxLength: 64 },
  header,
  isHeader,
  // pi reads the first 512 bytes only to tell whether a file is a session.
  isHeaderShort: true,
  isOwn: isEntry,
  linesOf,
  place,
  idOf: (line) => (isHeader(line) ? undefined : stringOf(line['id'])),
  relink,
  carrier: () => ({ type: 'custom', customType: 'conversion', data: {} }),
})

function header({ session, options, sessionId }: LineContext, own: Fields | undefined): Fields {
  const cwd = options.cwd ?? own?.['cwd'] ?? session.cwd ?? '/'
  if (own && !options.isStandalone) return { ...own, cwd }
  const timestamp = own?.['timestamp'] ?? session.started_at ?? options.now().toISOString()
  return { type: 'session', version: own?.['version'] ?? 3, id: sessionId, timestamp, cwd }
}

function place(value: Fields, { at, id, previous }: LinePlace): Fields {
  const { type, message, ...rest } = value
  const placed = { type, id: id.slice(0, 8), parentId: previous ?? null, timestamp: at, ...rest }
  return message === undefined ? placed : { ...placed, message: { ...(message as Fields), timestamp: Date.parse(at) } }
}

/** pi follows the parents from the last entry: a gap would hide everything before it. */
function relink(line: Fields, previous: string | undefined, isWritten: (id: string) => boolean): Fields | undefined {
  const parent = stringOf(line['parentId'])
  return parent !== undefined && !isWritten(parent) ? { ...line, parentId: previous ?? null } : undefined
}

const FORM: BlockForm = {
  text: (text) => ({ type: 'text', text }),
  image: ({ mimeType, data }) => ({ type: 'image', data, mimeType }),
}

function linesOf(step: ReplayStep, naming: StepNaming): readonly NewLine[] {
  switch (step.kind) {
    case 'instruction': {
      const content = blocksOf(FORM, step.message, naming)
      return [messageLine(step.message, { type: 'custom_message', customType: 'instruction', content, display: true })]
    }
    case 'prompt': {
      const content = blocksOf(FORM, step.message, naming)
      return [messageLine(step.message, { type: 'message', message: { role: 'user', content } })]
    }
    case 'answer':
      // The results of calls come before the model speaks again, each in an entry of its own.
      return splitAnswer(step).flatMap((parts) => entryLines(parts, naming))
    case 'orphan': {
      const { blocks, at, facts } = orphanRecord(FORM, step, naming)
      return [{ value: { type: 'message', message: { role: 'user', content: blocks } }, at, facts }]
    }
    case 'aside':
      return []
  }
}

const messageLine = (message: NormalizedMessage, value: Fields): NewLine => ({
  value,
  at: message.timestamp,
  facts: elementFactsOf(message),
})

/** pi requires them; the source may count its tokens elsewhere, so none are claimed here. */
const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
const NO_TOKENS = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: NO_COST }

function entryLines(parts: readonly AnswerPart[], naming: StepNaming): readonly NewLine[] {
  const results: NewLine[] = []
  const content = parts.flatMap((part): readonly Fields[] => {
    if (part.kind === 'thought') return part.text === '' ? [] : [{ type: 'thinking', thinking: part.text }]
    if (part.kind === 'words') return wordBlocks(FORM, part.message, naming)
    const named = nameFor(part.call, naming)
    results.push(resultLine(part.call, named, naming))
    return [{ type: 'toolCall', ...named, arguments: argumentsOf(part.call, naming) }]
  })
  const { at, message, model = UNKNOWN } = recordFactsOf(parts)
  const value = {
    type: 'message',
    message: {
      role: 'assistant',
      content,
      api: UNKNOWN,
      provider: UNKNOWN,
      model,
      usage: NO_TOKENS,
      stopReason: results.length > 0 ? 'toolUse' : 'stop',
    },
  }
  return [{ value, at, facts: message && elementFactsOf(message) }, ...results]
}

function resultLine(call: ReplayCall, { id, name }: NamedCall, naming: StepNaming): NewLine {
  const { result, message } = call
  const content = [FORM.text(outputOf(call, naming)), ...imageBlocks(FORM, result?.segments ?? [], message, naming)]
  const isError = result?.tool.status !== 'success'
  const value = { type: 'message', message: { role: 'toolResult', toolCallId: id, toolName: name, content, isError } }
  return { value, at: answeredAt(call), facts: callFactsOf(call, true) }
}

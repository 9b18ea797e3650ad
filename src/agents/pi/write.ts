/** Writes a conversation as a session that `pi --session` continues. */
import { type Fields, stringOf } from '../../lib/unknown-values.ts'
import { MISSING_MARK } from '../../model/metadata.ts'
import type { MessageSegment, NormalizedMessage } from '../../model/normalized.ts'
import {
  ABORTED,
  type AnswerPart,
  type AnswerStep,
  attachmentNote,
  attachmentsOf,
  elementFactsOf,
  orphanText,
  type ReplayCall,
  type ReplayStep,
  resultFactsOf,
  toConversionChange,
} from '../../model/replay/step.ts'
import { nameCall } from '../../model/replay/unique-names.ts'
import { argumentsOf, ownPartsOf } from '../kit/content-steps.ts'
import { type LineContext, type LineNaming, type LinePlace, lineWriter, type NewLine } from '../kit/line-writer.ts'
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

function linesOf(step: ReplayStep, naming: LineNaming): readonly NewLine[] {
  switch (step.kind) {
    case 'instruction': {
      const { message } = step
      const value = {
        type: 'custom_message',
        customType: 'instruction',
        content: blocksOf(message, naming),
        display: true,
      }
      return [{ value, at: message.timestamp, facts: elementFactsOf(message) }]
    }
    case 'prompt':
      return [userLine(step.message, blocksOf(step.message, naming), {})]
    case 'answer':
      return answerLines(step, naming)
    case 'orphan': {
      naming.repair(step.at, toConversionChange('result_in_words'))
      const { message, segments } = step.result
      const images = segments.flatMap((segment) => blockOf(segment, message.timestamp, naming))
      return [userLine(message, [{ type: 'text', text: orphanText(step) }, ...images], { synthetic: 'orphan' })]
    }
    case 'aside':
      return []
  }
}

const userLine = (message: NormalizedMessage, content: readonly Fields[], facts: NewLine['facts']): NewLine => ({
  value: { type: 'message', message: { role: 'user', content } },
  at: message.timestamp,
  facts: { ...elementFactsOf(message), ...facts },
})

const blocksOf = (message: NormalizedMessage, naming: LineNaming): readonly Fields[] => [
  ...message.segments.flatMap((segment) => blockOf(segment, message.timestamp, naming)),
  ...attachmentsOf(message).map((one) => ({ type: 'text', text: attachmentNote(one) })),
]

/** An answer holds no images. */
const wordBlocks = (message: NormalizedMessage, naming: LineNaming): readonly Fields[] =>
  blocksOf(message, naming).map((block) => {
    if (block['type'] === 'text') return block
    naming.repair(message.timestamp, toConversionChange('image_unheld'))
    return { type: 'text', text: attachmentNote({ format: 'image' }) }
  })

const DATA_URI = /^data:([\w.+-]+\/[\w.+-]+);base64,(.*)$/s

function blockOf({ text, media }: MessageSegment, at: string, { repair }: LineNaming): readonly Fields[] {
  if (text !== undefined) return [{ type: 'text', text }]
  const [, mimeType, data] = DATA_URI.exec(media?.data_uri ?? '') ?? []
  if (mimeType !== undefined) return [{ type: 'image', data, mimeType }]
  if (media?.url === undefined && media?.data_uri === undefined) return []
  repair(at, toConversionChange('image_unheld'))
  return [{ type: 'text', text: attachmentNote({ format: 'image', url: media.url }) }]
}

/** The results of calls come before the model speaks again, each in an entry of its own. */
function answerLines(step: AnswerStep, naming: LineNaming): readonly NewLine[] {
  const lines: NewLine[] = []
  let open: AnswerPart[] = []
  const close = (): void => {
    if (open.length > 0) lines.push(...entryLines(open, naming))
    open = []
  }
  for (const part of ownPartsOf(step)) {
    if (part.kind !== 'call' && open.some(({ kind }) => kind === 'call' || kind === 'words')) close()
    open.push(part)
  }
  close()
  return lines
}

/** pi requires them; the source may count its tokens elsewhere, so none are claimed here. */
const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
const NO_TOKENS = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: NO_COST }

function entryLines(parts: readonly AnswerPart[], naming: LineNaming): readonly NewLine[] {
  const results: NewLine[] = []
  const content = parts.flatMap((part): readonly Fields[] => {
    if (part.kind === 'thought') return part.text === '' ? [] : [{ type: 'thinking', thinking: part.text }]
    if (part.kind === 'words') return wordBlocks(part.message, naming)
    const named = nameCall(part.call, naming, (change) => naming.repair(part.call.message.timestamp, change))
    results.push(resultLine(part.call, named, naming))
    return [{ type: 'toolCall', ...named, arguments: argumentsOf(part.call, naming) }]
  })
  const messages = parts.map((part) => (part.kind === 'call' ? part.call.message : part.message))
  const message = messages[parts.findIndex(({ kind }) => kind === 'words')] ?? messages[0]
  const model = messages.map(({ metadata }) => metadata?.model).find((one) => typeof one === 'string')
  const value = {
    type: 'message',
    message: {
      role: 'assistant',
      content,
      api: UNKNOWN,
      provider: UNKNOWN,
      model: model ?? UNKNOWN,
      usage: NO_TOKENS,
      stopReason: results.length > 0 ? 'toolUse' : 'stop',
    },
  }
  return [{ value, at: messages[0]?.timestamp ?? '', facts: message && elementFactsOf(message) }, ...results]
}

function resultLine(call: ReplayCall, { id, name }: { id: string; name: string }, naming: LineNaming): NewLine {
  const { result, message } = call
  if (!result) naming.repair(message.timestamp, toConversionChange('call_aborted'))
  const output = result ? (result.tool.output ?? '') : ABORTED
  const images = result?.segments.filter(({ type }) => type === 'image') ?? []
  const content = [
    { type: 'text', text: output },
    ...images.flatMap((segment) => blockOf(segment, message.timestamp, naming)),
  ]
  const isError = result?.tool.status !== 'success'
  const status = result?.tool.status
  const facts = result
    ? status === 'error'
      ? elementFactsOf(result.message)
      : resultFactsOf(result)
    : { synthetic: MISSING_MARK }
  const value = { type: 'message', message: { role: 'toolResult', toolCallId: id, toolName: name, content, isError } }
  return { value, at: (result ?? call).message.timestamp, facts }
}

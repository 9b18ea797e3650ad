/** Writes a conversation as a session that `qwen --resume` continues. */
import { type Fields, stringOf } from '../../lib/unknown-values.ts'
import { MISSING_MARK } from '../../model/metadata.ts'
import {
  type AnswerPart,
  type AnswerStep,
  elementFactsOf,
  orphanText,
  type ReplayCall,
  type ReplayStep,
  resultFactsOf,
  toConversionChange,
} from '../../model/replay/step.ts'
import { nameCall } from '../../model/replay/unique-names.ts'
import {
  argumentsOf,
  missingResponse,
  ownPartsOf,
  partsOfMessage,
  responseParts,
  withMark,
} from '../kit/content-steps.ts'
import { type LineContext, type LineNaming, type LinePlace, lineWriter, type NewLine } from '../kit/line-writer.ts'
import { isRecord, startsLikeCommand } from './record.ts'
import { AGENT_ID } from './store.ts'

export const write = lineWriter({
  agent: AGENT_ID,
  toolNames: { fits: /^[A-Za-z_][\w-]*$/, allowedCharacters: /[\w-]/, maxLength: 64 },
  isOwn: isRecord,
  linesOf,
  place,
  idOf: (line) => stringOf(line['uuid']),
  relink,
  adapt,
  carrier: () => ({ type: 'system', subtype: 'conversion', systemPayload: {} }),
})

/** Every line repeats where the session belongs. */
function place(value: Fields, { session, options, sessionId, at, id, previous }: LinePlace): Fields {
  const { type, ...rest } = value
  const cwd = options.cwd ?? session.cwd ?? '/'
  const version = session.agent === AGENT_ID ? (session.agent_version ?? '0.0.0') : '0.0.0'
  return { uuid: id, parentUuid: previous ?? null, sessionId, timestamp: at, type, cwd, version, ...rest }
}

/** Qwen Code follows the parents from the last line: a gap would hide everything before it. */
function relink(line: Fields, previous: string | undefined, isWritten: (id: string) => boolean): Fields | undefined {
  const parent = stringOf(line['parentUuid'])
  if (parent !== undefined && !isWritten(parent)) return { ...line, parentUuid: previous ?? null }
  return undefined
}

function adapt(line: Fields, { options, sessionId }: LineContext): Fields {
  const { cwd } = options
  if (cwd === undefined || (line['cwd'] === cwd && line['sessionId'] === sessionId)) return line
  return { ...line, sessionId, cwd }
}

function linesOf(step: ReplayStep, naming: LineNaming): readonly NewLine[] {
  switch (step.kind) {
    case 'instruction':
    case 'prompt': {
      const { message } = step
      return [userLine(message.timestamp, partsOfMessage(message, naming), elementFactsOf(message))]
    }
    case 'answer':
      return answerLines(step, naming)
    case 'orphan': {
      naming.repair(step.at, toConversionChange('result_in_words'))
      const { message } = step.result
      const images = partsOfMessage({ ...message, segments: step.result.segments }, naming)
      const facts = { ...elementFactsOf(message), synthetic: 'orphan' }
      return [userLine(message.timestamp, [{ text: orphanText(step) }, ...images], facts)]
    }
    case 'aside':
      return []
  }
}

const userLine = (at: string, parts: readonly Fields[], facts: NewLine['facts']): NewLine => ({
  value: { type: 'user', message: { role: 'user', parts: withMark(parts, startsLikeCommand) } },
  at,
  facts,
})

/** The results of calls come before the model speaks again, each in a line of its own. */
function answerLines(step: AnswerStep, naming: LineNaming): readonly NewLine[] {
  const lines: NewLine[] = []
  let open: AnswerPart[] = []
  const close = (): void => {
    if (open.length > 0) lines.push(...recordLines(open, naming))
    open = []
  }
  for (const part of ownPartsOf(step)) {
    const isNext = part.kind !== 'call' && open.some(({ kind }) => kind === 'call' || kind === 'words')
    if (isNext) close()
    open.push(part)
  }
  close()
  return lines
}

function recordLines(parts: readonly AnswerPart[], naming: LineNaming): readonly NewLine[] {
  const results: NewLine[] = []
  const content = parts.flatMap((part): readonly Fields[] => {
    if (part.kind === 'thought') return [{ text: part.text, thought: true }]
    if (part.kind === 'words') return partsOfMessage(part.message, naming)
    const named = nameCall(part.call, naming, (change) => naming.repair(part.call.message.timestamp, change))
    results.push(resultLine(part.call, named, naming))
    return [{ functionCall: { ...named, args: argumentsOf(part.call, naming) } }]
  })
  const messages = parts.map((part) => (part.kind === 'call' ? part.call.message : part.message))
  const message = messages[parts.findIndex(({ kind }) => kind === 'words')] ?? messages[0]
  const model = messages.map(({ metadata }) => metadata?.model).find((one) => typeof one === 'string')
  const value = {
    type: 'assistant',
    ...(model !== undefined && { model }),
    message: { role: 'model', parts: content },
  }
  return [{ value, at: messages[0]?.timestamp ?? '', facts: message && elementFactsOf(message) }, ...results]
}

const STATUSES: ReadonlySet<unknown> = new Set(['success', 'error', 'cancelled'])

function resultLine(call: ReplayCall, named: { id: string; name: string }, naming: LineNaming): NewLine {
  const { result } = call
  const parts = result ? responseParts(result, named, naming) : [missingResponse(call, named, naming)]
  const status = result && STATUSES.has(result.tool.status) ? result.tool.status : 'error'
  const facts = result ? resultFactsOf(result) : { synthetic: MISSING_MARK }
  const toolCallResult = { callId: named.id, status, resultDisplay: result?.tool.output ?? '' }
  const value = { type: 'tool_result', message: { role: 'user', parts }, toolCallResult }
  return { value, at: (result ?? call).message.timestamp, facts }
}

/** Writes a conversation as a session that `qwen --resume` continues. */
import { type Fields, stringOf } from '../../lib/unknown-values.ts'
import { type AnswerPart, elementFactsOf, type ReplayCall, type ReplayStep } from '../../model/replay/step.ts'
import { PART_FORM, partsOfMessage, responseParts, withMark } from '../kit/content-steps.ts'
import { type LineContext, type LinePlace, lineWriter, type NewLine } from '../kit/line-writer.ts'
import {
  answeredAt,
  argumentsOf,
  callFactsOf,
  type NamedCall,
  nameFor,
  orphanRecord,
  recordFactsOf,
  type StepNaming,
  splitAnswer,
} from '../kit/step-blocks.ts'
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

function linesOf(step: ReplayStep, naming: StepNaming): readonly NewLine[] {
  switch (step.kind) {
    case 'instruction':
    case 'prompt': {
      const { message } = step
      return [userLine(message.timestamp, partsOfMessage(message, naming), elementFactsOf(message))]
    }
    case 'answer':
      // The results of calls come before the model speaks again, each in a line of its own.
      return splitAnswer(step).flatMap((parts) => recordLines(parts, naming))
    case 'orphan': {
      const { blocks, at, facts } = orphanRecord(PART_FORM, step, naming)
      return [userLine(at, blocks, facts)]
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

function recordLines(parts: readonly AnswerPart[], naming: StepNaming): readonly NewLine[] {
  const results: NewLine[] = []
  const content = parts.flatMap((part): readonly Fields[] => {
    if (part.kind === 'thought') return [{ text: part.text, thought: true }]
    if (part.kind === 'words') return partsOfMessage(part.message, naming)
    const named = nameFor(part.call, naming)
    results.push(resultLine(part.call, named, naming))
    return [{ functionCall: { ...named, args: argumentsOf(part.call, naming) } }]
  })
  const { at, message, model } = recordFactsOf(parts)
  const value = {
    type: 'assistant',
    ...(model !== undefined && { model }),
    message: { role: 'model', parts: content },
  }
  return [{ value, at, facts: message && elementFactsOf(message) }, ...results]
}

const STATUSES: ReadonlySet<unknown> = new Set(['success', 'error', 'cancelled'])

function resultLine(call: ReplayCall, named: NamedCall, naming: StepNaming): NewLine {
  const { result } = call
  const parts = responseParts(call, named, naming)
  const status = result && STATUSES.has(result.tool.status) ? result.tool.status : 'error'
  const toolCallResult = { callId: named.id, status, resultDisplay: result?.tool.output ?? '' }
  const value = { type: 'tool_result', message: { role: 'user', parts }, toolCallResult }
  return { value, at: answeredAt(call), facts: callFactsOf(call) }
}

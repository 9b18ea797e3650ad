/** Writes a conversation as a session that `gemini --resume` continues. */
import { sha256 } from '../../lib/hash.ts'
import type { Fields } from '../../lib/unknown-values.ts'
import { MISSING_MARK } from '../../model/metadata.ts'
import {
  type AnswerPart,
  type AnswerStep,
  elementFactsOf,
  type OrphanStep,
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
import { type LineContext, type LineNaming, lineWriter, type NewLine } from '../kit/line-writer.ts'
import { isHeader, isMessage, startsLikeCommand } from './record.ts'
import { AGENT_ID } from './store.ts'

export const write = lineWriter({
  agent: AGENT_ID,
  toolNames: { fits: /^[A-Za-z_][\w.-]*$/, allowedCharacters: /[\w.-]/, maxLength: 64 },
  header,
  isHeader,
  isOwn: (record) => isMessage(record) || ['$set', '$rewindTo', '$patch'].some((key) => key in record),
  linesOf,
  place: (value, { at, id }) => ('$set' in value ? value : { id, timestamp: at, ...value }),
  carrier: () => ({ $set: {} }),
})

/** What is resumed counts as used today: Gemini CLI deletes old sessions when it starts. */
function header(context: LineContext, own: Fields | undefined): Fields {
  const { session, options, sessionId } = context
  const cwd = options.cwd ?? (own ? undefined : session.cwd)
  return {
    ...own,
    sessionId: own && !options.isStandalone ? own['sessionId'] : sessionId,
    projectHash: cwd === undefined ? (own?.['projectHash'] ?? sha256('/')) : sha256(cwd),
    startTime: own?.['startTime'] ?? session.started_at ?? options.now().toISOString(),
    ...(own && !options.isStandalone ? {} : { lastUpdated: options.now().toISOString(), kind: 'main' }),
    ...(!own && session.title !== undefined && { summary: session.title }),
  }
}

function linesOf(step: ReplayStep, naming: LineNaming): readonly NewLine[] {
  switch (step.kind) {
    case 'instruction':
    case 'prompt': {
      const parts = partsOfMessage(step.message, naming)
      return [userLine(step.message.timestamp, parts, elementFactsOf(step.message))]
    }
    case 'answer':
      return answerLines(step, naming)
    case 'orphan':
      return [orphanLine(step, naming)]
    case 'aside':
      return []
  }
}

/** Gemini CLI leaves a text that begins like a command out of what it sends, so it must not begin with it. */
const userLine = (at: string, parts: readonly Fields[], facts: NewLine['facts']): NewLine => ({
  value: { type: 'user', content: withMark(parts, startsLikeCommand) },
  at,
  facts,
})

/** Each time the model speaks again after a call, it is another message. */
function answerLines(step: AnswerStep, naming: LineNaming): readonly NewLine[] {
  const lines: NewLine[] = []
  let open: AnswerPart[] = []
  const close = (): void => {
    if (open.length > 0) lines.push(...messageLines(open, naming))
    open = []
  }
  for (const part of ownPartsOf(step)) {
    const last = open.at(-1)?.kind
    if (last !== undefined && ORDER[part.kind] < ORDER[last]) close()
    if (part.kind === 'words' && last === 'words') close()
    open.push(part)
  }
  close()
  return lines
}

/** In a message of Gemini CLI thoughts come before the text, and the text before the calls. */
const ORDER = { thought: 0, words: 1, call: 2 } as const

function messageLines(parts: readonly AnswerPart[], naming: LineNaming): readonly NewLine[] {
  const words = parts.find((part) => part.kind === 'words')?.message
  const first = parts[0]?.kind === 'call' ? parts[0].call.message : parts[0]?.message
  const calls = parts.flatMap((part) => (part.kind === 'call' ? [toolCall(part.call, naming)] : []))
  const content = words ? partsOfMessage(words, naming) : []
  const text = content.length === 1 ? content[0]?.['text'] : undefined
  const model = [words, first].map((message) => message?.metadata?.model).find((one) => typeof one === 'string')
  const value = {
    type: 'gemini',
    content: content.length === 0 ? '' : (text ?? content),
    thoughts: parts.flatMap((part) => (part.kind === 'thought' ? [thoughtOf(part)] : [])),
    tokens: null,
    ...(model !== undefined && { model }),
    ...(calls.length > 0 && { toolCalls: calls.map(({ call }) => call) }),
  }
  const facts = words ?? first
  return [
    { value, at: first?.timestamp ?? '', facts: facts && elementFactsOf(facts) },
    ...calls.flatMap(({ response }) => response ?? []),
  ]
}

const thoughtOf = ({ text, message }: Extract<AnswerPart, { kind: 'thought' }>): Fields => ({
  subject: '',
  description: text,
  timestamp: message.timestamp,
})

interface ToolLines {
  readonly call: Fields
  /** A result that the call cannot hold: with another status, or one that the source does not have. */
  readonly response?: NewLine
}

const STATUSES: ReadonlySet<unknown> = new Set(['success', 'error', 'cancelled'])

function toolCall(replay: ReplayCall, naming: LineNaming): ToolLines {
  const { tool, message, result } = replay
  const named = nameCall(replay, naming, (change) => naming.repair(message.timestamp, change))
  const call = { ...named, args: argumentsOf(replay, naming) }
  const display = { displayName: tool.name ?? named.name, description: '', renderOutputAsMarkdown: false }
  if (result && STATUSES.has(result.tool.status)) {
    const done = {
      result: responseParts(result, named, naming),
      status: result.tool.status,
      timestamp: result.message.timestamp,
      resultDisplay: result.tool.output ?? '',
    }
    return { call: { ...call, ...done, ...display } }
  }
  const open = { ...call, result: null, status: 'executing', timestamp: message.timestamp, ...display }
  const content = result ? responseParts(result, named, naming) : [missingResponse(replay, named, naming)]
  const facts = result ? resultFactsOf(result) : { synthetic: MISSING_MARK }
  return { call: open, response: { value: { type: 'user', content }, at: (result ?? replay).message.timestamp, facts } }
}

/** A response without its call is refused, so it becomes a text. */
function orphanLine(step: OrphanStep, naming: LineNaming): NewLine {
  naming.repair(step.at, toConversionChange('result_in_words'))
  const { message } = step.result
  const parts = partsOfMessage({ ...message, segments: [], metadata: message.metadata ?? {} }, naming)
  const facts = { ...elementFactsOf(message), synthetic: 'orphan' }
  return userLine(message.timestamp, [{ text: orphanText(step) }, ...parts], facts)
}

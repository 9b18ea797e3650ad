/** Writes a conversation as a session that `gemini --resume` continues. */
import { sha256 } from '../../lib/hash.ts'
import type { Fields } from '../../lib/unknown-values.ts'
import { type AnswerPart, elementFactsOf, type ReplayCall, type ReplayStep } from '../../model/replay/step.ts'
import { PART_FORM, partsOfMessage, responseParts, withMark } from '../kit/content-steps.ts'
import { type LineContext, lineWriter, type NewLine } from '../kit/line-writer.ts'
import {
  answeredAt,
  argumentsOf,
  callFactsOf,
  nameFor,
  orphanRecord,
  recordFactsOf,
  type StepNaming,
  splitAnswer,
} from '../kit/step-blocks.ts'
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

function linesOf(step: ReplayStep, naming: StepNaming): readonly NewLine[] {
  switch (step.kind) {
    case 'instruction':
    case 'prompt': {
      const parts = partsOfMessage(step.message, naming)
      return [userLine(step.message.timestamp, parts, elementFactsOf(step.message))]
    }
    case 'answer':
      return splitAnswer(step, isNextMessage).flatMap((parts) => messageLines(parts, naming))
    case 'orphan': {
      const { blocks, at, facts } = orphanRecord(PART_FORM, step, naming)
      return [userLine(at, blocks, facts)]
    }
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

/** In a message of Gemini CLI thoughts come before the text, and the text before the calls. */
const ORDER = { thought: 0, words: 1, call: 2 } as const

function isNextMessage({ kind }: AnswerPart, open: readonly AnswerPart[]): boolean {
  const last = open.at(-1)?.kind
  return last !== undefined && (ORDER[kind] < ORDER[last] || (kind === 'words' && last === 'words'))
}

function messageLines(parts: readonly AnswerPart[], naming: StepNaming): readonly NewLine[] {
  const words = parts.find((part) => part.kind === 'words')?.message
  const calls = parts.flatMap((part) => (part.kind === 'call' ? [toolCall(part.call, naming)] : []))
  const content = words ? partsOfMessage(words, naming) : []
  const text = content.length === 1 ? content[0]?.['text'] : undefined
  const { at, message, model } = recordFactsOf(parts)
  const value = {
    type: 'gemini',
    content: content.length === 0 ? '' : (text ?? content),
    thoughts: parts.flatMap((part) => (part.kind === 'thought' ? [thoughtOf(part)] : [])),
    tokens: null,
    ...(model !== undefined && { model }),
    ...(calls.length > 0 && { toolCalls: calls.map(({ call }) => call) }),
  }
  return [{ value, at, facts: message && elementFactsOf(message) }, ...calls.flatMap(({ response }) => response ?? [])]
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

function toolCall(replay: ReplayCall, naming: StepNaming): ToolLines {
  const { tool, message, result } = replay
  const named = nameFor(replay, naming)
  const call = { ...named, args: argumentsOf(replay, naming) }
  const display = { displayName: tool.name ?? named.name, description: '', renderOutputAsMarkdown: false }
  const parts = responseParts(replay, named, naming)
  if (result && STATUSES.has(result.tool.status)) {
    const done = {
      result: parts,
      status: result.tool.status,
      timestamp: result.message.timestamp,
      resultDisplay: result.tool.output ?? '',
    }
    return { call: { ...call, ...done, ...display } }
  }
  const open = { ...call, result: null, status: 'executing', timestamp: message.timestamp, ...display }
  const value = { type: 'user', content: parts }
  return { call: open, response: { value, at: answeredAt(replay), facts: callFactsOf(replay) } }
}

/** A conversation as a row of blocks, as the formats for people show it: what was said, thought and done, turn by turn. */

import { toPrintable } from '../lib/text.ts'
import { stringOf } from '../lib/unknown-values.ts'
import type { MessageSegment, NormalizedMessage, ToolCall } from '../model/normalized.ts'
import { isPrompt } from '../model/turn.ts'
import { addUsage, NO_USAGE, type Usage } from '../model/usage.ts'
import type { ExportInput, ExportOptions } from './export-input.ts'
import { type MessagePart, messagePartsOf } from './message-parts.ts'
import type { ExportOutline } from './outline.ts'

/** Where a turn stands beside the usual. */
export type TurnMark = 'rolled_back' | 'tangent' | 'main' | 'cut' | 'pending'

export type ExportBlock =
  /** A prompt follows. What stands before the first one has no such block. */
  | { readonly kind: 'turn'; readonly number: number; readonly at: string; readonly marks: readonly TurnMark[] }
  | { readonly kind: 'said'; readonly who: BlockSpeaker; readonly at: string; readonly parts: readonly MessagePart[] }
  | { readonly kind: 'thought'; readonly at: string; readonly text: string }
  /** A call, with its result where there is one. */
  | { readonly kind: 'tool'; readonly at: string; readonly call: ToolCall; readonly parts: readonly MessagePart[] }
  /** Context that is left out, by its names. */
  | { readonly kind: 'context'; readonly names: readonly string[] }
  /** Records that were copied from the parent conversation and are left out. */
  | { readonly kind: 'copied'; readonly records: number }
  | { readonly kind: 'note'; readonly at: string; readonly what: string; readonly text: string; readonly data: object }
  | { readonly kind: 'end'; readonly number: number; readonly tally: ExportTurnTotals }

export type BlockSpeaker = 'user' | 'assistant' | 'summary' | 'system' | 'context'

export interface ExportTurnTotals {
  readonly usage: Usage
  readonly tools: number
  readonly errors: number
  readonly ms: number
}

/** Nothing is held back for longer than a few records, however long the conversation is. */
export async function* readBlocks(
  { messages, outline }: ExportInput,
  options: ExportOptions,
): AsyncGenerator<ExportBlock> {
  const { from, to } = options.turns ?? { from: 0, to: Number.POSITIVE_INFINITY }
  const omitted = new OmittedRecords()
  let number = 0
  let turn = new TurnCounter()
  for await (const message of messages) {
    if (isPrompt(message, outline.links)) {
      if (number >= from) yield* [...omitted.blocks(), ...turn.end(number)]
      if (++number > to) return
      turn = new TurnCounter()
      if (number >= from) yield { kind: 'turn', number, at: message.timestamp, marks: turnMarksOf(message, outline) }
    }
    turn.add(message)
    if (number < from || (!options.all && omitted.takes(message, outline))) continue
    const block = toBlock(message, outline, options.all === true)
    if (block) yield* [...omitted.blocks(), block]
  }
  if (number >= from) yield* [...omitted.blocks(), ...turn.end(number)]
}

function turnMarksOf({ id, metadata }: NormalizedMessage, { links }: ExportOutline): readonly TurnMark[] {
  const marks: TurnMark[] = []
  if (links.rolledBack.has(id)) marks.push('rolled_back')
  if (metadata?.['tangent'] === true) marks.push('tangent')
  if (metadata?.['main'] === true) marks.push('main')
  if (metadata?.['valid_range'] === 'cut') marks.push('cut')
  if (metadata?.['pending'] === true) marks.push('pending')
  return marks
}

function toBlock(message: NormalizedMessage, outline: ExportOutline, all: boolean): ExportBlock | undefined {
  const { id, timestamp: at, source_type, tool_call: call, metadata } = message
  const isCopy = outline.links.duplicates.has(id)
  const who = speakerOf(message, outline)
  if (who && (all || (who !== 'system' && who !== 'context'))) {
    const parts = messagePartsOf(message, all)
    return parts.length > 0 || who === 'user' ? { kind: 'said', who, at, parts } : undefined
  }
  const text = thoughtTextOf(message)
  if (text !== undefined && !isCopy) return { kind: 'thought', at, text: toPrintable(text) }
  if (call && source_type === 'tool_call' && outline.answered.has(id)) return undefined
  if (call) return { kind: 'tool', at, call: settleStatus(call, source_type), parts: messagePartsOf(message, all) }
  if (!all) return undefined
  return {
    kind: 'note',
    at,
    what: toPrintable(eventKind(message)),
    text: toPrintable(textIn(message.segments)),
    data: metadata ?? {},
  }
}

/** Who says it; nobody for what is no speech. */
function speakerOf(message: NormalizedMessage, { links }: ExportOutline): BlockSpeaker | undefined {
  const { role, metadata } = message
  if (isPrompt(message, links)) return 'user'
  if (role === 'assistant') return 'assistant'
  if (role === 'meta' && links.eventsOnly && metadata?.['event_kind'] === 'agent_message') return 'assistant'
  if (metadata?.['kind'] === 'summary') return 'summary'
  if (role === 'system') return 'system'
  return role === 'user' ? (metadata?.['replayed'] === true ? 'user' : 'context') : undefined
}

export function thoughtTextOf({ metadata }: NormalizedMessage): string | undefined {
  const summaries = [metadata?.['reasoning_summary'], metadata?.['reasoning_text']]
  const texts = summaries.filter((one): one is string => typeof one === 'string' && one.trim() !== '')
  return texts.length > 0 ? texts.join('\n\n') : undefined
}

/** A call that nothing answers is no longer under way. */
const settleStatus = (call: ToolCall, source_type: string): ToolCall =>
  source_type === 'tool_call' && call.status === 'pending' ? { ...call, status: 'missing' } : call

const eventKind = ({ metadata, raw, source_type }: NormalizedMessage): string =>
  stringOf(metadata?.['event_kind']) ?? raw.payload_type ?? raw.event_type ?? source_type

const textIn = (segments: readonly MessageSegment[]): string => segments.map(({ text }) => text ?? '').join('\n')

class TurnCounter {
  #usage = NO_USAGE
  #tools = 0
  #errors = 0
  #first: string | undefined
  #last: string | undefined

  add({ source_type, tool_call, metadata, timestamp }: NormalizedMessage): void {
    if (metadata?.['replayed'] === true) return
    this.#first ??= timestamp
    this.#last = timestamp
    if (metadata?.['usage']) this.#usage = addUsage(this.#usage, metadata['usage'] as Usage)
    if (source_type === 'tool_call') this.#tools++
    if (tool_call?.status === 'error') this.#errors++
  }

  /** What stands before the first prompt is no turn. */
  end(number: number): readonly ExportBlock[] {
    if (number === 0) return []
    const ms = Math.max(0, Date.parse(this.#last ?? '') - Date.parse(this.#first ?? '')) || 0
    return [{ kind: 'end', number, tally: { usage: this.#usage, tools: this.#tools, errors: this.#errors, ms } }]
  }
}

/** What is only named or counted: context that nobody typed, and copies. */
class OmittedRecords {
  readonly #names = new Set<string>()
  #copied = 0

  takes(message: NormalizedMessage, outline: ExportOutline): boolean {
    if (message.metadata?.['replayed'] === true) {
      this.#copied++
      return true
    }
    const who = speakerOf(message, outline)
    if (who !== 'system' && who !== 'context') return false
    for (const name of contextNames(message)) this.#names.add(name)
    return true
  }

  blocks(): readonly ExportBlock[] {
    const blocks: ExportBlock[] = []
    if (this.#copied > 0) blocks.push({ kind: 'copied', records: this.#copied })
    if (this.#names.size > 0) blocks.push({ kind: 'context', names: [...this.#names] })
    this.#copied = 0
    this.#names.clear()
    return blocks
  }
}

function contextNames({ role, segments }: NormalizedMessage): readonly string[] {
  const names = segments.flatMap(
    ({ annotations }) =>
      annotations?.flatMap((annotation) => (annotation.kind === 'injected' ? annotation.what : [])) ?? [],
  )
  return names.length > 0 ? names.map(toPrintable) : [role]
}

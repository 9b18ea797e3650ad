/** A conversation as a row of blocks, as the formats for people show it: what was said, thought and done, turn by turn. */
import { stringOf } from '../../lib/object.ts'
import { printable } from '../../lib/text.ts'
import type { MessageSegment, NormalizedMessage, ToolCall } from '../../model/normalized.ts'
import { isPrompt } from '../../model/turn.ts'
import { addUsage, NO_USAGE, type Usage } from '../../model/usage.ts'
import type { ExportOptions, Material } from './material.ts'
import type { Outline } from './outline.ts'
import { type Part, partsOf } from './parts.ts'

/** Where a turn stands beside the usual. */
export type TurnMark = 'rolled_back' | 'tangent' | 'main' | 'cut' | 'pending'

export type Block =
  /** A prompt follows. What stands before the first one has no such block. */
  | { readonly kind: 'turn'; readonly number: number; readonly at: string; readonly marks: readonly TurnMark[] }
  | { readonly kind: 'said'; readonly who: Speaker; readonly at: string; readonly parts: readonly Part[] }
  | { readonly kind: 'thought'; readonly at: string; readonly text: string }
  /** A call, with its result where there is one. */
  | { readonly kind: 'tool'; readonly at: string; readonly call: ToolCall; readonly parts: readonly Part[] }
  /** Context that is left out, by its names. */
  | { readonly kind: 'context'; readonly names: readonly string[] }
  /** Records that were copied from the parent conversation and are left out. */
  | { readonly kind: 'copied'; readonly records: number }
  | { readonly kind: 'note'; readonly at: string; readonly what: string; readonly text: string; readonly data: object }
  | { readonly kind: 'end'; readonly number: number; readonly tally: Tally }

export type Speaker = 'user' | 'assistant' | 'summary' | 'system' | 'context'

export interface Tally {
  readonly usage: Usage
  readonly tools: number
  readonly errors: number
  readonly ms: number
}

/** Nothing is held back for longer than a few records, however long the conversation is. */
export async function* blocksOf({ messages, outline }: Material, options: ExportOptions): AsyncGenerator<Block> {
  const { from, to } = options.turns ?? { from: 0, to: Number.POSITIVE_INFINITY }
  const left = new LeftOut()
  let number = 0
  let turn = new Turn()
  for await (const message of messages) {
    if (isPrompt(message, outline.links)) {
      if (number >= from) yield* [...left.blocks(), ...turn.end(number)]
      if (++number > to) return
      turn = new Turn()
      if (number >= from) yield { kind: 'turn', number, at: message.timestamp, marks: marksOf(message, outline) }
    }
    turn.see(message)
    if (number < from || (!options.all && left.takes(message, outline))) continue
    const block = blockOf(message, outline, options.all === true)
    if (block) yield* [...left.blocks(), block]
  }
  if (number >= from) yield* [...left.blocks(), ...turn.end(number)]
}

function marksOf({ id, metadata }: NormalizedMessage, { links }: Outline): readonly TurnMark[] {
  const marks: TurnMark[] = []
  if (links.rolledBack.has(id)) marks.push('rolled_back')
  if (metadata?.['tangent'] === true) marks.push('tangent')
  if (metadata?.['main'] === true) marks.push('main')
  if (metadata?.['valid_range'] === 'cut') marks.push('cut')
  if (metadata?.['pending'] === true) marks.push('pending')
  return marks
}

function blockOf(message: NormalizedMessage, outline: Outline, all: boolean): Block | undefined {
  const { id, timestamp: at, source_type, tool_call: call, metadata } = message
  const isCopy = outline.links.duplicates.has(id)
  const who = speakerOf(message, outline)
  if (who && (all || (who !== 'system' && who !== 'context'))) {
    const parts = partsOf(message, all)
    return parts.length > 0 || who === 'user' ? { kind: 'said', who, at, parts } : undefined
  }
  const text = thoughtOf(message)
  if (text !== undefined && !isCopy) return { kind: 'thought', at, text: printable(text) }
  if (call && source_type === 'tool_call' && outline.answered.has(id)) return undefined
  if (call) return { kind: 'tool', at, call: settled(call, source_type), parts: partsOf(message, all) }
  if (!all) return undefined
  return {
    kind: 'note',
    at,
    what: printable(kindOf(message)),
    text: printable(saidIn(message.segments)),
    data: metadata ?? {},
  }
}

/** Who says it; nobody for what is no speech. */
function speakerOf(message: NormalizedMessage, { links }: Outline): Speaker | undefined {
  const { role, metadata } = message
  if (isPrompt(message, links)) return 'user'
  if (role === 'assistant') return 'assistant'
  if (role === 'meta' && links.eventsOnly && metadata?.['event_kind'] === 'agent_message') return 'assistant'
  if (metadata?.['kind'] === 'summary') return 'summary'
  if (role === 'system') return 'system'
  return role === 'user' ? (metadata?.['replayed'] === true ? 'user' : 'context') : undefined
}

export function thoughtOf({ metadata }: NormalizedMessage): string | undefined {
  const said = [metadata?.['reasoning_summary'], metadata?.['reasoning_text']]
  const texts = said.filter((one): one is string => typeof one === 'string' && one.trim() !== '')
  return texts.length > 0 ? texts.join('\n\n') : undefined
}

/** A call that nothing answers is no longer under way. */
const settled = (call: ToolCall, source_type: string): ToolCall =>
  source_type === 'tool_call' && call.status === 'pending' ? { ...call, status: 'missing' } : call

const kindOf = ({ metadata, raw, source_type }: NormalizedMessage): string =>
  stringOf(metadata?.['event_kind']) ?? raw.payload_type ?? raw.event_type ?? source_type

const saidIn = (segments: readonly MessageSegment[]): string => segments.map(({ text }) => text ?? '').join('\n')

class Turn {
  #usage = NO_USAGE
  #tools = 0
  #errors = 0
  #first: string | undefined
  #last: string | undefined

  see({ source_type, tool_call, metadata, timestamp }: NormalizedMessage): void {
    if (metadata?.['replayed'] === true) return
    this.#first ??= timestamp
    this.#last = timestamp
    if (metadata?.['usage']) this.#usage = addUsage(this.#usage, metadata['usage'] as Usage)
    if (source_type === 'tool_call') this.#tools++
    if (tool_call?.status === 'error') this.#errors++
  }

  /** What stands before the first prompt is no turn. */
  end(number: number): readonly Block[] {
    if (number === 0) return []
    const ms = Math.max(0, Date.parse(this.#last ?? '') - Date.parse(this.#first ?? '')) || 0
    return [{ kind: 'end', number, tally: { usage: this.#usage, tools: this.#tools, errors: this.#errors, ms } }]
  }
}

/** What is only named or counted: context that nobody typed, and copies. */
class LeftOut {
  readonly #names = new Set<string>()
  #copied = 0

  takes(message: NormalizedMessage, outline: Outline): boolean {
    if (message.metadata?.['replayed'] === true) {
      this.#copied++
      return true
    }
    const who = speakerOf(message, outline)
    if (who !== 'system' && who !== 'context') return false
    for (const name of namesOf(message)) this.#names.add(name)
    return true
  }

  blocks(): readonly Block[] {
    const blocks: Block[] = []
    if (this.#copied > 0) blocks.push({ kind: 'copied', records: this.#copied })
    if (this.#names.size > 0) blocks.push({ kind: 'context', names: [...this.#names] })
    this.#copied = 0
    this.#names.clear()
    return blocks
  }
}

function namesOf({ role, segments }: NormalizedMessage): readonly string[] {
  const names = segments.flatMap(
    ({ annotations }) => annotations?.flatMap((mark) => (mark.kind === 'injected' ? mark.what : [])) ?? [],
  )
  return names.length > 0 ? names.map(printable) : [role]
}

/** Splits a conversation into blocks, turn by turn. Every readable format renders these blocks. */
import { toPrintable } from '../lib/text.ts'
import {
  classify,
  eventNameOf,
  injectedNamesOf,
  type MessageKind,
  type PromptMark,
  promptMarksOf,
  reasoningTextOf,
  withoutInjectedText,
} from '../model/classify.ts'
import type { Media, MessageSegment, NormalizedMessage, ToolCall } from '../model/normalized.ts'
import { recordedTime, TimeRange } from '../model/recorded-time.ts'
import { TurnTotals } from '../model/turn.ts'
import type { Usage } from '../model/usage.ts'
import type { ExportImage, ExportInput, ExportOptions } from './export-input.ts'
import type { ExportOutline } from './outline.ts'

export type ExportBlock =
  /** A prompt follows. Blocks before the first prompt belong to no turn. */
  | {
      readonly kind: 'turn'
      readonly number: number
      readonly at: string | null
      readonly marks: readonly PromptMark[]
    }
  | {
      readonly kind: 'said'
      readonly who: BlockSpeaker
      readonly at: string | null
      readonly parts: readonly MessagePart[]
    }
  | { readonly kind: 'thought'; readonly at: string | null; readonly text: string }
  /** A call, with its result if there is one. */
  | {
      readonly kind: 'tool'
      readonly at: string | null
      readonly call: ToolCall
      readonly parts: readonly MessagePart[]
    }
  /** Omitted context, by name. */
  | { readonly kind: 'context'; readonly names: readonly string[] }
  /** Omitted records that were copied from the parent conversation. */
  | { readonly kind: 'copied'; readonly records: number }
  | {
      readonly kind: 'note'
      readonly at: string | null
      readonly what: string
      readonly text: string
      readonly data: object
    }
  | { readonly kind: 'end'; readonly number: number; readonly tally: ExportTurnTotals }

export type BlockSpeaker = 'user' | 'assistant' | 'summary' | 'system' | 'context'

export interface ExportTurnTotals {
  readonly usage: Usage
  readonly tools: number
  readonly errors: number
  readonly ms: number
}

/** Buffers only a few records, however long the conversation is. */
export async function* readBlocks(
  { messages, outline }: ExportInput,
  options: ExportOptions,
): AsyncGenerator<ExportBlock> {
  const { from, to } = options.turns ?? { from: 0, to: Number.POSITIVE_INFINITY }
  const omitted = new OmittedRecords()
  let number = 0
  let turn = new TurnCounter()
  for await (const message of messages) {
    if (classify(message, outline.facts).isTyped) {
      if (number >= from) yield* [...omitted.blocks(), ...turn.end(number)]
      if (++number > to) return
      turn = new TurnCounter()
      if (number >= from)
        yield { kind: 'turn', number, at: recordedTime(message), marks: promptMarksOf(message, outline.facts) }
    }
    turn.add(message)
    if (number < from || (!options.all && omitted.takes(message, outline))) continue
    const block = toBlock(message, outline, options.all === true)
    if (block) yield* [...omitted.blocks(), block]
  }
  if (number >= from) yield* [...omitted.blocks(), ...turn.end(number)]
}

function toBlock(message: NormalizedMessage, outline: ExportOutline, all: boolean): ExportBlock | undefined {
  const { id, source_type, tool_call: call, metadata } = message
  const at = recordedTime(message)
  const { kind, isRepeat } = classify(message, outline.facts)
  const who = SPEAKERS[kind]
  if (who && (all || (who !== 'system' && who !== 'context'))) {
    const parts = messagePartsOf(message, all)
    return parts.length > 0 || who === 'user' ? { kind: 'said', who, at, parts } : undefined
  }
  const text = reasoningTextOf(message)
  if (text !== undefined && !isRepeat) return { kind: 'thought', at, text: toPrintable(text) }
  if (call && source_type === 'tool_call' && outline.answered.has(id)) return undefined
  if (call) return { kind: 'tool', at, call: settleStatus(call, source_type), parts: messagePartsOf(message, all) }
  if (!all) return undefined
  return {
    kind: 'note',
    at,
    what: toPrintable(eventNameOf(message)),
    text: toPrintable(textIn(message.segments)),
    data: metadata ?? {},
  }
}

const SPEAKERS: { readonly [kind in MessageKind]?: BlockSpeaker } = {
  prompt: 'user',
  answer: 'assistant',
  summary: 'summary',
  instruction: 'system',
  context: 'context',
}

/** A call without a result is shown as ended: nothing is in progress in an export. */
const settleStatus = (call: ToolCall, source_type: string): ToolCall =>
  source_type === 'tool_call' && call.status === 'pending' ? { ...call, status: 'missing' } : call

const textIn = (segments: readonly MessageSegment[]): string => segments.map(({ text }) => text ?? '').join('\n')

class TurnCounter {
  readonly #totals = new TurnTotals()
  readonly #times = new TimeRange()

  add(message: NormalizedMessage): void {
    if (classify(message).isReplayed) return
    this.#times.add(recordedTime(message))
    this.#totals.add(message)
  }

  end(number: number): readonly ExportBlock[] {
    if (number === 0) return []
    const { first, last } = this.#times
    const ms = first === null || last === null ? 0 : Date.parse(last) - Date.parse(first)
    const { usage, tools, errors } = this.#totals
    return [{ kind: 'end', number, tally: { usage, tools, errors, ms } }]
  }
}

/** Collects context and copied records, which a default export only names or counts. */
class OmittedRecords {
  readonly #names = new Set<string>()
  #copied = 0

  takes(message: NormalizedMessage, outline: ExportOutline): boolean {
    const { kind, isReplayed } = classify(message, outline.facts)
    if (isReplayed) {
      this.#copied++
      return true
    }
    if (kind !== 'instruction' && kind !== 'context') return false
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

function contextNames(message: NormalizedMessage): readonly string[] {
  const names = injectedNamesOf(message)
  return names.length > 0 ? names.map(toPrintable) : [message.role]
}

export type MessagePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly image: ExportImage }
  /** An image that is stored elsewhere, or of a type that is not shown. */
  | { readonly kind: 'absent'; readonly note: string; readonly url?: string }

/** @param all includes the injected parts of a prompt */
export function messagePartsOf(message: NormalizedMessage, all: boolean): readonly MessagePart[] {
  return message.segments.flatMap((segment): readonly MessagePart[] => {
    if (segment.type === 'image') return [toExportImage(segment.media ?? {})]
    const text = toPrintable(all ? (segment.text ?? '') : withoutInjectedText(segment))
    return text.trim() === '' ? [] : [{ kind: 'text', text }]
  })
}

/** Raster images cannot contain scripts. */
const RASTER_DATA_URI = /^data:image\/(png|jpe?g|gif|webp|avif|bmp);base64,[\w+/-]+={0,2}$/i

function toExportImage({ data_uri: given, url, mime_type, size_bytes }: Media): MessagePart {
  const data_uri = given?.replaceAll(/\s/g, '') ?? ''
  const extension = RASTER_DATA_URI.exec(data_uri)?.[1]?.toLowerCase().replace('jpeg', 'jpg')
  if (extension !== undefined) return { kind: 'image', image: { data_uri, extension } }
  const note = [mime_type, size_bytes !== undefined && `${size_bytes} bytes`].filter(Boolean).join(', ')
  return { kind: 'absent', note: toPrintable(note), ...(url !== undefined && { url: toPrintable(url) }) }
}

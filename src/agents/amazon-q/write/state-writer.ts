/** Gathers the entries of a history, and writes them as a state once all is known that stands around them. */

import { transcriptLines } from '../../../conversation/from-messages/transcript-lines.ts'
import { MAX_CONVERSATION_STATE_HISTORY_LEN } from '../../../conversation/limits.ts'
import type { HistoryEntry } from '../../../conversation/record.ts'
import { hasToolUseResults } from '../../../conversation/render.ts'
import { Spool } from '../../../lib/files/spool.ts'
import type { JsonValue } from '../../../lib/json/lossless.ts'
import { writeJson } from '../../../lib/json/write.ts'
import type { WrittenExtension } from '../../../model/replay/extension.ts'
import type { WriterOutput } from '../../agent.ts'
import type { StateFields } from './native-records.ts'

/** The program sends no more pairs than this: it wants room for what goes around them. */
const MAX_ENTRIES = (MAX_CONVERSATION_STATE_HISTORY_LEN - 6) / 2

interface EntryInfo {
  /** Its place among the extensions. */
  readonly extension: number | undefined
  /** A history may begin with it. */
  readonly isPrompt: boolean
}

export interface StateFrame {
  /** All of the state but its history, in the order in which it is written. */
  readonly fields: StateFields
  /** The first entry that stays. */
  readonly start: number
  /** The number of the first line that `fields` does not tell. */
  readonly line: number
}

/** Whoever makes one closes it. */
export class StateWriter {
  readonly #texts = new Spool()
  readonly #extensions = new Spool()
  /** Of the transcript: many and short, so each costs more than its letters. */
  readonly #lines = new Spool(4_000_000)
  readonly #entries: EntryInfo[] = []

  get length(): number {
    return this.#entries.length
  }

  get lines(): number {
    return this.#lines.length
  }

  add(text: string, entry: HistoryEntry, extension?: WrittenExtension): void {
    this.#entries.push({ extension: extension && this.#extensions.length, isPrompt: !hasToolUseResults(entry.user) })
    if (extension) this.#extensions.push(Buffer.from(JSON.stringify(extension)))
    this.#texts.push(Buffer.from(text))
    for (const line of transcriptLines(entry)) this.#lines.push(Buffer.from(JSON.stringify(line)))
  }

  /** Where the history begins when the oldest entries have to go: with a prompt, where there is one. */
  get start(): number {
    const surplus = this.#entries.length - MAX_ENTRIES
    if (surplus <= 0) return 0
    const first = this.#entries.findIndex(({ isPrompt }, at) => at >= surplus && isPrompt)
    return first < 0 ? surplus : first
  }

  *write({ fields, start, line }: StateFrame): Generator<WriterOutput> {
    const first = LEADING_FIELDS.flatMap((key) => (fields.has(key) ? memberText(key, fields.get(key) ?? null) : []))
    yield bytesItem(`{${[...first, '"history":['].join(',')}`)
    for (let at = start; at < this.#entries.length; at++) yield* this.#entry(at, start)
    yield bytesItem(']')
    for (const [key, value] of fields)
      if (key === 'transcript') yield* this.#transcript(value, line)
      else if (!LEADING_FIELDS.includes(key)) yield bytesItem(`,${memberText(key, value)}`)
    yield bytesItem('}')
  }

  close(): void {
    for (const spool of [this.#texts, this.#extensions, this.#lines]) spool.close()
  }

  *#entry(at: number, start: number): Generator<WriterOutput> {
    const comma = at === start ? '' : ','
    const text = this.#texts.at(at)?.toString() ?? ''
    const extensionIndex = this.#entries[at]?.extension
    const extension = extensionIndex === undefined ? undefined : this.#extensions.at(extensionIndex)?.toString()
    if (extension === undefined) {
      yield bytesItem(`${comma}${text}`)
      return
    }
    yield bytesItem(`${comma}${text.slice(0, -1)},"x_conv":${extension}}`)
    // The program drops the key when it saves the conversation.
    yield { kind: 'sidecar', at: at - start + 1, extension: JSON.parse(extension) as WrittenExtension }
  }

  *#transcript(before: JsonValue, line: number): Generator<WriterOutput> {
    const earlierLines = Array.isArray(before) ? before : []
    const surplus = earlierLines.length + this.#lines.length - line - MAX_CONVERSATION_STATE_HISTORY_LEN
    const keptLines = earlierLines.slice(Math.max(0, surplus)).map((one) => writeJson(one))
    yield bytesItem(`,"transcript":[${keptLines.join(',')}`)
    let isFirst = keptLines.length === 0
    for (let at = line + Math.max(0, surplus - earlierLines.length); at < this.#lines.length; at++) {
      yield bytesItem(`${isFirst ? '' : ','}${this.#lines.at(at)?.toString()}`)
      isFirst = false
    }
    yield bytesItem(']')
  }
}

const LEADING_FIELDS = ['conversation_id', 'next_message']

const memberText = (key: string, value: JsonValue): string => `${JSON.stringify(key)}:${writeJson(value)}`

const bytesItem = (text: string): WriterOutput => ({ kind: 'bytes', bytes: Buffer.from(text) })

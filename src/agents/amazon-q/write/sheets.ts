/** Gathers the entries of a history, and writes them as a state once all is known that stands around them. */
import { MAX_CONVERSATION_STATE_HISTORY_LEN } from '../../../conversation/limits.ts'
import type { HistoryEntry } from '../../../conversation/record.ts'
import { hasToolUseResults } from '../../../conversation/render.ts'
import { linesOf } from '../../../conversation/written/lines.ts'
import { Spool } from '../../../lib/disk/spool.ts'
import type { JsonValue } from '../../../lib/json/lossless.ts'
import { writeJson } from '../../../lib/json/write.ts'
import type { WrittenExtension } from '../../../model/replay/extension.ts'
import type { Written } from '../../agent.ts'
import type { StateFields } from './own.ts'

/** The program sends no more pairs than this: it wants room for what goes around them. */
const MOST_ENTRIES = (MAX_CONVERSATION_STATE_HISTORY_LEN - 6) / 2

interface Sheet {
  /** Its place among the extensions. */
  readonly extension: number | undefined
  /** A history may begin with it. */
  readonly isPrompt: boolean
}

export interface Around {
  /** All of the state but its history, in the order in which it is written. */
  readonly fields: StateFields
  /** The first entry that stays. */
  readonly start: number
  /** The number of the first line that `fields` does not tell. */
  readonly line: number
}

/** Whoever makes one closes it. */
export class Sheets {
  readonly #texts = new Spool()
  readonly #extensions = new Spool()
  /** Of the transcript: many and short, so each costs more than its letters. */
  readonly #lines = new Spool(4_000_000)
  readonly #sheets: Sheet[] = []

  get length(): number {
    return this.#sheets.length
  }

  get lines(): number {
    return this.#lines.length
  }

  add(text: string, entry: HistoryEntry, extension?: WrittenExtension): void {
    this.#sheets.push({ extension: extension && this.#extensions.length, isPrompt: !hasToolUseResults(entry.user) })
    if (extension) this.#extensions.push(Buffer.from(JSON.stringify(extension)))
    this.#texts.push(Buffer.from(text))
    for (const line of linesOf(entry)) this.#lines.push(Buffer.from(JSON.stringify(line)))
  }

  /** Where the history begins when the oldest entries have to go: with a prompt, where there is one. */
  get start(): number {
    const surplus = this.#sheets.length - MOST_ENTRIES
    if (surplus <= 0) return 0
    const first = this.#sheets.findIndex(({ isPrompt }, at) => at >= surplus && isPrompt)
    return first < 0 ? surplus : first
  }

  *write({ fields, start, line }: Around): Generator<Written> {
    const first = FIRST.flatMap((key) => (fields.has(key) ? member(key, fields.get(key) ?? null) : []))
    yield bytes(`{${[...first, '"history":['].join(',')}`)
    for (let at = start; at < this.#sheets.length; at++) yield* this.#entry(at, start)
    yield bytes(']')
    for (const [key, value] of fields)
      if (key === 'transcript') yield* this.#transcript(value, line)
      else if (!FIRST.includes(key)) yield bytes(`,${member(key, value)}`)
    yield bytes('}')
  }

  close(): void {
    for (const spool of [this.#texts, this.#extensions, this.#lines]) spool.close()
  }

  *#entry(at: number, start: number): Generator<Written> {
    const comma = at === start ? '' : ','
    const text = this.#texts.at(at)?.toString() ?? ''
    const place = this.#sheets[at]?.extension
    const extension = place === undefined ? undefined : this.#extensions.at(place)?.toString()
    if (extension === undefined) {
      yield bytes(`${comma}${text}`)
      return
    }
    yield bytes(`${comma}${text.slice(0, -1)},"x_conv":${extension}}`)
    // The program drops the key when it saves the conversation.
    yield { kind: 'sidecar', at: at - start + 1, extension: JSON.parse(extension) as WrittenExtension }
  }

  *#transcript(before: JsonValue, line: number): Generator<Written> {
    const told = Array.isArray(before) ? before : []
    const surplus = told.length + this.#lines.length - line - MAX_CONVERSATION_STATE_HISTORY_LEN
    const kept = told.slice(Math.max(0, surplus)).map((one) => writeJson(one))
    yield bytes(`,"transcript":[${kept.join(',')}`)
    let isFirst = kept.length === 0
    for (let at = line + Math.max(0, surplus - told.length); at < this.#lines.length; at++) {
      yield bytes(`${isFirst ? '' : ','}${this.#lines.at(at)?.toString()}`)
      isFirst = false
    }
    yield bytes(']')
  }
}

const FIRST = ['conversation_id', 'next_message']

const member = (key: string, value: JsonValue): string => `${JSON.stringify(key)}:${writeJson(value)}`

const bytes = (text: string): Written => ({ kind: 'bytes', bytes: Buffer.from(text) })

/** The forms in which versions of Codex wrote their logs. */

import { type JsonValue, writeJson } from '../../lib/json/lossless.ts'
import { fromPortableJson } from '../../lib/json/portable.ts'
import { type Fields, fieldsOf, isObject } from '../../lib/unknown-values.ts'
import { detectShape } from './record/records.ts'
import type { LogItem } from './write-steps.ts'

export type LogForm =
  /** Lines with `timestamp`, `type` and `payload`: since 0.32. */
  | 'envelope'
  /** A header, then items, one per line: before 0.32. */
  | 'bare'
  /** One indented document with `session` and `items`: the first Codex, in TypeScript. */
  | 'document'

/** @param first the first record of a log */
export function detectForm(first: unknown): LogForm {
  if (headerInDocument(first)) return 'document'
  return isObject(first) && detectShape(first) === 'header' ? 'bare' : 'envelope'
}

/** The header of a log that was one document. */
export function headerInDocument(record: unknown): Fields | undefined {
  const header = isObject(record) && !('type' in record) ? fieldsOf(record['session']) : undefined
  return header && Object.keys(record as Fields).length === 1 ? header : undefined
}

/** What was said, as an item of a log before the envelope. Such logs have no events: only thoughts become an item. */
export function toBareItem(item: LogItem): readonly LogItem[] {
  if (item.type === 'response_item') return [item]
  const { type, text } = item.value as { readonly type?: unknown; readonly text?: unknown }
  if (type !== 'agent_reasoning') return []
  return [{ ...item, type: 'response_item', value: { type: 'reasoning', summary: [{ type: 'summary_text', text }] } }]
}

/** The text of a log before the envelope, record by record. */
export class OldLogText {
  readonly #isDocument: boolean
  #items = 0

  constructor(form: Exclude<LogForm, 'envelope'>) {
    this.#isDocument = form === 'document'
  }

  record(record: unknown): string {
    const value = fromPortableJson(record)
    if (!this.#isDocument) return `${writeJson(value)}\n`
    const header = headerInDocument(record)
    if (header) return `{\n  "session": ${indented(header as JsonValue, 1)},\n  "items": [`
    return `${this.#items++ === 0 ? '' : ','}\n    ${indented(value, 2)}`
  }

  end(): string {
    if (!this.#isDocument) return ''
    return this.#items === 0 ? ']\n}' : '\n  ]\n}'
  }
}

const indented = (value: JsonValue, levels: number): string =>
  writeJson(value, 2).replaceAll('\n', `\n${'  '.repeat(levels)}`)

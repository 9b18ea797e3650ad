/** The records of one line: nearly always one, sometimes damaged, sometimes several glued together. */
import { salvageObjects } from '../../../lib/json/salvage.ts'
import { type Fields, isObject } from '../../../lib/unknown-values.ts'
import type { IssueCode } from '../../../model/issue.ts'
import { metaDraft, type RecordDraft } from './draft.ts'
import { type CodexRecordShape, detectShape, recordDrafts } from './shape.ts'

export interface ParsedLine {
  readonly records: readonly unknown[]
  readonly issue?: { readonly code: IssueCode; readonly reason: string }
}

/** @param ended the line has its newline */
export function parseRecords(text: string, ended: boolean): ParsedLine {
  try {
    return { records: [JSON.parse(text)] }
  } catch {
    const found = salvageObjects(text)
    // Inside a damaged record whole objects lie that are parts of it, not records.
    const values = found.hasDamage ? found.values.filter((value) => isRecord(value, text)) : found.values
    if (values.length === 0) return { records: [], issue: ended ? BAD_JSON : CUT_SHORT }
    return { records: values, issue: found.hasDamage ? PARTLY_DAMAGED : GLUED_RECORDS }
  }
}

/** In a log of envelopes only an envelope is a record; elsewhere anything of a known shape is. */
function isRecord(value: unknown, line: string): boolean {
  const shape = isObject(value) ? detectShape(value) : 'unknown'
  return line.startsWith('{"timestamp":') ? shape === 'envelope' : shape !== 'unknown'
}

const BAD_JSON = { code: 'bad_json', reason: 'not JSON; the line is skipped' } as const
const CUT_SHORT = { code: 'cut_short', reason: 'the last line is cut short; all before it was read' } as const
const GLUED_RECORDS = { code: 'glued', reason: 'several records on one line; all were read' } as const
const PARTLY_DAMAGED = {
  code: 'glued',
  reason: 'a damaged record shares its line with whole ones; the whole ones were read',
} as const

export interface ParsedRecord {
  readonly record: Fields
  readonly shape: CodexRecordShape
  readonly drafts: readonly RecordDraft[]
}

/** What a record says, whatever it is. */
export function parseRecord(value: unknown): ParsedRecord {
  if (!isObject(value))
    return { record: NO_RECORD, shape: 'unknown', drafts: [metaDraft(null, { value: valueKind(value) })] }
  const shape = detectShape(value)
  return { record: value, shape, drafts: recordDrafts(value, shape) }
}

/** Stands for the record of a line that holds JSON but no object. */
export const NO_RECORD: Fields = {}

const valueKind = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

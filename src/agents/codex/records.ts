/** The records of one line: nearly always one, sometimes damaged, sometimes several glued together. */
import { findObjects } from '../../lib/json/salvage.ts'
import { type Fields, isObject } from '../../lib/object.ts'
import type { IssueCode } from '../../model/issue.ts'
import { draftsOf, type Shape, shapeOf } from './raw.ts'
import { type Draft, meta } from './record/draft.ts'

export interface Parsed {
  readonly records: readonly unknown[]
  readonly issue?: { readonly code: IssueCode; readonly reason: string }
}

/** @param ended the line has its newline */
export function parseRecords(text: string, ended: boolean): Parsed {
  try {
    return { records: [JSON.parse(text)] }
  } catch {
    const found = findObjects(text)
    // Inside a damaged record whole objects lie that are parts of it, not records.
    const values = found.rest ? found.values.filter((value) => isRecord(value, text)) : found.values
    if (values.length === 0) return { records: [], issue: ended ? BAD : CUT }
    return { records: values, issue: found.rest ? PARTLY : GLUED }
  }
}

/** In a log of envelopes only an envelope is a record; elsewhere anything of a known shape is. */
function isRecord(value: unknown, line: string): boolean {
  const shape = isObject(value) ? shapeOf(value) : 'unknown'
  return line.startsWith('{"timestamp":') ? shape === 'envelope' : shape !== 'unknown'
}

const BAD = { code: 'bad_json', reason: 'not JSON; the line is skipped' } as const
const CUT = { code: 'cut_short', reason: 'the last line is cut short; all before it was read' } as const
const GLUED = { code: 'glued', reason: 'several records on one line; all were read' } as const
const PARTLY = {
  code: 'glued',
  reason: 'a damaged record shares its line with whole ones; the whole ones were read',
} as const

export interface Told {
  readonly record: Fields
  readonly shape: Shape
  readonly drafts: readonly Draft[]
}

/** What a record says, whatever it is. */
export function tell(value: unknown): Told {
  if (!isObject(value)) return { record: NOTHING, shape: 'unknown', drafts: [meta(null, { value: kindOf(value) })] }
  const shape = shapeOf(value)
  return { record: value, shape, drafts: draftsOf(value, shape) }
}

/** Stands for the record of a line that holds JSON but no object. */
export const NOTHING: Fields = {}

const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

/** One line of a journal as a record, and what is wrong with it. */
import { JOURNAL_VERSION } from '../../../conversation/journal/event.ts'
import { type JsonValue, parseJson } from '../../../lib/json/lossless.ts'
import { type ByteLine, decodeLine } from '../../../lib/lines/split-lines.ts'
import { type Fields, isObject, numberOf, stringOf } from '../../../lib/unknown-values.ts'
import type { IssueCode } from '../../../model/issue.ts'

export interface JournalRecord {
  /** The event's name. */
  readonly name: string
  readonly fields: Fields
  /** Numbers in their own spelling. */
  exact(): JsonValue | undefined
}

export interface LineFault {
  readonly code: IssueCode
  readonly reason: string
}

export interface ParsedJournalLine {
  readonly record?: JournalRecord
  readonly faults: readonly LineFault[]
  /** White space and NULs. */
  readonly isBlank: boolean
}

export function parseJournalLine(line: Pick<ByteLine, 'number' | 'utf8' | 'ended'>, bytes: Buffer): ParsedJournalLine {
  const { text, repaired, nuls } = decodeLine(line, bytes)
  const faults: LineFault[] = nuls ? [NUL_BYTES] : []
  if (text.trim() === '') return { faults, isBlank: true }
  if (repaired) faults.push(REPAIRED_UTF8)
  const value = tryParseJson(text)
  if (value === undefined) faults.push(line.ended ? BAD_JSON : CUT_SHORT)
  else if (!isObject(value)) faults.push(NO_OBJECT)
  const fields = isObject(value) ? value : undefined
  const name = stringOf(fields?.['event'])
  if (fields && name === undefined) faults.push(NO_EVENT)
  if (!fields || name === undefined) return { faults, isBlank: false }
  const header = headerFault(fields, name, line.number)
  if (header) faults.push(header)
  return { record: { name, fields, exact: () => parseExact(text) }, faults, isBlank: false }
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function parseExact(text: string): JsonValue | undefined {
  const read = parseJson(text)
  return read.ok ? read.value : undefined
}

function headerFault({ journal }: Fields, name: string, line: number): LineFault | undefined {
  if (name !== 'opened') return line === 1 ? NO_HEADER : undefined
  return (numberOf(journal) ?? 0) > JOURNAL_VERSION ? LATER_VERSION : undefined
}

const NUL_BYTES: LineFault = { code: 'nul_bytes', reason: 'NUL bytes, as a crash leaves them, were passed over' }
const REPAIRED_UTF8: LineFault = { code: 'bad_utf8', reason: 'bytes that are no UTF-8 were replaced by U+FFFD' }
const BAD_JSON: LineFault = { code: 'bad_json', reason: 'not JSON' }
const CUT_SHORT: LineFault = { code: 'cut_short', reason: 'the last line is cut short; its writer may still be at it' }
const NO_OBJECT: LineFault = { code: 'not_an_object', reason: 'JSON, but no event of a journal' }
const NO_EVENT: LineFault = { code: 'unknown_shape', reason: 'no event of a journal' }
const NO_HEADER: LineFault = { code: 'unknown_shape', reason: 'the journal does not begin with its header' }
const LATER_VERSION: LineFault = { code: 'unknown_shape', reason: 'written by a later version; update fumibako' }

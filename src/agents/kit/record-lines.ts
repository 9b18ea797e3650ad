/** Parses one line of a log, and describes its problems as issues. */
import { type ByteLine, decodeLine } from '../../lib/lines.ts'
import { type Fields, isObject } from '../../lib/unknown-values.ts'
import type { Issue, IssueCode } from '../../model/issue.ts'

export interface LineFault {
  readonly code: IssueCode
  readonly reason: string
}

export const tooLongFault = (length: number): LineFault => ({
  code: 'line_too_long',
  reason: `the line is ${length} bytes long, too long to be read`,
})
export const NUL_BYTES: LineFault = { code: 'nul_bytes', reason: 'NUL bytes were cut off, as a crash leaves them' }
export const REPAIRED_UTF8: LineFault = { code: 'bad_utf8', reason: 'bytes that are not UTF-8 were replaced' }
export const BAD_JSON: LineFault = { code: 'bad_json', reason: 'not JSON; the line is skipped' }
export const CUT_SHORT: LineFault = {
  code: 'cut_short',
  reason: 'the last line is cut short; all before it was read',
}
const NO_OBJECT: LineFault = { code: 'not_an_object', reason: 'the line holds no JSON object' }

export const issueItem = (path: string, { code, reason }: LineFault, line?: number) =>
  ({ kind: 'issue', issue: { code, reason, path, ...(line !== undefined && { line }) } satisfies Issue }) as const

export interface RecordLine {
  /** Absent for a blank line and for a line without an object. */
  readonly record?: Fields
  readonly faults: readonly LineFault[]
}

export function parseRecordLine(line: Pick<ByteLine, 'number' | 'utf8' | 'ended'>, bytes: Buffer): RecordLine {
  const { text, repaired, nuls } = decodeLine(line, bytes)
  const faults: LineFault[] = nuls ? [NUL_BYTES] : []
  if (text.trim() === '') return { faults }
  if (repaired) faults.push(REPAIRED_UTF8)
  try {
    const record: unknown = JSON.parse(text)
    if (isObject(record)) return { record, faults }
    faults.push(NO_OBJECT)
  } catch {
    faults.push(line.ended ? BAD_JSON : CUT_SHORT)
  }
  return { faults }
}

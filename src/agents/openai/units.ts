/** A file as units that each hold one conversation: lines, elements of a list, or the whole file. */
import type { OpenFile } from '../../lib/files/file-bytes.ts'
import { type LineBatch, type LogPosition, readLinesFrom } from '../../lib/files/log-file.ts'
import { closeTruncatedList } from '../../lib/json/close-truncated.ts'
import { salvageObjects } from '../../lib/json/salvage.ts'
import { splitElements } from '../../lib/json/split-elements.ts'
import { type ByteLine, decodeLine, MAX_LINE_BYTES } from '../../lib/lines/split-lines.ts'
import { parseStructure } from '../../lib/unknown-values.ts'
import type { IssueCode } from '../../model/issue.ts'
import { detectFileLayout, type FileLayout } from '../../openai/files/file-layout.ts'
import { detectRecordShape, isForeignShape, isMessageLike } from '../../openai/files/record-shape.ts'

/** Its lines are lines of the file, elements of its list, or the whole of it. */
export interface UnitBatch extends LineBatch {
  readonly layout: FileLayout
  /** Something follows the list. */
  readonly stray?: true
}

const HEAD_BYTES = 65_536

/** The views in a batch are valid until the next one is asked for. */
export async function* readUnitBatches(file: OpenFile, from: LogPosition | undefined): AsyncGenerator<UnitBatch> {
  const layout = from ? (from.isElement ? 'list' : 'lines') : detectFileLayout(textOf(await file.head(HEAD_BYTES)))
  if (layout === 'one') yield await readAsOneUnit(file)
  else if (layout === 'list') yield* readElements(file, from)
  else for await (const { lines } of readLinesFrom(file, from)) yield { layout, lines }
}

/** A list of messages is one conversation, not many; its first element tells, however long it is. */
async function* readElements(file: OpenFile, from: LogPosition | undefined): AsyncGenerator<UnitBatch> {
  let stray = false
  const start = from && { offset: from.offset, number: from.line }
  const batches = splitElements(file.chunks(from?.offset ?? 0), start, () => {
    stray = true
  })
  for await (const lines of batches) {
    const first = lines[0]
    if (first?.number === 1 && isMessageLike(parseStructure(first.bytes?.toString('utf8') ?? ''))) {
      yield await readAsOneUnit(file)
      return
    }
    yield { layout: 'list', lines, areElements: true }
  }
  if (stray) yield { layout: 'list', lines: [], stray: true }
}

async function readAsOneUnit(file: OpenFile): Promise<UnitBatch> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const chunk of file.chunks(0)) {
    length += chunk.length
    if (length <= MAX_LINE_BYTES) pieces.push(Buffer.from(chunk))
  }
  const bytes = length <= MAX_LINE_BYTES ? Buffer.concat(pieces) : undefined
  return { layout: 'one', lines: [{ number: 1, offset: 0, length, bytes, ended: false, utf8: false }] }
}

const textOf = (head: Buffer): string => head.toString('utf8').replace(/^[\0\uFEFF]+/, '')

export interface UnitRecords {
  readonly values: readonly unknown[]
  readonly issues: readonly { readonly code: IssueCode; readonly reason: string }[]
  /** White space and NULs. */
  readonly isBlank: boolean
}

const BLANK_UNIT: UnitRecords = { values: [], issues: [], isBlank: true }
const NO_ISSUES: UnitRecords['issues'] = []

/** The records of a unit: nearly always one, sometimes damaged, sometimes several glued together. */
export function parseUnitRecords(unit: Pick<ByteLine, 'number' | 'utf8' | 'ended'>, bytes: Buffer): UnitRecords {
  if (bytes.length === 0) return BLANK_UNIT
  const { text, repaired, nuls } = decodeLine(unit, bytes)
  if (text.trim() === '') return nuls ? { ...BLANK_UNIT, issues: [NUL_BYTES] } : BLANK_UNIT
  const { values, issue } = parseUnitText(text, unit.ended)
  if (!repaired && !nuls && !issue) return { values, issues: NO_ISSUES, isBlank: false }
  const issues = [...(nuls ? [NUL_BYTES] : []), ...(repaired ? [REPAIRED_UTF8] : []), ...(issue ? [issue] : [])]
  return { values, issues, isBlank: false }
}

/** @param ended nothing can follow: what is not whole is damaged, not cut */
function parseUnitText(
  text: string,
  ended: boolean,
): { values: readonly unknown[]; issue?: UnitRecords['issues'][number] } {
  try {
    return { values: [JSON.parse(text)] }
  } catch {
    const cut = ended ? undefined : parseStructure(closeTruncatedList(text, (key) => key === 'mapping') ?? '')
    if (cut && !isForeignShape(detectRecordShape(cut))) return { values: [cut], issue: CUT_SHORT }
    const found = salvageObjects(text)
    // Inside a damaged record whole objects lie that are parts of it, not records.
    const values = found.hasDamage
      ? found.values.filter((value) => !isForeignShape(detectRecordShape(value)))
      : found.values
    if (values.length === 0) return { values, issue: ended ? BAD_JSON : CUT_SHORT }
    return { values, issue: found.hasDamage ? PARTLY_DAMAGED : GLUED_RECORDS }
  }
}

const NUL_BYTES = { code: 'nul_bytes', reason: 'NUL bytes were cut off, as a crash leaves them' } as const
const REPAIRED_UTF8 = { code: 'bad_utf8', reason: 'bytes that are not UTF-8 were replaced' } as const
const BAD_JSON = { code: 'bad_json', reason: 'not JSON; it is skipped' } as const
const CUT_SHORT = { code: 'cut_short', reason: 'cut short; the whole messages before the break were read' } as const
const GLUED_RECORDS = { code: 'glued', reason: 'several records in one place; all were read' } as const
const PARTLY_DAMAGED = {
  code: 'glued',
  reason: 'a damaged record stands beside whole ones; the whole ones were read',
} as const

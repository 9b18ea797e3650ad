/** A file as units that each hold one conversation: lines, elements of a list, or the whole file. */
import type { OpenFile } from '../../lib/bytes.ts'
import { type Batch, linesFrom, type Stop } from '../../lib/files/log-file.ts'
import { closeList } from '../../lib/json/cut.ts'
import { splitElements } from '../../lib/json/elements.ts'
import { findObjects } from '../../lib/json/salvage.ts'
import { decode, type Line, LONGEST_LINE } from '../../lib/jsonl.ts'
import { parseStructure } from '../../lib/object.ts'
import type { IssueCode } from '../../model/issue.ts'
import { type Layout, layoutOf } from '../../openai/files/layout.ts'
import { isForeign, isMessage, shapeOf } from '../../openai/files/shape.ts'

/** Its lines are lines of the file, elements of its list, or the whole of it. */
export interface Units extends Batch {
  readonly layout: Layout
  /** Something follows the list. */
  readonly stray?: true
}

const HEAD = 65_536

/** The views in a batch are valid until the next one is asked for. */
export async function* unitsOf(file: OpenFile, from: Stop | undefined): AsyncGenerator<Units> {
  const layout = from ? (from.isElement ? 'list' : 'lines') : layoutOf(textOf(await file.head(HEAD)))
  if (layout === 'one') yield await wholeFile(file)
  else if (layout === 'list') yield* elements(file, from)
  else for await (const { lines } of linesFrom(file, from)) yield { layout, lines }
}

/** A list of messages is one conversation, not many; its first element tells, however long it is. */
async function* elements(file: OpenFile, from: Stop | undefined): AsyncGenerator<Units> {
  let stray = false
  const start = from && { offset: from.offset, number: from.line }
  const batches = splitElements(file.chunks(from?.offset ?? 0), start, () => {
    stray = true
  })
  for await (const lines of batches) {
    const first = lines[0]
    if (first?.number === 1 && isMessage(parseStructure(first.bytes?.toString('utf8') ?? ''))) {
      yield await wholeFile(file)
      return
    }
    yield { layout: 'list', lines, areElements: true }
  }
  if (stray) yield { layout: 'list', lines: [], stray: true }
}

async function wholeFile(file: OpenFile): Promise<Units> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const chunk of file.chunks(0)) {
    length += chunk.length
    if (length <= LONGEST_LINE) pieces.push(Buffer.from(chunk))
  }
  const bytes = length <= LONGEST_LINE ? Buffer.concat(pieces) : undefined
  return { layout: 'one', lines: [{ number: 1, offset: 0, length, bytes, ended: false, utf8: false }] }
}

const textOf = (head: Buffer): string => head.toString('utf8').replace(/^[\0\uFEFF]+/, '')

export interface Records {
  readonly values: readonly unknown[]
  readonly issues: readonly { readonly code: IssueCode; readonly reason: string }[]
  /** White space and NULs. */
  readonly isBlank: boolean
}

const BLANK: Records = { values: [], issues: [], isBlank: true }
const NO_ISSUES: Records['issues'] = []

/** The records of a unit: nearly always one, sometimes damaged, sometimes several glued together. */
export function recordsOf(unit: Pick<Line, 'number' | 'utf8' | 'ended'>, bytes: Buffer): Records {
  if (bytes.length === 0) return BLANK
  const { text, repaired, nuls } = decode(unit, bytes)
  if (text.trim() === '') return nuls ? { ...BLANK, issues: [NULS] } : BLANK
  const { values, issue } = parse(text, unit.ended)
  if (!repaired && !nuls && !issue) return { values, issues: NO_ISSUES, isBlank: false }
  const issues = [...(nuls ? [NULS] : []), ...(repaired ? [REPAIRED] : []), ...(issue ? [issue] : [])]
  return { values, issues, isBlank: false }
}

/** @param ended nothing can follow: what is not whole is damaged, not cut */
function parse(text: string, ended: boolean): { values: readonly unknown[]; issue?: Records['issues'][number] } {
  try {
    return { values: [JSON.parse(text)] }
  } catch {
    const cut = ended ? undefined : parseStructure(closeList(text, (key) => key === 'mapping') ?? '')
    if (cut && !isForeign(shapeOf(cut))) return { values: [cut], issue: CUT }
    const found = findObjects(text)
    // Inside a damaged record whole objects lie that are parts of it, not records.
    const values = found.rest ? found.values.filter((value) => !isForeign(shapeOf(value))) : found.values
    if (values.length === 0) return { values, issue: ended ? BAD : CUT }
    return { values, issue: found.rest ? PARTLY : GLUED }
  }
}

const NULS = { code: 'nul_bytes', reason: 'NUL bytes were cut off, as a crash leaves them' } as const
const REPAIRED = { code: 'bad_utf8', reason: 'bytes that are not UTF-8 were replaced' } as const
const BAD = { code: 'bad_json', reason: 'not JSON; it is skipped' } as const
const CUT = { code: 'cut_short', reason: 'cut short; the whole messages before the break were read' } as const
const GLUED = { code: 'glued', reason: 'several records in one place; all were read' } as const
const PARTLY = { code: 'glued', reason: 'a damaged record stands beside whole ones; the whole ones were read' } as const

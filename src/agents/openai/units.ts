/** Splits a file into units, one per conversation, and parses them. */
import type { OpenFile } from '../../lib/files/file-bytes.ts'
import { checksum } from '../../lib/hash.ts'
import { closeTruncatedList, salvageObjects } from '../../lib/json/salvage.ts'
import { splitElements } from '../../lib/json/split-elements.ts'
import { type ByteLine, decodeLine, MAX_LINE_BYTES } from '../../lib/lines.ts'
import { parseStructure } from '../../lib/unknown-values.ts'
import type { Issue, IssueCode } from '../../model/issue.ts'
import { detectFileLayout, type FileLayout } from '../../openai/files/file-layout.ts'
import { readRecord } from '../../openai/files/read-record.ts'
import { detectRecordShape, isForeignShape, isMessageLike, SHAPE_TEXTS } from '../../openai/files/record-shape.ts'
import type { Locator, ReadItem } from '../agent.ts'
import { type LineBatch, type LogPosition, readLinesFrom } from '../kit/log-file.ts'
import type {
  ConversationParser,
  ConversationPosition,
  ParsedConversation,
  ParsedSession,
} from './conversation-parser.ts'

/** The lines are lines of the file, elements of its list, or the complete file. */
export interface UnitBatch extends LineBatch {
  readonly layout: FileLayout
  /** Other text follows the list. */
  readonly stray?: true
}

const HEAD_BYTES = 65_536

/** The views in a batch are valid until the next batch is requested. */
export async function* readUnitBatches(file: OpenFile, from: LogPosition | undefined): AsyncGenerator<UnitBatch> {
  const layout = from ? (from.isElement ? 'list' : 'lines') : detectFileLayout(textOf(await file.head(HEAD_BYTES)))
  if (layout === 'one') yield await readAsOneUnit(file)
  else if (layout === 'list') yield* readElements(file, from)
  else for await (const { lines } of readLinesFrom(file, from)) yield { layout, lines }
}

/** A list of messages is one conversation: its first element decides. */
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

interface UnitRecords {
  readonly values: readonly unknown[]
  readonly issues: readonly { readonly code: IssueCode; readonly reason: string }[]
  /** White space and NULs. */
  readonly isBlank: boolean
}

const BLANK_UNIT: UnitRecords = { values: [], issues: [], isBlank: true }
const NO_ISSUES: UnitRecords['issues'] = []

/** The records of a unit: usually one, rarely damaged, rarely several concatenated. */
function parseUnitRecords(unit: Pick<ByteLine, 'number' | 'utf8' | 'ended'>, bytes: Buffer): UnitRecords {
  if (bytes.length === 0) return BLANK_UNIT
  const { text, repaired, nuls } = decodeLine(unit, bytes)
  if (text.trim() === '') return nuls ? { ...BLANK_UNIT, issues: [NUL_BYTES] } : BLANK_UNIT
  const { values, issue } = parseUnitText(text, unit.ended)
  if (!repaired && !nuls && !issue) return { values, issues: NO_ISSUES, isBlank: false }
  const issues = [...(nuls ? [NUL_BYTES] : []), ...(repaired ? [REPAIRED_UTF8] : []), ...(issue ? [issue] : [])]
  return { values, issues, isBlank: false }
}

/** @param ended nothing can follow: incomplete JSON is damaged, not unfinished */
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
    // Objects inside a damaged record are parts of it, not records.
    const values = found.hasDamage
      ? found.values.filter((value) => !isForeignShape(detectRecordShape(value)))
      : found.values
    if (values.length === 0) return { values, issue: ended ? BAD_JSON : CUT_SHORT }
    return { values, issue: found.hasDamage ? PARTLY_DAMAGED : GLUED_RECORDS }
  }
}

const NUL_BYTES = { code: 'nul_bytes', reason: 'NUL bytes left by a crash were removed' } as const
const REPAIRED_UTF8 = { code: 'bad_utf8', reason: 'invalid UTF-8 was replaced by U+FFFD' } as const
const BAD_JSON = { code: 'bad_json', reason: 'not JSON; it is skipped' } as const
const CUT_SHORT = { code: 'cut_short', reason: 'truncated; all complete messages before the break were read' } as const
const GLUED_RECORDS = { code: 'glued', reason: 'several records in one place; all were read' } as const
const PARTLY_DAMAGED = {
  code: 'glued',
  reason: 'a damaged record is next to complete ones; the complete ones were read',
} as const

/** Position of a message, with everything needed to parse it again. */
export interface OpenAiLocator extends Locator {
  /** Shared by the messages of a unit. */
  readonly unit: UnitPosition
  /** Number of the message in the unit, from 1. */
  readonly part: number
}

interface UnitPosition {
  /** Offset, length and check sum. */
  readonly at: readonly [offset: number, length: number, check: number]
  readonly line: number
  readonly layout: FileLayout
  /** The unit was incomplete. */
  readonly cut?: true
}

interface ParsedUnit extends ParsedConversation {
  readonly isBlank: boolean
  /** Checksum of the unit. */
  readonly check: number
}

/** Parses a unit, for the first read and for reading one message again. */
export function parseUnit(
  unit: Pick<ByteLine, 'number' | 'utf8' | 'ended'>,
  bytes: Buffer,
  layout: FileLayout,
  parser: ConversationParser,
): ParsedUnit {
  const { values, issues, isBlank } = parseUnitRecords(unit, bytes)
  const check = checksum(bytes)
  const { number } = unit
  if (values.length === 1 && issues.length === 0) {
    const parsed = parseUnitRecord(values[0], { number, record: 1, before: 0, check }, layout, parser)
    return { sessions: parsed.sessions, issues: parsed.issues, isBlank, check }
  }
  const sessions: ParsedSession[] = []
  const found = [...issues]
  let before = 0
  values.forEach((value, at) => {
    const parsed = parseUnitRecord(value, { number, record: at + 1, before, check }, layout, parser)
    for (const { messages } of parsed.sessions) before += messages.length
    sessions.push(...parsed.sessions)
    found.push(...parsed.issues)
  })
  return { sessions, issues: found, isBlank, check }
}

function parseUnitRecord(
  value: unknown,
  position: ConversationPosition,
  layout: FileLayout,
  parser: ConversationParser,
): ParsedConversation {
  const read = readRecord(value, layout === 'lines')
  const { session, claim } = parser.source
  const claimed = layout === 'one' && claim === undefined ? session : undefined
  if (read.ok) return parser.parse(read.conversation, position, claimed)
  const code = read.shape === 'not-an-object' ? 'not_an_object' : 'unknown_shape'
  return { sessions: [], issues: [{ code, reason: SHAPE_TEXTS[read.shape].en }] }
}

/** Problems of a unit, which may be too long to parse. */
export function unitIssues(
  { number: line, length }: ByteLine,
  parsed: ParsedConversation | undefined,
  path: string,
): readonly Issue[] {
  if (parsed) return parsed.issues.map(({ code, reason }) => ({ code, reason, path, line }))
  return [{ code: 'line_too_long', reason: `${length} bytes long: too long to read`, path, line }]
}

/** Items of a unit in order: each header before its messages. */
export function readUnit(unit: ByteLine, layout: FileLayout, parser: ConversationParser, out: ReadItem[]): void {
  const { bytes } = unit
  const parsed = bytes && parseUnit(unit, bytes, layout, parser)
  for (const issue of unitIssues(unit, parsed, parser.path)) out.push({ kind: 'issue', issue })
  if (!parsed || parsed.sessions.length === 0) return
  const position = unitPositionOf(unit, parsed.check, layout)
  let part = 0
  for (const { session, messages } of parsed.sessions) {
    out.push({ kind: 'session', session })
    for (const message of messages) {
      const locator: OpenAiLocator = { unit: position, part: ++part }
      out.push({ kind: 'message', message, locator })
    }
  }
}

function unitPositionOf(
  { offset, length, number: line, ended }: ByteLine,
  check: number,
  layout: FileLayout,
): UnitPosition {
  const position = { at: [offset, length, check] as const, line, layout }
  return ended ? position : { ...position, cut: true }
}

/** Goes along the units of a file and says what each of them holds. */
import { checksum } from '../../lib/hash.ts'
import type { ByteLine } from '../../lib/lines/split-lines.ts'
import type { Issue } from '../../model/issue.ts'
import type { FileLayout } from '../../openai/files/file-layout.ts'
import { readRecord } from '../../openai/files/read-record.ts'
import { SHAPE_TEXTS } from '../../openai/files/record-shape.ts'
import type { Locator, ReadItem } from '../agent.ts'
import type {
  ConversationParser,
  ConversationPosition,
  ParsedConversation,
  ParsedSession,
} from './conversation-parser.ts'
import { parseUnitRecords } from './units.ts'

/** Where a message lies, and what is needed to make it again. */
export interface OpenAiLocator extends Locator {
  /** The messages of a unit share it. */
  readonly unit: UnitPosition
  /** Of the message among those of the unit, from 1. */
  readonly part: number
}

export interface UnitPosition {
  /** Offset, length and check sum. */
  readonly at: readonly [offset: number, length: number, check: number]
  readonly line: number
  readonly layout: FileLayout
  /** When the file was written. */
  readonly written: number
  /** It was not whole. */
  readonly cut?: true
}

export interface ParsedUnit extends ParsedConversation {
  readonly isBlank: boolean
  /** Of the unit. */
  readonly check: number
}

/** What a unit's bytes say. The same for a first reading and for one body again. */
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

const NO_ISSUES: readonly Issue[] = []

/** What could not be read as it should, in a unit that may be too long to be looked at. */
export function unitIssues(
  { number: line, length }: ByteLine,
  parsed: ParsedConversation | undefined,
  path: string,
): readonly Issue[] {
  if (parsed?.issues.length === 0) return NO_ISSUES
  if (parsed) return parsed.issues.map(({ code, reason }) => ({ code, reason, path, line }))
  return [{ code: 'line_too_long', reason: `${length} bytes long, too long to be read`, path, line }]
}

/** All that a unit says, in its order: each header before its messages. */
export function readUnit(unit: ByteLine, layout: FileLayout, parser: ConversationParser, out: ReadItem[]): void {
  const { bytes } = unit
  const parsed = bytes && parseUnit(unit, bytes, layout, parser)
  for (const issue of unitIssues(unit, parsed, parser.path)) out.push({ kind: 'issue', issue })
  if (!parsed || parsed.sessions.length === 0) return
  const position = unitPositionOf(unit, parsed.check, layout, parser.written)
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
  written: number,
): UnitPosition {
  const position = { at: [offset, length, check] as const, line, layout, written }
  return ended ? position : { ...position, cut: true }
}

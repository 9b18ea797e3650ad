/** Goes along the units of a file and says what each of them holds. */
import { checksum } from '../../lib/hash.ts'
import type { Line } from '../../lib/jsonl.ts'
import type { Issue } from '../../model/issue.ts'
import type { Layout } from '../../openai/files/layout.ts'
import { readRecord } from '../../openai/files/read.ts'
import { REASONS } from '../../openai/files/shape.ts'
import type { Locator, Read } from '../agent.ts'
import type { Spot, Teller, TellSession, Told } from './tell.ts'
import { recordsOf } from './units.ts'

/** Where a message lies, and what is needed to make it again. */
export interface OpenAiLocator extends Locator {
  /** The messages of a unit share it. */
  readonly unit: UnitPlace
  /** Of the message among those of the unit, from 1. */
  readonly part: number
}

export interface UnitPlace {
  /** Offset, length and check sum. */
  readonly at: readonly [offset: number, length: number, check: number]
  readonly line: number
  readonly layout: Layout
  /** When the file was written. */
  readonly written: number
  /** It was not whole. */
  readonly cut?: true
}

export interface UnitTold extends Told {
  readonly isBlank: boolean
  /** Of the unit. */
  readonly check: number
}

/** What a unit's bytes say. The same for a first reading and for one body again. */
export function tellUnit(
  unit: Pick<Line, 'number' | 'utf8' | 'ended'>,
  bytes: Buffer,
  layout: Layout,
  teller: Teller,
): UnitTold {
  const { values, issues, isBlank } = recordsOf(unit, bytes)
  const check = checksum(bytes)
  const { number } = unit
  if (values.length === 1 && issues.length === 0) {
    const told = tellRecord(values[0], { number, record: 1, before: 0, check }, layout, teller)
    return { sessions: told.sessions, issues: told.issues, isBlank, check }
  }
  const sessions: TellSession[] = []
  const found = [...issues]
  let before = 0
  values.forEach((value, at) => {
    const told = tellRecord(value, { number, record: at + 1, before, check }, layout, teller)
    for (const { messages } of told.sessions) before += messages.length
    sessions.push(...told.sessions)
    found.push(...told.issues)
  })
  return { sessions, issues: found, isBlank, check }
}

function tellRecord(value: unknown, spot: Spot, layout: Layout, teller: Teller): Told {
  const read = readRecord(value, layout === 'lines')
  const { session, claim } = teller.source
  const claimed = layout === 'one' && claim === undefined ? session : undefined
  if (read.ok) return teller.tell(read.conversation, spot, claimed)
  const code = read.shape === 'not-an-object' ? 'not_an_object' : 'unknown_shape'
  return { sessions: [], issues: [{ code, reason: REASONS[read.shape].en }] }
}

const NO_ISSUES: readonly Issue[] = []

/** What could not be read as it should, in a unit that may be too long to be looked at. */
export function issuesOf({ number: line, length }: Line, told: Told | undefined, path: string): readonly Issue[] {
  if (told?.issues.length === 0) return NO_ISSUES
  if (told) return told.issues.map(({ code, reason }) => ({ code, reason, path, line }))
  return [{ code: 'line_too_long', reason: `${length} bytes long, too long to be read`, path, line }]
}

/** All that a unit says, in its order: each header before its messages. */
export function follow(unit: Line, layout: Layout, teller: Teller, out: Read[]): void {
  const { bytes } = unit
  const told = bytes && tellUnit(unit, bytes, layout, teller)
  for (const issue of issuesOf(unit, told, teller.path)) out.push({ kind: 'issue', issue })
  if (!told || told.sessions.length === 0) return
  const place = placeOf(unit, told.check, layout, teller.written)
  let part = 0
  for (const { session, messages } of told.sessions) {
    out.push({ kind: 'session', session })
    for (const message of messages) {
      const locator: OpenAiLocator = { unit: place, part: ++part }
      out.push({ kind: 'message', message, locator })
    }
  }
}

function placeOf(
  { offset, length, number: line, ended }: Line,
  check: number,
  layout: Layout,
  written: number,
): UnitPlace {
  const place = { at: [offset, length, check] as const, line, layout, written }
  return ended ? place : { ...place, cut: true }
}

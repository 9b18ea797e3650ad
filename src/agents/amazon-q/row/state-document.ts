/** One conversation state as it lies in a row or a file: its fields, and its entries one at a time. */
import type { EntryList } from '../../../conversation/to-messages/parse-entry.ts'
import { type JsonValue, parseJson } from '../../../lib/json/lossless.ts'
import { type ByteRange, findElementRanges, findMemberRanges, type MemberRange } from '../../../lib/json/ranges.ts'
import { decodeUtf8 } from '../../../lib/text.ts'
import { type Fields, fieldsOf, isObject, listOf } from '../../../lib/unknown-values.ts'
import { stripBulk } from './strip-bulk.ts'

export interface StateDocument {
  /** All but the histories. Snapshots of history inside checkpoints are numbers of entries. */
  readonly fields: Fields
  readonly history: EntryList
  /** The history to which a tangent returns, where one is open. */
  readonly main: EntryList | undefined
  /** The text ends where it should. Otherwise all before the damage is here. */
  readonly isComplete: boolean
}

/** Larger ones are not parsed at once: a value takes several times the memory of its text. */
const MAX_PARSED_AT_ONCE_BYTES = 8_000_000

/** Nothing when it is no JSON object or list at all. */
export function openDocument(bytes: Buffer): StateDocument | undefined {
  if (bytes.length > MAX_PARSED_AT_ONCE_BYTES) return scanDocument(bytes)
  const value = parseStripped(bytes)
  return value === undefined ? scanDocument(bytes) : parseDocument(value, bytes)
}

function parseDocument(value: unknown, bytes: Buffer): StateDocument | undefined {
  if (Array.isArray(value))
    return { fields: {}, history: parsedEntries(value, bytes), main: undefined, isComplete: true }
  if (!isObject(value)) return undefined
  const { history, ...fields } = value
  const tangent = fieldsOf(fields['tangent_state'])
  return {
    fields: {
      ...fields,
      ...(tangent && { tangent_state: omitKey(tangent, 'main_history') }),
      ...checkpointsOf(fields),
    },
    history: parsedEntries(listOf(history), bytes),
    main: tangent && parsedEntries(listOf(tangent['main_history']), bytes, 'main_history'),
    isComplete: true,
  }
}

/** Exact spellings are wanted so seldom that the places of the entries are found only then. */
function parsedEntries(entries: readonly unknown[], bytes: Buffer, within?: 'main_history'): EntryList {
  let pieces: StateDocument | undefined
  const exactAt = (index: number): JsonValue | undefined => {
    pieces ??= scanDocument(bytes)
    return (within ? pieces?.main : pieces?.history)?.exactAt(index)
  }
  return { length: entries.length, at: (index) => entries[index], exactAt }
}

function checkpointsOf({ checkpoint_manager }: Fields): Fields {
  const manager = fieldsOf(checkpoint_manager)
  if (!manager || !Array.isArray(manager['checkpoints'])) return {}
  const checkpoints = listOf(manager['checkpoints']).map((one) =>
    isObject(one) ? { ...one, history_snapshot: listOf(one['history_snapshot']).length } : one,
  )
  return { checkpoint_manager: { ...manager, checkpoints } }
}

/** The way of large and of damaged texts: nothing is parsed that need not be. */
function scanDocument(bytes: Buffer): StateDocument | undefined {
  const start = contentStart(bytes)
  if (bytes[start] === OPEN_LIST) {
    const { ranges: found, isComplete: complete } = findElementRanges(bytes, start)
    return { fields: {}, history: entriesAtRanges(bytes, found), main: undefined, isComplete: complete }
  }
  if (bytes[start] !== OPEN_OBJECT) return undefined
  const walk = findMemberRanges(bytes, start)
  const history = historyRanges(bytes, walk.ranges, walk.end)
  const tangent = memberOf(walk.ranges, 'tangent_state')
  const main = tangent && memberOf(findMemberRanges(bytes, tangent.start).ranges, 'main_history')
  return {
    fields: fieldsAt(bytes, walk.ranges),
    history: entriesAtRanges(bytes, history),
    main: main && entriesAtRanges(bytes, findElementRanges(bytes, main.start).ranges),
    isComplete: walk.isComplete,
  }
}

const OPEN_LIST = 91
const OPEN_OBJECT = 123

/** A history that is cut short is no whole member: its entries up to there are. */
function historyRanges(bytes: Buffer, members: readonly MemberRange[], end: number): readonly ByteRange[] {
  const complete = memberOf(members, 'history')
  if (complete) return findElementRanges(bytes, complete.start).ranges
  const rest = /^[\s,]*"history"\s*:\s*(?=\[)/.exec(bytes.toString('latin1', end, end + 64))
  return rest ? findElementRanges(bytes, end + rest[0].length).ranges : []
}

function fieldsAt(bytes: Buffer, members: readonly MemberRange[]): Fields {
  const fields: Record<string, unknown> = {}
  for (const { key, start, end } of members) {
    if (key === 'history') continue
    if (key === 'checkpoint_manager') fields[key] = managerAt(bytes, start, end)
    else if (key === 'tangent_state' && bytes[start] === OPEN_OBJECT)
      fields[key] = fieldsAt(
        bytes,
        findMemberRanges(bytes, start).ranges.filter((one) => one.key !== 'main_history'),
      )
    else fields[key] = parseStripped(bytes.subarray(start, end))
  }
  return fields
}

function managerAt(bytes: Buffer, start: number, end: number): unknown {
  if (bytes[start] !== OPEN_OBJECT) return parseStripped(bytes.subarray(start, end))
  const members = findMemberRanges(bytes, start).ranges
  const checkpoints = memberOf(members, 'checkpoints')
  return {
    ...fieldsAt(
      bytes,
      members.filter((one) => one !== checkpoints),
    ),
    checkpoints:
      checkpoints && findElementRanges(bytes, checkpoints.start).ranges.map((one) => checkpointAt(bytes, one)),
  }
}

function checkpointAt(bytes: Buffer, { start, end }: ByteRange): unknown {
  if (bytes[start] !== OPEN_OBJECT) return parseStripped(bytes.subarray(start, end))
  const members = findMemberRanges(bytes, start).ranges
  const snapshot = memberOf(members, 'history_snapshot')
  return {
    ...fieldsAt(
      bytes,
      members.filter((one) => one !== snapshot),
    ),
    history_snapshot: snapshot && findElementRanges(bytes, snapshot.start).ranges.length,
  }
}

function entriesAtRanges(bytes: Buffer, ranges: readonly ByteRange[]): EntryList {
  const bytesAt = (index: number): Buffer | undefined => {
    const range = ranges[index]
    return range && bytes.subarray(range.start, range.end)
  }
  return {
    length: ranges.length,
    at(index) {
      const found = bytesAt(index)
      return found && parseStripped(found)
    },
    exactAt(index) {
      const found = bytesAt(index)
      const exact = found && parseJson(decodeUtf8(found))
      return exact?.ok ? exact.value : undefined
    },
  }
}

const memberOf = (members: readonly MemberRange[], key: string): MemberRange | undefined =>
  members.findLast((one) => one.key === key)

function omitKey(fields: Fields, key: string): Fields {
  const { [key]: _, ...rest } = fields
  return rest
}

/** Nothing for what is no JSON. */
function parseStripped(bytes: Buffer): unknown {
  try {
    return JSON.parse(decodeUtf8(stripBulk(bytes)))
  } catch {
    return undefined
  }
}

/** Past blanks and a byte order mark. */
function contentStart(bytes: Buffer): number {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  while ((bytes[at] ?? 99) <= 32) at++
  return at
}

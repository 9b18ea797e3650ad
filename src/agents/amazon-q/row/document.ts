/** One conversation state as it lies in a row or a file: its fields, and its entries one at a time. */
import type { EntryList } from '../../../conversation/told/entry.ts'
import { type JsonValue, parseJson } from '../../../lib/json/lossless.ts'
import { elementsAt, type Member, membersAt, type Range } from '../../../lib/json/ranges.ts'
import { type Fields, fieldsOf, isObject, listOf } from '../../../lib/object.ts'
import { textOf } from '../../../lib/text.ts'
import { slim } from './slim.ts'

export interface Document {
  /** All but the histories. Snapshots of history inside checkpoints are numbers of entries. */
  readonly fields: Fields
  readonly history: EntryList
  /** The history to which a tangent returns, where one is open. */
  readonly main: EntryList | undefined
  /** The text ends where it should. Otherwise all before the damage is here. */
  readonly whole: boolean
}

/** Larger ones are not parsed at once: a value takes several times the memory of its text. */
const LARGE = 8_000_000

/** Nothing when it is no JSON object or list at all. */
export function openDocument(bytes: Buffer): Document | undefined {
  if (bytes.length > LARGE) return inPieces(bytes)
  const value = parsed(bytes)
  return value === undefined ? inPieces(bytes) : atOnce(value, bytes)
}

function atOnce(value: unknown, bytes: Buffer): Document | undefined {
  if (Array.isArray(value)) return { fields: {}, history: listed(value, bytes), main: undefined, whole: true }
  if (!isObject(value)) return undefined
  const { history, ...fields } = value
  const tangent = fieldsOf(fields['tangent_state'])
  return {
    fields: {
      ...fields,
      ...(tangent && { tangent_state: without(tangent, 'main_history') }),
      ...checkpointsOf(fields),
    },
    history: listed(listOf(history), bytes),
    main: tangent && listed(listOf(tangent['main_history']), bytes, 'main_history'),
    whole: true,
  }
}

/** Exact spellings are wanted so seldom that the places of the entries are found only then. */
function listed(entries: readonly unknown[], bytes: Buffer, within?: 'main_history'): EntryList {
  let pieces: Document | undefined
  const exactAt = (index: number): JsonValue | undefined => {
    pieces ??= inPieces(bytes)
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
function inPieces(bytes: Buffer): Document | undefined {
  const start = firstLetter(bytes)
  if (bytes[start] === OPEN_LIST) {
    const { found, whole } = elementsAt(bytes, start)
    return { fields: {}, history: placed(bytes, found), main: undefined, whole }
  }
  if (bytes[start] !== OPEN_OBJECT) return undefined
  const walk = membersAt(bytes, start)
  const history = historyIn(bytes, walk.found, walk.end)
  const tangent = memberOf(walk.found, 'tangent_state')
  const main = tangent && memberOf(membersAt(bytes, tangent.start).found, 'main_history')
  return {
    fields: fieldsAt(bytes, walk.found),
    history: placed(bytes, history),
    main: main && placed(bytes, elementsAt(bytes, main.start).found),
    whole: walk.whole,
  }
}

const OPEN_LIST = 91
const OPEN_OBJECT = 123

/** A history that is cut short is no whole member: its entries up to there are. */
function historyIn(bytes: Buffer, members: readonly Member[], end: number): readonly Range[] {
  const whole = memberOf(members, 'history')
  if (whole) return elementsAt(bytes, whole.start).found
  const rest = /^[\s,]*"history"\s*:\s*(?=\[)/.exec(bytes.toString('latin1', end, end + 64))
  return rest ? elementsAt(bytes, end + rest[0].length).found : []
}

function fieldsAt(bytes: Buffer, members: readonly Member[]): Fields {
  const fields: Record<string, unknown> = {}
  for (const { key, start, end } of members) {
    if (key === 'history') continue
    if (key === 'checkpoint_manager') fields[key] = managerAt(bytes, start, end)
    else if (key === 'tangent_state' && bytes[start] === OPEN_OBJECT)
      fields[key] = fieldsAt(
        bytes,
        membersAt(bytes, start).found.filter((one) => one.key !== 'main_history'),
      )
    else fields[key] = parsed(bytes.subarray(start, end))
  }
  return fields
}

function managerAt(bytes: Buffer, start: number, end: number): unknown {
  if (bytes[start] !== OPEN_OBJECT) return parsed(bytes.subarray(start, end))
  const members = membersAt(bytes, start).found
  const checkpoints = memberOf(members, 'checkpoints')
  return {
    ...fieldsAt(
      bytes,
      members.filter((one) => one !== checkpoints),
    ),
    checkpoints: checkpoints && elementsAt(bytes, checkpoints.start).found.map((one) => checkpointAt(bytes, one)),
  }
}

function checkpointAt(bytes: Buffer, { start, end }: Range): unknown {
  if (bytes[start] !== OPEN_OBJECT) return parsed(bytes.subarray(start, end))
  const members = membersAt(bytes, start).found
  const snapshot = memberOf(members, 'history_snapshot')
  return {
    ...fieldsAt(
      bytes,
      members.filter((one) => one !== snapshot),
    ),
    history_snapshot: snapshot && elementsAt(bytes, snapshot.start).found.length,
  }
}

function placed(bytes: Buffer, ranges: readonly Range[]): EntryList {
  const stretch = (index: number): Buffer | undefined => {
    const range = ranges[index]
    return range && bytes.subarray(range.start, range.end)
  }
  return {
    length: ranges.length,
    at(index) {
      const found = stretch(index)
      return found && parsed(found)
    },
    exactAt(index) {
      const found = stretch(index)
      const exact = found && parseJson(textOf(found))
      return exact?.ok ? exact.value : undefined
    },
  }
}

const memberOf = (members: readonly Member[], key: string): Member | undefined =>
  members.findLast((one) => one.key === key)

function without(fields: Fields, key: string): Fields {
  const { [key]: _, ...rest } = fields
  return rest
}

/** Nothing for what is no JSON. */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(textOf(slim(bytes)))
  } catch {
    return undefined
  }
}

/** Past blanks and a byte order mark. */
function firstLetter(bytes: Buffer): number {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  while ((bytes[at] ?? 99) <= 32) at++
  return at
}

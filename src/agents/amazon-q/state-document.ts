/** A conversation state in a row or file: its fields, and its entries one at a time. */
import type { EntryList } from '../../conversation/to-messages/parse-entry.ts'
import { type JsonValue, parseJson } from '../../lib/json/lossless.ts'
import {
  type ByteRange,
  findElementRanges,
  findMemberRanges,
  findValueEnd,
  type MemberRange,
} from '../../lib/json/scanner.ts'
import { decodeUtf8 } from '../../lib/text.ts'
import { type Fields, fieldsOf, isObject, listOf } from '../../lib/unknown-values.ts'

export interface StateDocument {
  /** All fields except histories. In checkpoints, histories are replaced by their number of entries. */
  readonly fields: Fields
  readonly history: EntryList
  /** The history to which a tangent returns; undefined without a tangent. */
  readonly main: EntryList | undefined
  /** The JSON is complete. If not, everything before the damage is available. */
  readonly isComplete: boolean
}

/** Larger texts are not parsed at once, because a parsed value takes several times the memory of its text. */
const MAX_PARSED_AT_ONCE_BYTES = 8_000_000

/** Undefined if the bytes are not a JSON object or list. */
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

/** Entries of a parsed document. Positions for lossless reads are computed on demand, because few need them. */
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

/** For large and damaged documents: parses only what is needed. */
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

/** The complete entries of a history, which may be truncated. */
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

/** Undefined if the bytes are not JSON. */
function parseStripped(bytes: Buffer): unknown {
  try {
    return JSON.parse(decodeUtf8(stripBulk(bytes)))
  } catch {
    return undefined
  }
}

/** Skips white space and a byte order mark. */
function contentStart(bytes: Buffer): number {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  while ((bytes[at] ?? 99) <= 32) at++
  return at
}

/**
 * Shortens the JSON before parsing: images as base64 instead of lists of numbers, `chunks` with the count instead of
 * `time_between_chunks`, no `orig_args` that repeat `args`.
 */
export function stripBulk(json: Buffer): Buffer {
  const cuts = [
    ...findCuts(json, CHUNK_TIMES_KEY, chunkTimesCut),
    ...findCuts(json, IMAGE_BYTES_KEY, imageCut),
    ...findCuts(json, ORIGINAL_ARGS_KEY, repeatedArgsCut),
  ]
  if (cuts.length === 0) return json
  cuts.sort((a, b) => a.start - b.start)
  const pieces: Buffer[] = []
  let done = 0
  for (const { start, end, replacement } of cuts) {
    // Inside a range that is already removed.
    if (start < done) continue
    pieces.push(json.subarray(done, start), replacement)
    done = end
  }
  return Buffer.concat([...pieces, json.subarray(done)])
}

interface BulkCut {
  readonly start: number
  readonly end: number
  readonly replacement: Buffer
}

/** A quoted key. Searching for its end, which begins with a rare letter, is several times faster. */
interface Key {
  readonly start: Buffer
  readonly end: Buffer
}

const keyOf = (start: string, end: string): Key => ({ start: Buffer.from(`"${start}`), end: Buffer.from(`${end}"`) })

const CHUNK_TIMES_KEY = keyOf('time_', 'between_chunks')
const IMAGE_BYTES_KEY = keyOf('', 'Bytes')
const ORIGINAL_ARGS_KEY = keyOf('orig', '_args')
const ARGS_KEY = Buffer.from('"args"')
const COLON = 58
const CLOSE_LIST = 93
const COMMA = 44
const BACKSLASH = 92
const EMPTY_BUFFER = Buffer.alloc(0)

/** Quotes inside a string are escaped, so a match with plain quotes is a key. */
function findCuts(
  json: Buffer,
  { start, end }: Key,
  cut: (json: Buffer, quote: number, value: number) => BulkCut | undefined,
): readonly BulkCut[] {
  const cuts: BulkCut[] = []
  for (let at = json.indexOf(end); at >= 0; at = json.indexOf(end, at + end.length)) {
    const quote = at - start.length
    if (quote < 0 || json[quote - 1] === BACKSLASH || start.compare(json, quote, at) !== 0) continue
    const colon = skipBlank(json, at + end.length)
    if (json[colon] !== COLON) continue
    const one = cut(json, quote, skipBlank(json, colon + 1))
    if (!one) continue
    cuts.push(one)
    at = Math.max(at, one.end - end.length)
  }
  return cuts
}

/** A list of small objects without strings. */
function chunkTimesCut(json: Buffer, quote: number, list: number): BulkCut | undefined {
  const end = json[list] === OPEN_LIST ? json.indexOf(CLOSE_LIST, list) : -1
  if (end < 0) return undefined
  let count = 0
  for (let at = list; at < end; at++) if (json[at] === OPEN_OBJECT) count++
  return { start: quote, end: end + 1, replacement: Buffer.from(`"chunks":${count}`) }
}

function imageCut(json: Buffer, _: number, list: number): BulkCut | undefined {
  const end = json[list] === OPEN_LIST ? json.indexOf(CLOSE_LIST, list) : -1
  const image = end < 0 ? undefined : parseByteList(json, list + 1, end)
  return image && { start: list, end: end + 1, replacement: Buffer.from(`"${image.toString('base64')}"`, 'latin1') }
}

/** Follows the arguments directly; equal bytes are equal arguments. */
function repeatedArgsCut(json: Buffer, quote: number, value: number): BulkCut | undefined {
  const end = findValueEnd(json, value)
  const before = skipBlankBack(json, quote - 1)
  if (end < 0 || json[before] !== COMMA) return undefined
  const last = skipBlankBack(json, before - 1) + 1
  const first = last - (end - value)
  const colon = skipBlankBack(json, first - 1)
  const key = skipBlankBack(json, colon - 1) + 1
  const isRepeated =
    json[colon] === COLON &&
    json.subarray(key - ARGS_KEY.length, key).equals(ARGS_KEY) &&
    json.compare(json, value, end, first, last) === 0
  return isRepeated ? { start: before, end, replacement: EMPTY_BUFFER } : undefined
}

function skipBlank(json: Buffer, from: number): number {
  let at = from
  while ((json[at] ?? 99) <= 32) at++
  return at
}

function skipBlankBack(json: Buffer, from: number): number {
  let at = from
  while ((json[at] ?? 99) <= 32) at--
  return at
}

const NO_VALUE = -1

function parseByteList(json: Buffer, start: number, end: number): Buffer | undefined {
  // The shortest number with its comma takes two bytes.
  const image = Buffer.allocUnsafe(Math.ceil((end - start + 1) / 2))
  let count = 0
  let value = NO_VALUE
  for (let at = start; at <= end; at++) {
    const code = at === end ? COMMA : (json[at] as number)
    if (code >= 48 && code <= 57) value = (value === NO_VALUE ? 0 : value * 10) + code - 48
    else if (code === COMMA) {
      if (value === NO_VALUE && count === 0 && at === end) break
      if (value < 0 || value > 255) return undefined
      image[count++] = value
      value = NO_VALUE
    } else if (code > 32) return undefined
  }
  return image.subarray(0, count)
}

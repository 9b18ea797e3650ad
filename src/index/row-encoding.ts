/** How values are stored in rows: kinds of messages, ids derived from times, exact integers, compressed text. */

import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { EPOCH, type Instant, instantFromMs } from '../model/ids.ts'
import type { NormalizedMessage, Role, SourceType } from '../model/normalized.ts'
import { recordedTime } from '../model/recorded-time.ts'

export const ROLES: readonly Role[] = ['user', 'assistant', 'tool', 'system', 'meta']
export const SOURCE_TYPES: readonly SourceType[] = ['message', 'tool_call', 'tool_result', 'meta', 'session', 'legacy']

export const PROVISIONAL = 1 << 6
/** Repeats an earlier record; search finds the original. */
export const DUPLICATE = 1 << 7
/** Copied from the log of another session; search finds it there. */
export const REPLAYED = 1 << 8
export const INJECTED = 1 << 9
export const ERROR = 1 << 10
export const IMAGE = 1 << 11
/** The log records no time; that of the row only orders messages and is part of the message's id. */
export const UNDATED = 1 << 13

export function messageKindOf(message: NormalizedMessage): number {
  const { role, source_type, segments, tool_call, metadata } = message
  let kind = ROLES.indexOf(role) | (SOURCE_TYPES.indexOf(source_type) << 3)
  if (recordedTime(message) === null) kind |= UNDATED
  for (const { type } of segments) if (type === 'image') kind |= IMAGE
  if (tool_call?.status === 'error') kind |= ERROR
  if (!metadata) return kind
  if (metadata.event_kind === 'error') kind |= ERROR
  if (metadata.duplicate_of !== undefined) kind |= DUPLICATE
  if (metadata.replayed) kind |= REPLAYED
  if (metadata.injected) kind |= INJECTED
  return kind
}

export const roleOfKind = (kind: number): Role => ROLES[kind & 7] ?? 'meta'
export const sourceTypeOfKind = (kind: number): SourceType => SOURCE_TYPES[(kind >> 3) & 7] ?? 'meta'
export const isSearchableKind = (kind: number): boolean => (kind & (DUPLICATE | REPLAYED)) === 0

/**
 * Milliseconds per id. A smaller step would spread the ids, and the text index stores the distance between ids for each
 * word.
 */
const ID_STEP_MS = 128
/** Smallest id of a message; 0 marks unsearchable rows. Lower values would be times before 1988. */
export const FIRST_MESSAGE_ID = 2 ** 32
const LAST_MESSAGE_ID = Math.floor(Number.MAX_SAFE_INTEGER / 256)

/** The first id for a time. */
export const firstIdAt = (milliseconds: number): number =>
  Math.min(Math.max(FIRST_MESSAGE_ID, Math.floor(milliseconds / ID_STEP_MS)), LAST_MESSAGE_ID)

/** Rows without a date have lower ids: they are in no period. */
export const FIRST_DATED_ID = firstIdAt(Date.parse('1990-01-01T00:00:00.000Z'))

/** The time of an id. Add the row's `rest` for the exact time. */
export const timeOfId = (id: number): number => (id < FIRST_MESSAGE_ID ? 0 : id * ID_STEP_MS)

/**
 * Throws if the value is not an exact integer. SQLite would accept 1e18 silently, and reject 1.5 without naming the
 * column.
 */
export function exactInteger(value: number, label: string): number {
  if (!Number.isSafeInteger(value)) throw new TypeError(`${label} is ${value}, which is not an exact integer`)
  return value
}

/** SQL. SQLite's own `sum` fails when integers overflow 64 bits. */
export const safeSum = (column: string): string => `CAST(min(total(${column}), ${Number.MAX_SAFE_INTEGER}) AS INTEGER)`

/** SQL for the `DO UPDATE` part of an upsert. */
export const addOnConflict = (...columns: readonly string[]): string =>
  columns.map((one) => `${one} = min(${one} + excluded.${one}, ${Number.MAX_SAFE_INTEGER})`).join(', ')

export const compressBytes = (bytes: Uint8Array): Uint8Array => new Uint8Array(deflateRawSync(bytes, { level: 4 }))

export const decompressBytes = (compressed: Uint8Array): Buffer => inflateRawSync(compressed)

export const compressText = (text: string): Buffer => deflateRawSync(text, { level: 4 })

export const decompressText = (compressed: Uint8Array): string => inflateRawSync(compressed).toString('utf8')

/**
 * Usage and activity are summed by quarters of an hour since 1970, because time zones differ by quarters of an hour.
 */
export const QUARTER_MS = 900_000

/** The quarter of what has no date. */
export const NO_QUARTER = -1

/** Stored as the time of a session without one. Sorts after every date. */
const NO_TIME = -1

export const toStoredTime = (at: Instant | null): number => (at === null ? NO_TIME : Date.parse(at))

export const fromStoredTime = (stored: number): Instant | null => (stored < 0 ? null : instantOf(stored))

/** Returns the epoch for an invalid time. */
export const instantOf = (milliseconds: number): Instant => instantFromMs(milliseconds) ?? EPOCH

export type LocatorFields = { readonly [key: string]: unknown }

/** Fields of a row that the locator repeats. Equal values are not stored twice. */
export interface RowContext {
  readonly line: number
  readonly time: string
  readonly session: string
}

const ROW_CONTEXT_KEYS = ['line', 'time', 'session'] as const

/** Returns one digit, whose bits name the fields to take from the row, followed by the other fields as JSON. */
export function encodeLocator(locator: LocatorFields, context: RowContext): string {
  const omitted = omittedFields(locator, context)
  const rest: Record<string, unknown> = {}
  for (const key in locator) if (!isOmitted(key, omitted)) rest[key] = locator[key]
  return `${omitted}${JSON.stringify(rest)}`
}

/** One bit for each field of the row that the locator repeats. */
export function omittedFields(locator: LocatorFields, { line, time, session }: RowContext): number {
  return (
    (locator['line'] === line ? LINE_BIT : 0) |
    (locator['time'] === time ? TIME_BIT : 0) |
    (locator['session'] === session ? SESSION_BIT : 0)
  )
}

const LINE_BIT = 1
const TIME_BIT = 2
const SESSION_BIT = 4

export const isOmitted = (key: string, omitted: number): boolean =>
  ((omitted & LINE_BIT) !== 0 && key === 'line') ||
  ((omitted & TIME_BIT) !== 0 && key === 'time') ||
  ((omitted & SESSION_BIT) !== 0 && key === 'session')

export function decodeLocator(stored: string, context: RowContext): LocatorFields {
  const locator = JSON.parse(stored.slice(1)) as Record<string, unknown>
  ROW_CONTEXT_KEYS.forEach((key, at) => {
    if (Number(stored[0]) & (1 << at)) locator[key] = context[key]
  })
  return locator
}

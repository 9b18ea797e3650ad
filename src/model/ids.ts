/** Types for ids and times, used throughout the program. */

declare const brand: unique symbol
type Brand<T, Name extends string> = T & { readonly [brand]: Name }

export type AgentId = string
/** `<agent>:<native id>`, with `~` and six hex digits where a second source claims the same id. */
export type SessionId = Brand<string, 'SessionId'>
/** UTC ISO-8601 with exactly three fraction digits and `Z`. */
export type Instant = Brand<string, 'Instant'>

export function makeSessionId(agent: AgentId, native: string): SessionId {
  return `${agent}:${native}` as SessionId
}

export function makeMessageId(at: Instant, line: number, part: number): string {
  return part > 1 ? `${at}#${line}.${part}` : `${at}#${line}`
}

/** From which messages without any known time count, one second per record. */
export const EPOCH = '1970-01-01T00:00:00.000Z' as Instant

/** For case-insensitive expressions. */
export const UUID_PATTERN = '[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}'

const UUID_ONLY = new RegExp(`^${UUID_PATTERN}$`, 'i')
export const isUuid = (text: string): boolean => UUID_ONLY.test(text)

export interface SessionClaim {
  readonly id: SessionId
  /** The first time in the source. Null if it has none. */
  readonly at: Instant | null
  /** Hash of the source's first record, hex. */
  readonly first: string
}

/**
 * Assigns an id to each claim. Sources with the same first record are copies of one session and share its id. Of the
 * others, the oldest keeps the plain id. The result does not depend on the order of discovery.
 */
export function assignSessionIds(claims: readonly SessionClaim[]): readonly SessionId[] {
  const owners = new Map<SessionId, SessionClaim>()
  for (const claim of claims) {
    const owner = owners.get(claim.id)
    if (!owner || isOlder(claim, owner)) owners.set(claim.id, claim)
  }
  return claims.map((claim) =>
    owners.get(claim.id)?.first === claim.first ? claim.id : (`${claim.id}~${claim.first.slice(0, 6)}` as SessionId),
  )
}

function isOlder(a: SessionClaim, b: SessionClaim): boolean {
  if (a.at === b.at) return a.first < b.first
  return a.at !== null && (b.at === null || a.at < b.at)
}

/** Undefined outside the years 1970 to 9999: such a time is an error, and does not fit four-digit years. */
export function instantFromMs(milliseconds: number): Instant | undefined {
  const minute = Math.floor(milliseconds / MINUTE_MS)
  if (minute === lastMinute && Number.isInteger(milliseconds)) return withSeconds(milliseconds - minute * MINUTE_MS)
  const date = new Date(milliseconds)
  const year = date.getUTCFullYear()
  if (!(year >= 1970 && year <= 9999)) return undefined
  const text = date.toISOString()
  lastMinute = minute
  lastPrefix = text.slice(0, 17)
  return text as Instant
}

const MINUTE_MS = 60_000

/** Caches the last minute: consecutive times are usually in the same minute, and formatting dates is slow. */
let lastMinute = Number.NaN
let lastPrefix = ''

function withSeconds(milliseconds: number): Instant {
  const padded = String(milliseconds + 100_000)
  return `${lastPrefix}${padded.slice(1, 3)}.${padded.slice(3)}Z` as Instant
}

/** Parses an ISO time with offset, or epoch seconds or milliseconds. Rejects impossible dates. */
export function toInstant(value: unknown): Instant | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) ? instantFromMs(value < 1e11 ? value * 1000 : value) : undefined
  if (typeof value !== 'string') return undefined
  return CANONICAL_TIME.test(value) ? (value as Instant) : parseIsoInstant(value)
}

const ISO_TIME =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(?:([Zz])|([+-])(\d\d):?(\d\d))?$/

function parseIsoInstant(text: string): Instant | undefined {
  const match = ISO_TIME.exec(text.trim())
  if (!match) return undefined
  const [, year, month, day, hour, minute, second = '0', fraction = '', , sign, offsetHour = '0', offsetMinute = '0'] =
    match
  const milliseconds = fraction.padEnd(3, '0').slice(0, 3)
  const local = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second.padStart(2, '0')}.${milliseconds}Z`)
  // Date.parse reads 30 February as 2 March, and 24:00 as the next day.
  const reparsed = new Date(local)
  if (Number.isNaN(local) || reparsed.getUTCDate() !== Number(day) || reparsed.getUTCHours() !== Number(hour))
    return undefined
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000
  return instantFromMs(sign === '-' ? local + offset : sign === '+' ? local - offset : local)
}

/** Fast path for the form that most logs use. Days 29 to 31 take the slow path. */
const CANONICAL_TIME =
  /^(?:19[7-9]\d|[2-9]\d{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/

/** Names and times that mean the same thing everywhere. */

declare const brand: unique symbol
type Brand<T, Name extends string> = T & { readonly [brand]: Name }

export type AgentId = string
/** `<agent>:<native id>`, with `~` and six hex digits where a second source claims the same id. */
export type SessionId = Brand<string, 'SessionId'>
/** UTC ISO-8601 with exactly three fraction digits and `Z`. */
export type Instant = Brand<string, 'Instant'>

export function sessionId(agent: AgentId, native: string): SessionId {
  return `${agent}:${native}` as SessionId
}

export function messageId(at: Instant, line: number, part: number): string {
  return part > 1 ? `${at}#${line}.${part}` : `${at}#${line}`
}

/** For expressions that do not mind the case. */
export const UUID = '[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}'

const WHOLE_UUID = new RegExp(`^${UUID}$`, 'i')
export const isUuid = (text: string): boolean => WHOLE_UUID.test(text)

export interface Claim {
  readonly id: SessionId
  /** When the source's first record was written. */
  readonly at: Instant
  /** Hash of the source's first record, hex. */
  readonly first: string
}

/**
 * Gives each claim its own id. Sources with the same first record are copies of one session and share it; of the
 * others the oldest keeps the bare id. The answer does not depend on the order of discovery.
 */
export function settleClaims(claims: readonly Claim[]): readonly SessionId[] {
  const owners = new Map<SessionId, Claim>()
  for (const claim of claims) {
    const owner = owners.get(claim.id)
    if (!owner || older(claim, owner)) owners.set(claim.id, claim)
  }
  return claims.map((claim) =>
    owners.get(claim.id)?.first === claim.first ? claim.id : (`${claim.id}~${claim.first.slice(0, 6)}` as SessionId),
  )
}

function older(a: Claim, b: Claim): boolean {
  return a.at === b.at ? a.first < b.first : a.at < b.at
}

/** Nothing outside the years 1970 to 9999: such a time is a mistake, and no text of four digits can tell it. */
export function instantOf(milliseconds: number): Instant | undefined {
  const minute = Math.floor(milliseconds / MINUTE)
  if (minute === lastMinute && Number.isInteger(milliseconds)) return withSeconds(milliseconds - minute * MINUTE)
  const date = new Date(milliseconds)
  const year = date.getUTCFullYear()
  if (!(year >= 1970 && year <= 9999)) return undefined
  const text = date.toISOString()
  lastMinute = minute
  lastPrefix = text.slice(0, 17)
  return text as Instant
}

const MINUTE = 60_000

/** Times come in order: most are of the same minute as the one before, and writing a date is slow. */
let lastMinute = Number.NaN
let lastPrefix = ''

function withSeconds(milliseconds: number): Instant {
  const padded = String(milliseconds + 100_000)
  return `${lastPrefix}${padded.slice(1, 3)}.${padded.slice(3)}Z` as Instant
}

/** Reads an ISO time with offset, or a number of epoch seconds or milliseconds. Impossible dates and years are refused. */
export function instant(value: unknown): Instant | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) ? instantOf(value < 1e11 ? value * 1000 : value) : undefined
  if (typeof value !== 'string') return undefined
  return CANONICAL.test(value) ? (value as Instant) : parseInstant(value)
}

const ISO = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(?:([Zz])|([+-])(\d\d):?(\d\d))?$/

function parseInstant(text: string): Instant | undefined {
  const match = ISO.exec(text.trim())
  if (!match) return undefined
  const [, year, month, day, hour, minute, second = '0', fraction = '', , sign, offsetHour = '0', offsetMinute = '0'] =
    match
  const milliseconds = fraction.padEnd(3, '0').slice(0, 3)
  const local = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second.padStart(2, '0')}.${milliseconds}Z`)
  // Date.parse lets 30 February pass as 2 March, and 24:00 as the next day.
  const back = new Date(local)
  if (Number.isNaN(local) || back.getUTCDate() !== Number(day) || back.getUTCHours() !== Number(hour)) return undefined
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000
  return instantOf(sign === '-' ? local + offset : sign === '+' ? local - offset : local)
}

/** The form that most logs have, and the only one whose check must be fast. Days 29 to 31 take the long way. */
const CANONICAL =
  /^(?:19[7-9]\d|[2-9]\d{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/

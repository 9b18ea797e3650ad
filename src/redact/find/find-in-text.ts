/** Finds secrets in one text with all layers: documented formats, names, prose, addresses, places, encodings. */
import { findAssigned } from './assignments.ts'
import { CALL_TRIGGERS } from './calls.ts'
import { COMMAND_TRIGGERS, findInCommand } from './command-lines.ts'
import { findInCookies, findStoredCookie } from './cookies.ts'
import { decodedViewsOf } from './decoded-views.ts'
import { decodeRuns, MIN_RUN } from './encoded-runs.ts'
import { findNearNames, type NamePlace } from './near-names.ts'
import { PRINTED_TRIGGERS } from './printed-secrets.ts'
import { EASTERN_COLUMN, findIdentifiedBy, findInTable, MAX_HEADER, RECORD_TRIGGERS } from './records.ts'
import { HAS, type ScanResult, scanText } from './scan-text.ts'
import { findGenerated, findInJapanese, findLogin } from './sentences.ts'
import { mergeSpans, type RedactionSpan } from './span.ts'
import { findStructured, INFIX_TRIGGERS } from './structured-runs.ts'
import { TriggerTable } from './trigger-table.ts'
import { findInUrl } from './urls.ts'
import { findToken, isBoundary, startsOf, TOKEN_MATCHERS } from './vendor-tokens.ts'
import { wrappedLinesOf } from './wrapped-lines.ts'

/** No secret is shorter. */
const MIN_TEXT = 8
/** Shorter runs near a name are words. */
const MIN_NEAR_RUN = 14
/** Encodings within encodings. */
const MAX_DEPTH = 3

/** What to do where a trigger is found. Returns the position up to which names were examined. */
type Handler = (text: string, at: number, spans: RedactionSpan[]) => void

interface Scan {
  /** The end of the name that was examined last. */
  named: number
  /** The first name of a text; -1 if there is none. */
  firstName: number
  /** Names without a value behind them. */
  names: NamePlace[]
}

const scan: Scan = { named: 0, firstName: -1, names: [] }

const TRIGGERS = new TriggerTable<Handler>()
for (const matcher of TOKEN_MATCHERS) {
  const handler: Handler = (text, at, spans) => findToken(text, at, matcher, spans)
  for (const start of startsOf(matcher)) TRIGGERS.add(start, handler)
}
const nameHandler: Handler = (text, at, spans) => {
  if (at < scan.named) return
  if (scan.firstName < 0) scan.firstName = at
  scan.named = findAssigned(text, at, spans, scan.names)
}
/** `pw` ends many strings by chance. */
const shortNameHandler: Handler = (text, at, spans) => {
  if (isBoundary(text, at)) nameHandler(text, at, spans)
}
/** The words of `secret-names.ts` by which a name is found, wherever they stand in it. */
const NAME_WORDS = [
  ...['pass', 'pwd', 'pswd', 'pword', 'kennwort', 'contrase', 'motdepasse', 'mdp', 'wachtwoord', 'senha', 'psk'],
  ...['secret', 'key', 'token', 'cred', 'mnemonic', 'jwt', 'bearer', 'otp', 'pat(?![a-z])', 'auth', 'cookie', 'sess'],
  ...['sid(?![a-z])', 'sig(?![a-z])', 'signature', 'salt', 'seed', 'pin(?![a-z])', 'csrf', 'xsrf', 'nonce', 'webhook'],
  ...['connection.?string', 'recovery', 'phrase', 'verification', 'storepass'],
]
for (const word of NAME_WORDS) {
  const pattern = new RegExp(word, 'iy')
  TRIGGERS.add(/^\w+/.exec(word)?.[0] ?? '', (text, at, spans) => {
    if (at < scan.named) return
    pattern.lastIndex = at
    if (pattern.test(text)) nameHandler(text, at, spans)
  })
}
for (const start of ['bindpw', 'rootpw', 'adminpw']) TRIGGERS.add(start, nameHandler)
for (const start of ['pw:', 'pw=', 'pw ', 'pw"', "pw'"]) TRIGGERS.add(start, shortNameHandler)
for (const start of [
  'logi',
  'logo',
  'log ',
  'log-',
  'signi',
  'signo',
  'sign ',
  'sign-',
  'cred',
  'account',
  'test user',
])
  TRIGGERS.add(start, findLogin)
for (const start of ['password is ', 'password was ', 'password for ', 'new value: '])
  TRIGGERS.add(start, findGenerated)
TRIGGERS.add('://', findInUrl)
TRIGGERS.add('cooki', findInCookies)
TRIGGERS.add('"httponly', findStoredCookie)
TRIGGERS.add('ident', findIdentifiedBy)
for (const [start, handler] of RECORD_TRIGGERS) TRIGGERS.add(start, handler)
for (const [start, handler] of CALL_TRIGGERS) TRIGGERS.add(start, handler)
for (const [start, handler] of PRINTED_TRIGGERS) TRIGGERS.add(start, handler)
for (const [start, handler] of INFIX_TRIGGERS) TRIGGERS.add(start, handler)
for (const [start, forms] of COMMAND_TRIGGERS)
  TRIGGERS.add(start, (text, at, spans) => findInCommand(text, at, forms, spans))

/**
 * Secrets, and as `binary` content that is not text and cannot be examined.
 * @param depth of encodings around the text
 */
export function findInText(text: string, depth = 0): readonly RedactionSpan[] {
  if (text.length < MIN_TEXT) return []
  const spans: RedactionSpan[] = []
  const { flags, runs } = findPlain(text, spans)
  for (const view of decodedViewsOf(text, flags)) {
    const own: RedactionSpan[] = []
    findPlain(view.text, own)
    for (const span of own) spans.push(view.locate(span))
  }
  if ((flags & HAS.newline) !== 0)
    for (const lines of wrappedLinesOf(text, runs)) {
      const own: RedactionSpan[] = []
      findPlain(lines.text, own)
      for (const span of own) if (span.kind !== 'setting' && lines.isWrapped(span)) spans.push(lines.locate(span))
    }
  for (const { start, end, decoded } of decodeRuns(
    text,
    runs.filter((run) => run.end - run.start >= MIN_RUN),
  )) {
    if (decoded === undefined) spans.push({ start, end, kind: 'binary' })
    const [inner] = decoded === undefined || depth >= MAX_DEPTH ? [] : findInText(decoded, depth + 1)
    if (inner && inner.kind !== 'binary') spans.push({ start, end, kind: inner.kind })
  }
  return mergeSpans(spans)
}

function findPlain(text: string, spans: RedactionSpan[]): ScanResult {
  scan.named = 0
  scan.firstName = -1
  scan.names = []
  const result = scanText(text, TRIGGERS, MIN_NEAR_RUN, (handlers, at) => {
    for (const handler of handlers) handler(text, at, spans)
  })
  for (const { start, end } of result.runs) findStructured(text, start, end, spans)
  if (scan.names.length > 0 && result.runs.length > 0) findNearNames(text, scan.names, result.runs, spans)
  if ((result.flags & HAS.newline) !== 0) {
    const isEastern = (result.flags & HAS.eastern) !== 0
    const column = isEastern ? text.slice(0, MAX_HEADER).search(EASTERN_COLUMN) : -1
    const first = column < 0 || (scan.firstName >= 0 && scan.firstName < column) ? scan.firstName : column
    if (first >= 0 && first < MAX_HEADER) findInTable(text, first, spans)
  }
  if ((result.flags & HAS.eastern) !== 0) findInJapanese(text, spans)
  return result
}

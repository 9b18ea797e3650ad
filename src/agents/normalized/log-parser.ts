/** Goes along the lines of a file and says what each of them holds. */
import { checksum, sha256 } from '../../lib/hash.ts'
import { type ByteLine, decodeLine } from '../../lib/lines/split-lines.ts'
import { type Fields, fieldsOf, parseStructure, stringOf } from '../../lib/unknown-values.ts'
import { badValues, describeBadNumbers } from '../../model/checked-numbers.ts'
import type { Instant } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { Locator, PrivacyOptions, ReadItem, Source } from '../agent.ts'
import { LineCheck } from './check-types.ts'
import { normalizedHeader, promptOfMessage, type SavedHeader } from './session-header.ts'
import { isNormalizedMessage, nativeSessionId, normalizedSessionId, toMessage } from './to-message.ts'

export interface NormalizedLocator extends Locator {
  /** Offset, length and check sum. */
  readonly at: readonly [offset: number, length: number, check: number]
  readonly line: number
  readonly session: string
  readonly taken?: true
}

export interface SavedSession extends SavedHeader {
  /** Number and part of the last message, as its id tells them. */
  readonly last: readonly [line: number, part: number]
}

export class NormalizedLogParser {
  readonly #source: Source
  readonly #options: PrivacyOptions
  readonly #sessions: Map<string, SavedSession>

  constructor(source: Source, options: PrivacyOptions, saved: readonly (readonly [string, SavedSession])[] = []) {
    this.#source = source
    this.#options = options
    this.#sessions = new Map(saved)
  }

  save(): readonly (readonly [string, SavedSession])[] {
    return [...this.#sessions]
  }

  parseLines(lines: readonly ByteLine[]): ReadItem[] {
    const reads: ReadItem[] = []
    for (const line of lines) this.#parseLine(line, reads)
    return reads
  }

  #parseLine(line: ByteLine, reads: ReadItem[]): void {
    const issue: ReportIssue = (code, reason) => {
      const path = this.#source.shown ?? this.#source.path
      reads.push({ kind: 'issue', issue: { code, reason, path, line: line.number } })
    }
    if (!line.bytes) return issue('line_too_long', `the line is ${line.length} bytes long, too long to be read`)
    const { text, repaired } = decodeLine(line, line.bytes)
    if (text.trim() === '') return
    const value = parseStructure(text)
    if (value === undefined) return issue(line.ended ? 'bad_json' : 'cut_short', line.ended ? BAD_JSON : CUT_SHORT)
    if (repaired) issue('bad_utf8', 'bytes that are not UTF-8 were replaced')
    if (!isNormalizedMessage(value)) return issue('unknown_shape', 'no NormalizedMessage')
    this.#addMessage(value, line, line.bytes, reads, issue)
  }

  #addMessage(value: Fields, line: ByteLine, bytes: Buffer, reads: ReadItem[], issue: ReportIssue): void {
    const native = nativeSessionId(value)
    const known = this.#sessions.get(native)
    const session = known?.id ?? this.#idOf(native)
    const number = messageNumber(value)
    const isDuplicateId = known !== undefined && !isAfter(number, known.last)
    const path = this.#source.shown ?? this.#source.path
    const check = new LineCheck()
    const message = toMessage(value, { line: line.number, path, session, isDuplicateId }, this.#options, check)
    if (check.numbers.faults) issue('bad_number', describeBadNumbers(check.numbers.faults))
    if (check.values.size > 0) issue('bad_value', badValues([...check.values]))
    const at = message.timestamp as Instant
    const header =
      known ?? normalizedHeader(value, { id: session, native, at, path, first: sha256(bytes).slice(0, 16) })
    const prompt = known?.header.first_prompt === undefined ? promptOfMessage(message) : undefined
    const latestHeader = prompt === undefined ? header.header : { ...header.header, first_prompt: prompt }
    if (!known || prompt !== undefined) reads.push({ kind: 'session', session: latestHeader })
    this.#sessions.set(native, {
      id: session,
      header: latestHeader,
      last: isDuplicateId && known ? known.last : number,
    })
    const locator: NormalizedLocator = {
      at: [line.offset, line.length, checksum(bytes)],
      line: line.number,
      session,
      ...(isDuplicateId && { taken: true }),
    }
    reads.push({ kind: 'message', message, locator })
  }

  /** Set when another source claims the same id: then for the first session of the file. */
  #idOf(native: string) {
    const { session } = this.#source
    return session !== undefined && this.#sessions.size === 0
      ? (session as ReturnType<typeof normalizedSessionId>)
      : normalizedSessionId(native)
  }
}

type ReportIssue = (code: IssueCode, reason: string) => void

const BAD_JSON = 'not JSON; the line is skipped'
const CUT_SHORT = 'the last line is cut short; all before it was read'

const isAfter = ([line, part]: readonly [number, number], [lastLine, lastPart]: readonly [number, number]): boolean =>
  line > lastLine || (line === lastLine && part > lastPart)

/** The numbers in `timestamp#line.part`. */
function messageNumber(value: Fields): readonly [line: number, part: number] {
  const found = /#(\d+)(?:\.(\d+))?$/.exec(stringOf(value['id']) ?? '')
  return found ? [Number(found[1]), Number(found[2] ?? 1)] : [-1, 0]
}

/** One message again, from its bytes. */
export function parseMessage(bytes: Buffer, where: NormalizedLocator, source: Source, options: PrivacyOptions) {
  const { line, session, taken } = where
  const value = parseStructure(decodeLine({ number: line, utf8: false }, bytes).text)
  if (!isNormalizedMessage(value) || !fieldsOf(value['raw'])) return undefined
  const position = {
    line,
    path: source.shown ?? source.path,
    session: session as ReturnType<typeof normalizedSessionId>,
  }
  return toMessage(value, { ...position, isDuplicateId: taken === true }, options)
}

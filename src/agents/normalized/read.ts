/** Reads a file of NormalizedMessages: both passes, and one message by its locator. */

import { checksum, sha256 } from '../../lib/hash.ts'
import { type ByteLine, decodeLine } from '../../lib/lines.ts'
import { type Fields, fieldsOf, listOf, nonEmptyStringOf, parseStructure, stringOf } from '../../lib/unknown-values.ts'
import { badValues, describeBadNumbers } from '../../model/checked-numbers.ts'
import { classify } from '../../model/classify.ts'
import type { SessionId } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { recordedTime } from '../../model/recorded-time.ts'
import { parseGitInfo, type Session } from '../../model/session.ts'
import type { AgentReadOptions, Cursor, Locator, PrivacyOptions, ReadItem, ScanItem, Source } from '../agent.ts'
import { isNormalizedMessage, LineCheck } from '../kit/check-normalized.ts'
import {
  BAD_JSON,
  CUT_SHORT,
  issueItem,
  type LineFault,
  type LogPosition,
  parseWithCursors,
  REPAIRED_UTF8,
  readLinesFrom,
  readLogFile,
  tooLongFault,
} from '../kit/log-file.ts'
import { pathOf, promptBeginning, type SessionIdentity, sessionIdentity } from '../kit/place-message.ts'
import { scanFromRead } from '../kit/scan-tally.ts'
import { type ByteSpan, changedSourceError, readSpan } from '../kit/source-file.ts'
import { nativeSessionId, normalizedSessionId, toMessage } from './to-message.ts'

interface NormalizedCursor extends Cursor, LogPosition {
  readonly offset: number
  readonly sessions: readonly (readonly [string, SavedSession])[]
}

export function read(source: Source, options: AgentReadOptions = {}): AsyncGenerator<readonly ReadItem[]> {
  return readLogFile<NormalizedCursor, ReadItem>(source, options.from, (file, from) => {
    const parser = new NormalizedLogParser(source, options, from?.sessions)
    return parseWithCursors(readLinesFrom(file, from), file, from, {
      follow: ({ lines }) => [parser.parseLines(lines)],
      cursor: (stop) => [{ kind: 'cursor', cursor: { ...stop, sessions: parser.save() } }],
    })
  })
}

export async function readMessage(
  source: Source,
  locator: Locator,
  options: PrivacyOptions = {},
): Promise<NormalizedMessage> {
  const where = locator as NormalizedLocator
  const message = parseMessage(await readSpan(source, where.at), where, source, options)
  if (!message) throw changedSourceError(source)
  return message
}

interface NormalizedLocator extends Locator {
  readonly at: ByteSpan
  readonly line: number
  readonly session: string
  readonly taken?: true
}

interface SavedSession extends SavedHeader {
  /** Number and part of the last message, from its id. */
  readonly last: readonly [line: number, part: number]
}

class NormalizedLogParser {
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
    const issue: ReportIssue = (fault) => {
      reads.push(issueItem(pathOf(this.#source), fault, line.number))
    }
    if (!line.bytes) return issue(tooLongFault(line.length))
    const { text, repaired } = decodeLine(line, line.bytes)
    if (text.trim() === '') return
    const value = parseStructure(text)
    if (value === undefined) return issue(line.ended ? BAD_JSON : CUT_SHORT)
    if (repaired) issue(REPAIRED_UTF8)
    if (!isNormalizedMessage(value)) return issue({ code: 'unknown_shape', reason: 'not a NormalizedMessage' })
    this.#addMessage(value, line, line.bytes, reads, issue)
  }

  #addMessage(value: Fields, line: ByteLine, bytes: Buffer, reads: ReadItem[], issue: ReportIssue): void {
    const native = nativeSessionId(value)
    const known = this.#sessions.get(native)
    const session = known?.id ?? this.#idOf(native)
    const number = messageNumber(value)
    const isDuplicateId = known !== undefined && !isAfter(number, known.last)
    const path = pathOf(this.#source)
    const check = new LineCheck()
    const message = toMessage(value, { line: line.number, path, session, isDuplicateId }, this.#options, check)
    if (check.numbers.faults) issue({ code: 'bad_number', reason: describeBadNumbers(check.numbers.faults) })
    if (check.values.size > 0) issue({ code: 'bad_value', reason: badValues([...check.values]) })
    const at = recordedTime(message)
    const { header } =
      known ??
      normalizedHeader(value, sessionIdentity({ ...this.#source, session }, native, sha256(bytes).slice(0, 16), at))
    const prompt = header.first_prompt ?? promptOfMessage(message)
    const latestHeader: Session = {
      ...header,
      started_at: header.started_at ?? at,
      ...(prompt !== undefined && { first_prompt: prompt }),
    }
    const isChanged = prompt !== header.first_prompt || latestHeader.started_at !== header.started_at
    if (!known || isChanged) reads.push({ kind: 'session', session: latestHeader })
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

  /** If another source claims the same id, the first session of the file gets another. */
  #idOf(native: string) {
    const { session } = this.#source
    return session !== undefined && this.#sessions.size === 0
      ? (session as ReturnType<typeof normalizedSessionId>)
      : normalizedSessionId(native)
  }
}

type ReportIssue = (fault: LineFault) => void

const isAfter = ([line, part]: readonly [number, number], [lastLine, lastPart]: readonly [number, number]): boolean =>
  line > lastLine || (line === lastLine && part > lastPart)

/** The numbers in `timestamp#line.part`. */
function messageNumber(value: Fields): readonly [line: number, part: number] {
  const found = /#(\d+)(?:\.(\d+))?$/.exec(stringOf(value['id']) ?? '')
  return found ? [Number(found[1]), Number(found[2] ?? 1)] : [-1, 0]
}

/** Parses one message again from its bytes. */
function parseMessage(bytes: Buffer, where: NormalizedLocator, source: Source, options: PrivacyOptions) {
  const { line, session, taken } = where
  const value = parseStructure(decodeLine({ number: line, utf8: false }, bytes).text)
  if (!isNormalizedMessage(value) || !fieldsOf(value['raw'])) return undefined
  const position = {
    line,
    path: pathOf(source),
    session: session as ReturnType<typeof normalizedSessionId>,
  }
  return toMessage(value, { ...position, isDuplicateId: taken === true }, options)
}

interface SavedHeader {
  readonly id: SessionId
  readonly header: Session
}

const TEXT_FIELDS = ['title', 'cwd', 'agent_version', 'originator', 'origin', 'model_provider'] as const

/** The session's original header is stored with its first message. */
function normalizedHeader(line: Fields, identity: SessionIdentity): SavedHeader {
  const metadata = fieldsOf(line['metadata'])
  const original = fieldsOf(fieldsOf(metadata?.['x_conv'])?.['session'])
  const fields = original ?? (line['source_type'] === 'session' ? metadata : undefined) ?? {}
  const textFields = Object.fromEntries(
    TEXT_FIELDS.flatMap((key) => (nonEmptyStringOf(fields[key]) === undefined ? [] : [[key, fields[key]]])),
  )
  const git = fieldsOf(fields['git'])
  const header: Session = {
    ...identity,
    models: listOf(fields['models']).filter((model) => typeof model === 'string'),
    ...textFields,
    ...(git && { git: parseGitInfo(git) }),
    ancestors: [],
  }
  return { id: identity.id, header }
}

const promptOfMessage = (message: NormalizedMessage): string | undefined =>
  classify(message).isTyped ? promptBeginning(message.segments.find(({ text }) => text?.trim())?.text) : undefined

export const scan = (source: Source, from?: Cursor): AsyncGenerator<readonly ScanItem[]> =>
  scanFromRead(read(source, from ? { from } : {}))

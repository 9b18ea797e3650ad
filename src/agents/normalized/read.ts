/** Reads a file of NormalizedMessages: both passes, and one message by its locator. */
import { readFileRange } from '../../lib/files/file-bytes.ts'
import { checksum, sha256 } from '../../lib/hash.ts'
import { type ByteLine, decodeLine } from '../../lib/lines.ts'
import { type Fields, fieldsOf, listOf, nonEmptyStringOf, parseStructure, stringOf } from '../../lib/unknown-values.ts'
import { badValues, describeBadNumbers } from '../../model/checked-numbers.ts'
import { AppError } from '../../model/error.ts'
import type { Instant, SessionId } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { parseGitInfo, type Session } from '../../model/session.ts'
import type { Usage } from '../../model/usage.ts'
import type { AgentReadOptions, Cursor, Locator, PrivacyOptions, ReadItem, ScanItem, Source } from '../agent.ts'
import { type LogPosition, parseWithCursors, readLinesFrom, readLogFile } from '../kit/log-file.ts'
import { AGENT_ID } from './find.ts'
import { isNormalizedMessage, LineCheck, nativeSessionId, normalizedSessionId, toMessage } from './to-message.ts'

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
  const [offset, length, check] = where.at
  const bytes = await readFileRange(source.path, offset, length)
  const message = checksum(bytes) === check ? parseMessage(bytes, where, source, options) : undefined
  if (message) return message
  throw new AppError(
    'not_found',
    `${source.path} has changed since it was read; read it again`,
    `${source.path} は読み込んだ後に変更されました。もう一度読み込んでください。`,
  )
}

interface NormalizedLocator extends Locator {
  /** Offset, length and check sum. */
  readonly at: readonly [offset: number, length: number, check: number]
  readonly line: number
  readonly session: string
  readonly taken?: true
}

interface SavedSession extends SavedHeader {
  /** Number and part of the last message, as its id tells them. */
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
function parseMessage(bytes: Buffer, where: NormalizedLocator, source: Source, options: PrivacyOptions) {
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

interface SavedHeader {
  readonly id: SessionId
  readonly header: Session
}

interface SessionOrigin {
  readonly id: SessionId
  readonly native: string
  readonly at: Instant
  readonly path: string
  readonly first: string
}

const TEXT_FIELDS = ['title', 'cwd', 'agent_version', 'originator', 'origin', 'model_provider'] as const

/** The header that the session had where it came from stands with its first message. */
function normalizedHeader(line: Fields, { id, native, at, path, first }: SessionOrigin): SavedHeader {
  const metadata = fieldsOf(line['metadata'])
  const original = fieldsOf(fieldsOf(metadata?.['x_conv'])?.['session'])
  const fields = original ?? (line['source_type'] === 'session' ? metadata : undefined) ?? {}
  const textFields = Object.fromEntries(
    TEXT_FIELDS.flatMap((key) => (nonEmptyStringOf(fields[key]) === undefined ? [] : [[key, fields[key]]])),
  )
  const git = fieldsOf(fields['git'])
  const header: Session = {
    id,
    agent: AGENT_ID,
    native_id: native,
    first_record: first,
    path,
    kind: 'conversation',
    started_at: at,
    models: listOf(fields['models']).filter((model) => typeof model === 'string'),
    ...textFields,
    ...(git && { git: parseGitInfo(git) }),
    ancestors: [],
  }
  return { id, header }
}

const MAX_PROMPT_LENGTH = 200

/** What the message asks, if it is somebody's question. */
function promptOfMessage({ role, segments, metadata }: NormalizedMessage): string | undefined {
  if (role !== 'user' || metadata?.['injected'] === true || metadata?.['replayed'] === true) return undefined
  const text = segments.find((one) => typeof one.text === 'string' && one.text.trim() !== '')?.text
  return text?.trim().slice(0, MAX_PROMPT_LENGTH)
}

export async function* scan(source: Source, from?: Cursor): AsyncGenerator<readonly ScanItem[]> {
  for await (const batch of read(source, from ? { from } : {})) {
    const found: ScanItem[] = []
    for (const one of batch) {
      if (one.kind === 'message') countMessage(one.message, found)
      else if (one.kind === 'issue' && one.issue.line !== undefined && !ISSUES_WITH_MESSAGE.has(one.issue.code))
        found.push(
          { kind: 'issue', issue: one.issue },
          { kind: 'counts', counts: { lines: 1, messages: 0, tools: {} } },
        )
      else found.push(one)
    }
    if (found.length > 0) yield found
  }
}

/** The line counts with the message that it holds. */
const ISSUES_WITH_MESSAGE: ReadonlySet<IssueCode> = new Set<IssueCode>([
  'bad_utf8',
  'bad_number',
  'bad_value',
  'bad_time',
])

function countMessage(
  { role, source_type, tool_call, metadata, timestamp }: NormalizedMessage,
  found: ScanItem[],
): void {
  const isCopy = metadata?.['replayed'] === true
  const isCounted = (role === 'user' || role === 'assistant') && metadata?.['injected'] !== true && !isCopy
  const tools = source_type === 'tool_call' && !isCopy ? { [tool_call?.name ?? 'unknown']: 1 } : {}
  const usage = metadata?.['usage'] as Usage | undefined
  const model = typeof metadata?.['model'] === 'string' ? metadata['model'] : undefined
  if (usage) found.push({ kind: 'usage', at: timestamp as Instant, model, usage })
  found.push({ kind: 'counts', counts: { lines: 1, messages: isCounted ? 1 : 0, tools } })
}

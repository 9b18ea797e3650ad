/** Reads a log from disk: all of it, from a cursor, or one message by its locator. */
import { type OpenFile, readFileRange } from '../../lib/files/file-bytes.ts'
import { parseWithCursors, readLinesFrom, readLogFile, toLogIssue } from '../../lib/files/log-file.ts'
import { checksum } from '../../lib/hash.ts'
import { decodeLine, MAX_LINE_BYTES } from '../../lib/lines.ts'
import { LastResult } from '../../lib/memoize-last.ts'
import { AppError } from '../../model/error.ts'
import type { Instant } from '../../model/ids.ts'
import type { NormalizedMessage, ToolCall } from '../../model/normalized.ts'
import type { AgentReadOptions, Locator, PrivacyOptions, ReadItem, Source } from '../agent.ts'
import { type CodexCursor, CodexLogParser } from './log-parser.ts'
import { looksLikeDocument, parseSessionDocument, type SessionDocument } from './recognize.ts'
import type { RecordDraft } from './record/draft.ts'
import { isLegacyShape, type ParsedRecord, parseRecord, parseRecords } from './record/records.ts'
import { joinCallAndResult, type RecordPosition, withoutArguments } from './relations.ts'
import { type CodexLocator, recordTimestamp, toMessage } from './to-message.ts'

export function read(source: Source, options: AgentReadOptions = {}): AsyncGenerator<readonly ReadItem[]> {
  return readLogFile<CodexCursor, ReadItem>(source, options.from, (file, from) =>
    readOpenFile(source, file, options, from),
  )
}

async function* readOpenFile(
  source: Source,
  file: OpenFile,
  options: AgentReadOptions,
  from: CodexCursor | undefined,
): AsyncGenerator<readonly ReadItem[]> {
  if (!from && (await isDocument(file))) return yield* readDocument(source, file, options)
  const parser = new CodexLogParser(source, file.modifiedMs, options, from)
  try {
    if (from) await parser.restoreCalls((call) => toolAt(source, call.spot))
    yield* parseWithCursors(readLinesFrom(file, from), file, from, {
      follow: ({ lines }) => [parser.parseLines(lines)],
      cursor: (stop) => [{ kind: 'cursor', cursor: parser.save(stop) }],
    })
  } finally {
    parser.close()
  }
}

export async function* readDocument(
  source: Source,
  file: OpenFile,
  options: PrivacyOptions,
): AsyncGenerator<readonly ReadItem[]> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const chunk of file.chunks(0)) {
    length += chunk.length
    if (length > MAX_LINE_BYTES) {
      yield [
        toLogIssue(source, 'line_too_long', `the file is more than ${MAX_LINE_BYTES} bytes long, too long to be read`),
      ]
      return
    }
    pieces.push(Buffer.from(chunk))
  }
  const bytes = Buffer.concat(pieces)
  const document = parseSessionDocument(bytes.toString('utf8'))
  if (!document) {
    yield [toLogIssue(source, 'unknown_shape', 'JSON, but not a Codex session: it has no list of items')]
    return
  }
  const parser = new CodexLogParser(source, file.modifiedMs, options)
  yield parser.parseDocument(document.session, document.items, bytes.length, checksum(bytes))
  if (document.isCut) yield [toLogIssue(source, 'cut_short', 'the file is cut short; its whole items were read')]
}

const HEAD_BYTES = 512
/** A broken first line is known by a whole one that follows: few are longer. */
const LONG_HEAD_BYTES = 1 << 16

export async function isDocument(file: OpenFile): Promise<boolean> {
  for (const length of [HEAD_BYTES, LONG_HEAD_BYTES])
    if (!looksLikeDocument((await file.head(length)).toString('utf8'))) return false
  return true
}

export async function readMessage(
  source: Source,
  locator: Locator,
  options: PrivacyOptions = {},
): Promise<NormalizedMessage> {
  const where = locator as CodexLocator
  const { parsed, draft, isFirst } = await draftAt(source, where.at, where.whole)
  const calledTool = where.call ? (await draftAt(source, where.call, where.whole)).draft.tool_call : undefined
  const call = calledTool && where.again ? withoutArguments(calledTool) : calledTool
  const tool =
    draft.tool_call && (call || where.found) ? joinCallAndResult(draft.tool_call, call, where.found) : undefined
  const at = where.time as Instant
  const { line, session, marks, role } = where
  const { record, shape } = parsed
  const legacy = isLegacyShape(shape)
  const stamp = recordTimestamp(record, shape)
  const position = {
    at,
    line,
    part: where.at[3],
    isFirst,
    path: source.shown ?? source.path,
    session,
    legacy,
    stamp,
    marks,
    tool,
    role,
  }
  return toMessage(draft, record, position, options)
}

/** Nothing in a log that is one JSON document. */
export function span(locator: Locator): readonly [offset: number, length: number] | undefined {
  const { at, whole: asDocument } = locator as CodexLocator
  return asDocument ? undefined : [at[0], at[1]]
}

/** The call at a spot, or nothing when it is not there any more. */
async function toolAt(source: Source, position: RecordPosition): Promise<ToolCall | undefined> {
  return (await draftAt(source, position, undefined).catch(() => undefined))?.draft.tool_call
}

interface LocatedDraft {
  readonly parsed: ParsedRecord
  readonly draft: RecordDraft
  /** Of its record. */
  readonly isFirst: boolean
}

async function draftAt(source: Source, position: RecordPosition, asDocument: true | undefined): Promise<LocatedDraft> {
  const [offset, length, check, part] = position
  const bytes = await readFileRange(source.path, asDocument ? 0 : offset, length)
  if (bytes.length !== length || checksum(bytes) !== check) throw changedError(source)
  const records = asDocument ? [documentItem(bytes, offset)] : parseLineRecords(bytes, offset === 0)
  let remaining = part
  for (const record of records) {
    const parsed = parseRecord(record)
    const draft = parsed.drafts[remaining - 1]
    if (draft) return { parsed, draft, isFirst: remaining === 1 }
    remaining -= parsed.drafts.length
  }
  throw changedError(source)
}

function parseLineRecords(bytes: Buffer, first: boolean): readonly unknown[] {
  const line = { number: first ? 1 : 2, offset: 0, length: bytes.length, bytes, ended: true, utf8: false }
  return parseRecords(decodeLine(line, bytes).text, true).records
}

const documentCache = new LastResult<SessionDocument | undefined>()

/** Item 0 is the session's own header. */
function documentItem(bytes: Buffer, index: number): unknown {
  const asDocument = documentCache.get(bytes, '', () => parseSessionDocument(bytes.toString('utf8')))
  return index === 0 ? asDocument?.session : asDocument?.items[index - 1]
}

const changedError = (source: Source): AppError =>
  new AppError(
    'not_found',
    `${source.path} has changed since it was read; read it again`,
    `${source.path} は読み込んだ後に変更されました。もう一度読み込んでください。`,
  )

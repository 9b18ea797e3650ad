/** Reads a log from disk: all of it, from a cursor, or one message by its locator. */
import { fileContains, type OpenFile } from '../../lib/files/file-bytes.ts'
import { checksum } from '../../lib/hash.ts'
import { decodeLine, MAX_LINE_BYTES } from '../../lib/lines.ts'
import { LastResult } from '../../lib/memoize-last.ts'
import type { NormalizedMessage, ToolCall } from '../../model/normalized.ts'
import type { AgentReadOptions, Locator, PrivacyOptions, ReadItem, Source } from '../agent.ts'
import { joinCallAndResult, withoutArguments } from '../kit/call-pairing.ts'
import { parseWithCursors, readLinesFrom, readLogFile, toLogIssue } from '../kit/log-file.ts'
import { pathOf } from '../kit/place-message.ts'
import { changedSourceError, readSpan } from '../kit/source-file.ts'
import { withBeginning } from './beginning.ts'
import { type CodexCursor, CodexLogParser } from './log-parser.ts'
import { looksLikeDocument, parseSessionDocument, type SessionDocument } from './recognize.ts'
import { exactRecords, type ParsedRecord, parseDocumentItem, parseRecord, parseRecords } from './record/records.ts'
import { type CodexLocator, type LocatedDraft, type RecordPosition, toMessage } from './to-message.ts'

export function read(source: Source, options: AgentReadOptions = {}): AsyncGenerator<readonly ReadItem[]> {
  return readUntil(source, options)
}

/** @param end ordinal of the first line that is left out */
function readUntil(
  source: Source,
  options: AgentReadOptions,
  end?: number,
  depth = 0,
): AsyncGenerator<readonly ReadItem[]> {
  const own = readLogFile<CodexCursor, ReadItem>(source, options.from, (file, from) =>
    readOpenFile(source, file, options, from, end),
  )
  if (!options.includeBeginning || options.from) return own
  const readBase = (base: Source, until: number, level: number) => readUntil(base, options, until, level)
  return withBeginning(source, own, readBase, depth)
}

async function* readOpenFile(
  source: Source,
  file: OpenFile,
  options: AgentReadOptions,
  from: CodexCursor | undefined,
  end: number | undefined,
): AsyncGenerator<readonly ReadItem[]> {
  if (!from && (await isDocument(file))) return yield* readDocument(source, file, options)
  const parser = new CodexLogParser(source, file.modifiedMs, options, from, end)
  try {
    if (from) await parser.relations.calls.restore((spot) => toolAt(source, spot))
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
        toLogIssue(source, 'line_too_long', `the file is more than ${MAX_LINE_BYTES} bytes long: too long to read`),
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

/** Whether the name of the event occurs anywhere, which the bytes show without parsing. */
export const mayRollBack = ({ path }: Source): Promise<boolean> => fileContains(path, 'thread_rolled_back')

const HEAD_BYTES = 512
/** A damaged first line is detected by a complete one after it; few lines are longer than this. */
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
  const located = await draftAt(source, where.at, where.whole, options.includeSource, where.role !== undefined)
  const { draft } = located
  const calledTool = where.call ? (await draftAt(source, where.call, where.whole)).draft.tool_call : undefined
  const call = calledTool && where.again ? withoutArguments(calledTool) : calledTool
  const tool =
    draft.tool_call && (call || where.found) ? joinCallAndResult(draft.tool_call, call, where.found) : undefined
  return toMessage(located, where, tool, pathOf(source), options)
}

/** The call at a position; undefined if it is no longer there. */
async function toolAt(source: Source, position: RecordPosition): Promise<ToolCall | undefined> {
  return (await draftAt(source, position, undefined).catch(() => undefined))?.draft.tool_call
}

async function draftAt(
  source: Source,
  position: RecordPosition,
  asDocument: true | undefined,
  isExact = false,
  isOldLog = false,
): Promise<LocatedDraft> {
  const [offset, length, check, part] = position
  const bytes = await readSpan(source, [asDocument ? 0 : offset, length, check])
  const records = asDocument
    ? [parseDocumentItem(documentItem(bytes, offset), offset)]
    : parseLineRecords(bytes, offset === 0, isExact, isOldLog)
  let remaining = part
  for (const parsed of records) {
    const draft = parsed.drafts[remaining - 1]
    if (draft) return { parsed, draft, isFirst: remaining === 1 }
    remaining -= parsed.drafts.length
  }
  throw changedSourceError(source)
}

function parseLineRecords(bytes: Buffer, first: boolean, isExact: boolean, isOldLog: boolean): readonly ParsedRecord[] {
  const line = { number: first ? 1 : 2, offset: 0, length: bytes.length, bytes, ended: true, utf8: false }
  const { text } = decodeLine(line, bytes)
  const parsedLine = parseRecords(text, true)
  const exact = isExact ? exactRecords(text, parsedLine) : parsedLine.records
  return parsedLine.records.map((record, at) => parseRecord(record, exact[at], isOldLog))
}

const documentCache = new LastResult<SessionDocument | undefined>()

/** Item 0 is the session's own header. */
function documentItem(bytes: Buffer, index: number): unknown {
  const asDocument = documentCache.get(bytes, '', () => parseSessionDocument(bytes.toString('utf8')))
  return index === 0 ? asDocument?.session : asDocument?.items[index - 1]
}

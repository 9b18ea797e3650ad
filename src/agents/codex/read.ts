/** Reads a source from disk: runs the parser, line by line or over the whole document. */
import type { OpenFile } from '../../lib/files/file-bytes.ts'
import { parseWithCursors, readLinesFrom, readLogFile, toLogIssue } from '../../lib/files/log-file.ts'
import { checksum } from '../../lib/hash.ts'
import { MAX_LINE_BYTES } from '../../lib/lines/split-lines.ts'
import type { AgentReadOptions, PrivacyOptions, ReadItem, Source } from '../agent.ts'
import type { CodexCursor } from './parse/cursor.ts'
import { CodexLogParser } from './parse/log-parser.ts'
import { toolAt } from './read-message.ts'
import { looksLikeDocument, parseSessionDocument } from './session-document.ts'

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

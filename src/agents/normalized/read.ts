/** Reads a file of our own messages, from its beginning or from where an earlier reading stopped. */
import { readFileRange } from '../../lib/files/file-bytes.ts'
import { type LogPosition, parseWithCursors, readLinesFrom, readLogFile } from '../../lib/files/log-file.ts'
import { checksum } from '../../lib/hash.ts'
import { AppError } from '../../model/error.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { AgentReadOptions, Cursor, Locator, PrivacyOptions, ReadItem, Source } from '../agent.ts'
import { type NormalizedLocator, NormalizedLogParser, parseMessage, type SavedSession } from './log-parser.ts'

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

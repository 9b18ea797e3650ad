/** Reads a file of our own messages, from its beginning or from where an earlier reading stopped. */
import { readAt } from '../../lib/bytes.ts'
import { linesFrom, readLog, type Stop, withCursors } from '../../lib/files/log-file.ts'
import { checksum } from '../../lib/hash.ts'
import { AppError } from '../../model/error.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Cursor, Locator, PrivacyOptions, Read, ReadOptions, Source } from '../agent.ts'
import { Follower, type NormalizedLocator, type SavedSession, told } from './follower.ts'

interface Saved extends Cursor, Stop {
  readonly offset: number
  readonly sessions: readonly (readonly [string, SavedSession])[]
}

export function read(source: Source, options: ReadOptions = {}): AsyncGenerator<readonly Read[]> {
  return readLog<Saved, Read>(source, options.from, (file, from) => {
    const follower = new Follower(source, options, from?.sessions)
    return withCursors(linesFrom(file, from), file, from, {
      follow: ({ lines }) => [follower.follow(lines)],
      cursor: (stop) => [{ kind: 'cursor', cursor: { ...stop, sessions: follower.save() } }],
    })
  })
}

export async function body(source: Source, locator: Locator, options: PrivacyOptions = {}): Promise<NormalizedMessage> {
  const where = locator as NormalizedLocator
  const [offset, length, check] = where.at
  const bytes = await readAt(source.path, offset, length)
  const message = checksum(bytes) === check ? told(bytes, where, source, options) : undefined
  if (message) return message
  throw new AppError(
    'not_found',
    `${source.path} has changed since it was read; read it again`,
    `${source.path} は読み込んだ後に変更されました。もう一度読み込んでください。`,
  )
}

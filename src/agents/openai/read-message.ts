/** One message again, from its place in the file. */
import { readFileRange } from '../../lib/files/file-bytes.ts'
import { checksum } from '../../lib/hash.ts'
import { LastResult } from '../../lib/memoize-last.ts'
import { AppError } from '../../model/error.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Locator, PrivacyOptions, Source } from '../agent.ts'
import { ConversationParser } from './conversation-parser.ts'
import { type OpenAiLocator, parseUnit } from './parse-unit.ts'

const unitCache = new LastResult<ReturnType<typeof parseUnit>>()

export async function readMessage(
  source: Source,
  locator: Locator,
  options: PrivacyOptions = {},
): Promise<NormalizedMessage> {
  const { unit: position, part } = locator as OpenAiLocator
  const { line, layout, written, cut } = position
  const [offset, length, check] = position.at
  const bytes = await readFileRange(source.path, offset, length)
  if (bytes.length !== length || checksum(bytes) !== check) throw changedError(source)
  const key = JSON.stringify([
    source.path,
    source.shown,
    source.session,
    source.claim,
    line,
    layout,
    written,
    cut,
    options,
  ])
  const { sessions } = unitCache.get(bytes, key, () => {
    const unit = { number: line, utf8: false, ended: cut !== true }
    return parseUnit(unit, bytes, layout, new ConversationParser(source, written, options))
  })
  let remaining = part
  for (const { messages } of sessions) {
    const message = messages[remaining - 1]
    if (message) return message
    remaining -= messages.length
  }
  throw changedError(source)
}

/** The whole conversation: its messages do not lie apart. */
export function span(locator: Locator): readonly [offset: number, length: number] {
  const [offset, length] = (locator as OpenAiLocator).unit.at
  return [offset, length]
}

const changedError = (source: Source): AppError =>
  new AppError(
    'not_found',
    `${source.path} has changed since it was read; read it again`,
    `${source.path} は読み込んだ後に変更されました。もう一度読み込んでください。`,
  )

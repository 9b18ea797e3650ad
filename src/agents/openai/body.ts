/** One message again, from its place in the file. */
import { readAt } from '../../lib/bytes.ts'
import { LastMade } from '../../lib/disk/last-made.ts'
import { checksum } from '../../lib/hash.ts'
import { AppError } from '../../model/error.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Locator, PrivacyOptions, Source } from '../agent.ts'
import { type OpenAiLocator, tellUnit } from './follower.ts'
import { Teller } from './tell.ts'

const told = new LastMade<ReturnType<typeof tellUnit>>()

export async function body(source: Source, locator: Locator, options: PrivacyOptions = {}): Promise<NormalizedMessage> {
  const { unit: place, part } = locator as OpenAiLocator
  const { line, layout, written, cut } = place
  const [offset, length, check] = place.at
  const bytes = await readAt(source.path, offset, length)
  if (bytes.length !== length || checksum(bytes) !== check) throw gone(source)
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
  const { sessions } = told.of(bytes, key, () => {
    const unit = { number: line, utf8: false, ended: cut !== true }
    return tellUnit(unit, bytes, layout, new Teller(source, written, options))
  })
  let left = part
  for (const { messages } of sessions) {
    const message = messages[left - 1]
    if (message) return message
    left -= messages.length
  }
  throw gone(source)
}

/** The whole conversation: its messages do not lie apart. */
export function span(locator: Locator): readonly [offset: number, length: number] {
  const [offset, length] = (locator as OpenAiLocator).unit.at
  return [offset, length]
}

const gone = (source: Source): AppError =>
  new AppError(
    'not_found',
    `${source.path} has changed since it was read; read it again`,
    `${source.path} は読み込んだ後に変更されました。もう一度読み込んでください。`,
  )

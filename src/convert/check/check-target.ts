/** One door to all checkers: a file, and the program it is meant for. */
import { MAX_LINE_BYTES, splitLines } from '../../lib/lines.ts'
import { assertNever } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import type { Profile, ProfileName } from '../../openai/profile.ts'
import { checkAmazonQ } from './amazon-q.ts'
import { checkCodex } from './codex.ts'
import type { CheckFinding } from './finding.ts'
import { checkOpenai } from './openai.ts'

export const CHECK_TARGETS = ['amazon-q', 'codex', 'openai'] as const
export type CheckTarget = (typeof CHECK_TARGETS)[number]

export interface CheckOptions {
  /** The file's path, where its name is part of the format. */
  readonly path?: string
  /** Whose rules, for OpenAI messages. */
  readonly profile?: ProfileName | Profile
}

/**
 * Findings as they are met. A log of any size takes the memory of its longest line; a stored conversation of Amazon Q
 * is one value and is held whole.
 * @param open gives the bytes from the beginning, each time
 */
export function checkTargetFile(
  target: CheckTarget,
  open: () => AsyncIterable<Buffer>,
  options: CheckOptions = {},
): AsyncIterable<CheckFinding> {
  switch (target) {
    case 'amazon-q':
      return checkBuffered(open())
    case 'codex':
      return checkCodex(splitLines(open()), options.path)
    case 'openai':
      return checkOpenai(open, options.profile)
    default:
      return assertNever(target)
  }
}

async function* checkBuffered(chunks: AsyncIterable<Buffer>): AsyncGenerator<CheckFinding> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.length
    if (length > MAX_LINE_BYTES) {
      yield {
        rule: 'loads',
        place: '$',
        what: phrase('It is longer than 128 MB, which is not looked into.', '128 MB を超えるため、中を調べません。'),
        severity: 'error',
      }
      return
    }
    pieces.push(Buffer.from(chunk))
  }
  yield* checkAmazonQ(Buffer.concat(pieces))
}

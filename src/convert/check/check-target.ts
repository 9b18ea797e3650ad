/** Runs the checker for a file and its target program. */
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
  /** Path of the file, if its name is part of the format. */
  readonly path?: string
  /** Which server's rules to apply to OpenAI messages. */
  readonly profile?: ProfileName | Profile
}

/**
 * Yields findings as they occur. A log takes the memory of its longest line; a stored conversation of Amazon Q is one
 * value and is held completely.
 * @param open returns the bytes from the beginning on each call
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

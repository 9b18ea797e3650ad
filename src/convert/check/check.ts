/** One door to all checkers: a file, and the program it is meant for. */
import { LONGEST_LINE, splitLines } from '../../lib/jsonl.ts'
import { never } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import type { Profile, ProfileName } from '../../openai/profile.ts'
import { checkAmazonQ } from './amazon-q.ts'
import { checkCodex } from './codex.ts'
import type { Finding } from './finding.ts'
import { checkOpenai } from './openai.ts'

export const TARGETS = ['amazon-q', 'codex', 'openai'] as const
export type Target = (typeof TARGETS)[number]

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
export function checkTarget(
  target: Target,
  open: () => AsyncIterable<Buffer>,
  options: CheckOptions = {},
): AsyncIterable<Finding> {
  switch (target) {
    case 'amazon-q':
      return whole(open())
    case 'codex':
      return checkCodex(splitLines(open()), options.path)
    case 'openai':
      return checkOpenai(open, options.profile)
    default:
      return never(target)
  }
}

async function* whole(chunks: AsyncIterable<Buffer>): AsyncGenerator<Finding> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.length
    if (length > LONGEST_LINE) {
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

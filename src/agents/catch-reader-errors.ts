/** Reads a source whose reader may have a bug: whatever it throws ends this source with an issue, and nothing else. */
import { logSourceFailure, toSourceFailure } from '../lib/failure.ts'
import type { Issue } from '../model/issue.ts'
import type { Source } from './agent.ts'

/** @param batches what an agent's `read` or `scan` gives; all before the failure stands */
export async function* catchReaderErrors<T>(
  { path, shown, key }: Source,
  batches: AsyncIterable<readonly T[]>,
): AsyncGenerator<readonly (T | { readonly kind: 'issue'; readonly issue: Issue })[]> {
  try {
    yield* batches
  } catch (error) {
    const failure = toSourceFailure(error)
    logSourceFailure(shown ?? path, failure)
    const { code, reason } = failure
    yield [{ kind: 'issue', issue: { code, reason, path: shown ?? path, ...(key !== undefined && { key }) } }]
  }
}

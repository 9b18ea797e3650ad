/** Turns an exception of an adapter into an issue of the source being read. */
import { logSourceFailure, toSourceFailure } from '../lib/failure.ts'
import type { Issue } from '../model/issue.ts'
import type { Source } from './agent.ts'

/** @param batches output of an agent's `read` or `scan`; everything before the failure is kept */
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

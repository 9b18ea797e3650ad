/** That what is shown is incomplete, because a source is locked or may not be read. */
import type { Issue } from '../issue.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { describeIssue } from './issues.ts'
import { incompleteReasonOf } from './unreadable.ts'

/** Nothing where all that is missing would be missing whoever asks, and whenever. */
export function describeIncomplete(issues: readonly Issue[]): Phrase | undefined {
  const [first, ...others] = issues.filter((issue) => incompleteReasonOf(issue) !== undefined)
  if (!first) return undefined
  const { en, ja } = describeIssue(first)
  const [more, moreJa] =
    others.length === 0 ? ['', ''] : [` (and ${others.length} more)`, `（ほか ${others.length} 件）`]
  return phrase(`What is shown is incomplete: ${en}${more}`, `表示は完全ではありません: ${ja}${moreJa}`)
}

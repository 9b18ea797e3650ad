/**
 * Reports sources that could not be read. The result is still printed, marked as incomplete, and the exit code is not
 * 0.
 */
import { toPrintableField } from '../lib/text.ts'
import { describeIssue, incompleteReasonOf } from '../model/code-texts.ts'
import { AppError, exitCodes } from '../model/error.ts'
import type { Issue } from '../model/issue.ts'
import { localize, say } from './language.ts'
import { writeErr } from './output.ts'

interface IncompleteResult {
  readonly code: 'busy' | 'no_permission'
  readonly issues: readonly Issue[]
}

/**
 * Considers only issues that another run or another user may not have. A lock takes precedence, because it goes away.
 */
function findIncomplete(issues: readonly Issue[]): IncompleteResult | undefined {
  const found = issues.flatMap((issue) => {
    const code = incompleteReasonOf(issue)
    return code === undefined ? [] : [{ code, issue }]
  })
  if (found.length === 0) return undefined
  const code = found.some((one) => one.code === 'busy') ? 'busy' : 'no_permission'
  return { code, issues: found.map(({ issue }) => issue) }
}

/** Call this after printing the result and its issues. */
export async function reportIncomplete(issues: readonly Issue[]): Promise<void> {
  const found = findIncomplete(issues)
  if (!found) return
  const { length } = found.issues
  await writeErr(
    say(
      `fumi: Incomplete result: ${length === 1 ? '1 source' : `${length} sources`} could not be read.\n`,
      `fumi: 結果は完全ではありません。読み取れなかったものが ${length} 件あります。\n`,
    ),
  )
  process.exitCode = exitCodes[found.code]
}

/** Replaces "not found" when the session may be in a source that could not be read. */
export function incompleteError(issues: readonly Issue[]): AppError | undefined {
  const found = findIncomplete(issues)
  const [first] = found?.issues ?? []
  if (!found || !first) return undefined
  const { en, ja } = describeIssue(first)
  return new AppError(
    found.code,
    `No matches, but the result is incomplete: ${en}`,
    `見つかりませんでしたが、結果は完全ではありません: ${ja}`,
  )
}

const MAX_ISSUES = 10

/** Lists the first issues and counts the rest. */
export async function printIssues(issues: readonly Issue[]): Promise<void> {
  for (const issue of issues.slice(0, MAX_ISSUES))
    await writeErr(`${toPrintableField(localize(describeIssue(issue)))}\n`)
  const remaining = issues.length - MAX_ISSUES
  if (remaining > 0)
    await writeErr(
      `${say(`… and ${remaining} more; run fumi normalize for all`, `… ほかに ${remaining} 件。すべては fumi normalize で`)}\n`,
    )
}

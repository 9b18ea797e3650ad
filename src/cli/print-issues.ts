/** A few issues are told; the rest is counted. */
import { toPrintableField } from '../lib/text.ts'
import { describeIssue } from '../model/code-texts/issue-texts.ts'
import type { Issue } from '../model/issue.ts'
import { localize, say } from './language.ts'
import { writeErr } from './output.ts'

const MAX_ISSUES = 10

export async function printIssues(issues: readonly Issue[]): Promise<void> {
  for (const issue of issues.slice(0, MAX_ISSUES))
    await writeErr(`${toPrintableField(localize(describeIssue(issue)))}\n`)
  const remaining = issues.length - MAX_ISSUES
  if (remaining > 0)
    await writeErr(
      `${say(`… and ${remaining} more; fumi normalize lists them all`, `… ほかに ${remaining} 件。すべては fumi normalize で`)}\n`,
    )
}

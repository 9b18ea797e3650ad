/** A few issues are told; the rest is counted. */
import { printableField } from '../lib/text.ts'
import type { Issue } from '../model/issue.ts'
import { describeIssue } from '../model/told/issues.ts'
import { inWords, say } from './language.ts'
import { writeErr } from './output.ts'

const MOST = 10

export async function tellIssues(issues: readonly Issue[]): Promise<void> {
  for (const issue of issues.slice(0, MOST)) await writeErr(`${printableField(inWords(describeIssue(issue)))}\n`)
  const left = issues.length - MOST
  if (left > 0)
    await writeErr(
      `${say(`… and ${left} more; fumi normalize lists them all`, `… ほかに ${left} 件。すべては fumi normalize で`)}\n`,
    )
}

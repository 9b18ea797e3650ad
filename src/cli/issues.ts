/** A few issues are told; the rest is counted. */
import { describeIssue, type Issue } from '../model/issue.ts'
import { writeErr } from './output.ts'

const MOST = 10

export async function tellIssues(issues: readonly Issue[]): Promise<void> {
  for (const issue of issues.slice(0, MOST)) await writeErr(`${describeIssue(issue)}\n`)
  if (issues.length > MOST) await writeErr(`… and ${issues.length - MOST} more; fumi normalize lists them all\n`)
}

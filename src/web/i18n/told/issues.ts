/** What could not be read as it should. */
import type { IssueItem } from '../../../model/api/session.ts'
import { issueInJapanese } from '../../../model/told/issues.ts'
import { wholly } from './told.ts'

export const issueTold = (issue: IssueItem): string => wholly(issueInJapanese(issue), issue.reason)

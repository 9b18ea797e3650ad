/** What could not be read as it should. */
import type { IssueItem } from '../../../model/api/session.ts'
import { issueInJapanese } from '../../../model/told/issues.ts'
import { translateText } from './told.ts'

export const issueText = (issue: IssueItem): string => translateText(issueInJapanese(issue), issue.reason)

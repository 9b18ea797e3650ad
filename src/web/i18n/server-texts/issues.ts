/** What could not be read as it should. */
import type { IssueItem } from '../../../model/api/session.ts'
import { issueInJapanese } from '../../../model/code-texts.ts'
import { translateText } from './translate.ts'

export const issueText = (issue: IssueItem): string => translateText(issueInJapanese(issue), issue.reason)

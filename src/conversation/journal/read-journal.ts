/** A journal's text as events, and what of it cannot be read. */

import type { IssueCode } from '../../model/issue.ts'
import { JOURNAL_VERSION, type JournalEvent } from './event.ts'
import { readEvent } from './event-codec.ts'

export interface LineIssue {
  readonly code: IssueCode
  /** A sentence for a person. Never conversation text. */
  readonly reason: string
  /** From 1; blank lines count. */
  readonly line: number
}

export interface JournalReadResult {
  readonly events: readonly JournalEvent[]
  readonly issues: readonly LineIssue[]
}

/** A last line without its newline counts where it is whole. */
export function readJournal(text: string): JournalReadResult {
  const events: JournalEvent[] = []
  const issues: LineIssue[] = []
  const lines = text.split('\n')
  lines.forEach((line, at) => {
    if (line.trim() === '') return
    const isLast = at === lines.length - 1
    const read = readEvent(line)
    const fault = read.ok ? findHeaderFault(read.event, at + 1) : isLast ? CUT_SHORT : read
    if (read.ok) events.push(read.event)
    if (fault) issues.push({ code: fault.code, reason: fault.reason, line: at + 1 })
  })
  return { events, issues }
}

const CUT_SHORT = { code: 'cut_short', reason: 'the last line is cut short; all before it was read' } as const

/** What is wrong with an event at its place, though it can be read by itself. */
export function findHeaderFault(event: JournalEvent, line: number): Omit<LineIssue, 'line'> | undefined {
  if (event.event === 'opened' && event.journal > JOURNAL_VERSION)
    return { code: 'unknown_shape', reason: `written by a later version (journal ${event.journal}); update fumibako` }
  if (event.event !== 'opened' && line === 1)
    return { code: 'unknown_shape', reason: 'the journal does not begin with its header' }
  return undefined
}

/** What went wrong with one source: what its issue says, and what the log shows of a bug. */
import { AppError, isUpdated } from '../model/error.ts'
import type { IssueCode } from '../model/issue.ts'
import { isSystemError, reasonOf } from './files/system-error.ts'
import { debug, warn } from './log.ts'

/** Plain JSON: threads send it to each other. */
export interface Failure {
  readonly code: Extract<IssueCode, 'unreadable' | 'internal_error'>
  readonly reason: string
  /** Of a bug. */
  readonly stack?: string
}

/** Problems of the machine or of our own files: the other sources would meet them too. */
const EVERYWHERE: ReadonlySet<string> = new Set(['cannot_write', 'no_permission', 'unusable_data', 'busy'])

/** Throws what concerns more than one source: a full disk, a damaged database of our own, an update of the program. */
export function failureOf(error: unknown): Failure {
  if (isUpdated(error) || (error instanceof AppError && EVERYWHERE.has(error.code))) throw error
  if (error instanceof AppError) return { code: 'unreadable', reason: error.message }
  if (isSystemError(error)) return { code: 'unreadable', reason: reasonOf(error) }
  const [first = ''] = String(error).split('\n')
  const stack = error instanceof Error ? (error.stack ?? first) : first
  return { code: 'internal_error', reason: `internal error: ${first.slice(0, LONGEST)}; please report it`, stack }
}

/** Errors may quote what they met, and a log holds conversations. */
const LONGEST = 200

/** One line on stderr for a bug; FUMI_LOG=debug shows where it is. */
export function logFailure(path: string, { code, reason, stack }: Failure): void {
  if (code !== 'internal_error') return
  warn(`${path}: ${reason}`)
  if (stack !== undefined) debug(stack)
}

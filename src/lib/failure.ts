/** Turns an error that ends the reading of one source into an issue, and logs bugs. */
import { AppError, isProgramUpdated } from '../model/error.ts'
import type { IssueCode } from '../model/issue.ts'
import { isSystemError, systemErrorReason } from './files/system-error.ts'
import { debug, warn } from './logger.ts'

/** Plain JSON, because threads exchange it. */
export interface SourceFailure {
  readonly code: Extract<IssueCode, 'unreadable' | 'internal_error'>
  readonly reason: string
  /** Only for a bug. */
  readonly stack?: string
}

/** Problems of the machine or of our own files, which would also stop the other sources. */
const GLOBAL_ERROR_CODES: ReadonlySet<string> = new Set(['cannot_write', 'no_permission', 'unusable_data', 'busy'])

/** Rethrows errors that concern more than one source: a full disk, a damaged database of our own, an update of the program. */
export function toSourceFailure(error: unknown): SourceFailure {
  if (isProgramUpdated(error) || (error instanceof AppError && GLOBAL_ERROR_CODES.has(error.code))) throw error
  if (error instanceof AppError) return { code: 'unreadable', reason: error.message }
  if (isSystemError(error)) return { code: 'unreadable', reason: systemErrorReason(error) }
  const [first = ''] = String(error).split('\n')
  const stack = error instanceof Error ? (error.stack ?? first) : first
  return {
    code: 'internal_error',
    reason: `internal error: ${first.slice(0, MAX_QUOTED_LENGTH)}; please report it`,
    stack,
  }
}

/** Errors may quote their input, which may be conversation text. */
const MAX_QUOTED_LENGTH = 200

/** Writes one line to stderr for a bug, and the stack with FUMI_LOG=debug. */
export function logSourceFailure(path: string, { code, reason, stack }: SourceFailure): void {
  if (code !== 'internal_error') return
  warn(`${path}: ${reason}`)
  if (stack !== undefined) debug(stack)
}

/** A session as texts, wherever it is stored: its header, and each message with its parts. */
import type { DatabaseOutcome, DatabaseProblem } from '../../lib/sqlite/database-file.ts'

export interface SessionTexts {
  /** `{"info": …}`. Undefined if the session is gone. */
  header(): DatabaseOutcome<Buffer | undefined>
  /** `{"info": …, "parts": […]}` each. Returns the problem that ends the reading early. */
  messages(): Generator<Buffer, DatabaseProblem | 'cut_short' | undefined>
  /** From 1. */
  messageAt(number: number): DatabaseOutcome<Buffer | undefined>
}

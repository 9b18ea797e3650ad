/** Whether a command failed because the index is damaged: then it can be run again, and makes the index anew. */
import { IndexDamagedError, markIndexIfDamaged } from '../app.ts'
import { dataDirectory, thisMachine } from '../lib/files/data-directory.ts'
import { AppError } from '../model/error.ts'

/** Reads all of the index for an error that nobody expected: it may come from values that no writer wrote. */
export async function isCausedByDamagedIndex(error: unknown): Promise<boolean> {
  if (error instanceof IndexDamagedError) return true
  return !(error instanceof AppError) && markIndexIfDamaged(dataDirectory(thisMachine()))
}

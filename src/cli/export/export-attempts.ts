/** Several sessions at once: one that fails is told of, and the others go on. */
import { toSourceFailure } from '../../lib/failure.ts'
import { debug } from '../../lib/logger.ts'
import { toPrintable } from '../../lib/text.ts'
import { AppError, EXIT_BUG, exitCodes, isProgramUpdated } from '../../model/error.ts'
import { localize } from '../language.ts'
import { writeErr } from '../output.ts'

/** The other sessions would meet it too. */
const affectsAllSessions = (error: unknown): boolean =>
  isProgramUpdated(error) ||
  (error instanceof AppError && (error.code === 'cannot_write' || error.code === 'unusable_data'))

export class ExportAttempts {
  readonly #isOnly: boolean

  /** @param sessions how many there are: what is wrong with an only one is the command's own failure */
  constructor(sessions: number) {
    this.#isOnly = sessions === 1
  }

  /** Nothing where it failed. */
  async at<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      await this.failed(name, error)
      return undefined
    }
  }

  /** The exit code is that of the first failure. */
  async failed(name: string, error: unknown): Promise<void> {
    if (this.#isOnly || affectsAllSessions(error)) throw error
    process.exitCode ??= error instanceof AppError ? exitCodes[error.code] : EXIT_BUG
    if (error instanceof AppError) return writeErr(`fumi: ${name}: ${toPrintable(localize(error.phrase))}\n`)
    const { reason, stack } = toSourceFailure(error)
    await writeErr(`fumi: ${name}: ${toPrintable(reason)}\n`)
    if (stack !== undefined) debug(stack)
  }
}

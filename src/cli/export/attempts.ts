/** Several sessions at once: one that fails is told of, and the others go on. */
import { failureOf } from '../../lib/failure.ts'
import { debug } from '../../lib/log.ts'
import { printable } from '../../lib/text.ts'
import { AppError, EXIT_BUG, exitCodes, isUpdated } from '../../model/error.ts'
import { inWords } from '../language.ts'
import { writeErr } from '../output.ts'

/** The other sessions would meet it too. */
const isEverywhere = (error: unknown): boolean =>
  isUpdated(error) || (error instanceof AppError && (error.code === 'cannot_write' || error.code === 'unusable_data'))

export class Attempts {
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
    if (this.#isOnly || isEverywhere(error)) throw error
    process.exitCode ??= error instanceof AppError ? exitCodes[error.code] : EXIT_BUG
    if (error instanceof AppError) return writeErr(`fumi: ${name}: ${printable(inWords(error.phrase))}\n`)
    const { reason, stack } = failureOf(error)
    await writeErr(`fumi: ${name}: ${printable(reason)}\n`)
    if (stack !== undefined) debug(stack)
  }
}

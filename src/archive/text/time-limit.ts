/** Stops work that takes too long in the middle of it, even inside of a regular expression. */
import { type Context, createContext, Script } from 'node:vm'

const workScript = new Script('work()')
let workContext: Context | undefined

/**
 * What `work` returns, or nothing when it took longer. A watching thread is started for each call, which costs about a tenth of a
 * millisecond.
 *
 * @param milliseconds at least 1
 */
export function runWithTimeout<T>(milliseconds: number, work: () => T): { readonly value: T } | undefined {
  workContext ??= createContext({})
  workContext['work'] = () => ({ value: work() })
  try {
    return workScript.runInContext(workContext, { timeout: Math.max(1, Math.ceil(milliseconds)) })
  } catch (error) {
    if (isTimeoutError(error)) return undefined
    throw error
  } finally {
    workContext['work'] = undefined
  }
}

const isTimeoutError = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'

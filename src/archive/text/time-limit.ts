/** Stops work that takes too long in the middle of it, even inside of a regular expression. */
import { type Context, createContext, Script } from 'node:vm'

const script = new Script('work()')
let context: Context | undefined

/**
 * What `work` returns, or nothing when it took longer. A watching thread is started for each call, which costs about a tenth of a
 * millisecond.
 *
 * @param milliseconds at least 1
 */
export function withinTime<T>(milliseconds: number, work: () => T): { readonly value: T } | undefined {
  context ??= createContext({})
  context['work'] = () => ({ value: work() })
  try {
    return script.runInContext(context, { timeout: Math.max(1, Math.ceil(milliseconds)) })
  } catch (error) {
    if (isTimeout(error)) return undefined
    throw error
  } finally {
    context['work'] = undefined
  }
}

const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'

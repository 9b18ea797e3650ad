/** Time and chance as arguments, and waiting that can be given up. */

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** From 0 up to, but not including, 1. */
  random(): number
  /** Ends after that time, or as soon as the signal is aborted; never rejects. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const end = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, milliseconds)
      signal.addEventListener('abort', end, { once: true })
    }),
}

export const WAIT_ABORTED = Symbol('given up')

/** The work's end, or {@link WAIT_ABORTED} as soon as the signal is aborted, whether the work cares for it or not. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | typeof WAIT_ABORTED> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve(WAIT_ABORTED)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

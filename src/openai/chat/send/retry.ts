/** Decides whether and when to ask a server again. */

import { type ChatError, errorOf } from '../chat-error.ts'
import type { Clock } from '../clock.ts'

export const MOST_RETRIES = 2

/** A server that asks for more is not waited for: the error says how long, and the caller decides. */
const LONGEST_WAIT_MS = 60_000
const FIRST_WAIT_MS = 500
const LONGEST_OWN_WAIT_MS = 8_000

/** Beside those from 500 on: time out, conflict, too early, too many. */
const PASSING: readonly number[] = [408, 409, 425, 429]

/**
 * How long to wait before asking again, or nothing where that is of no use.
 * @param tried how often it was tried again already
 * @param random from 0 to 1: waits are shortened by up to a quarter, so that clients do not come back all at once
 */
export function waitBeforeRetry(error: ChatError, tried: number, retries: number, random: number): number | undefined {
  if (tried >= retries || !isPassing(error)) return undefined
  if (error.retryAfterMs !== undefined) return error.retryAfterMs <= LONGEST_WAIT_MS ? error.retryAfterMs : undefined
  return Math.min(FIRST_WAIT_MS * 2 ** tried, LONGEST_OWN_WAIT_MS) * (1 - random / 4)
}

function isPassing({ kind, status, code, shouldRetry }: ChatError): boolean {
  if (shouldRetry !== undefined) return shouldRetry
  if (kind !== 'status') return kind === 'connection' || kind === 'timeout'
  if (status === undefined || code === 'insufficient_quota') return false
  return status >= 500 || PASSING.includes(status)
}

export type Tried<T> = { readonly value: T } | { readonly error: ChatError }

/** Tries until it succeeds or is of no use; a failure is a value. */
export async function withRetries<T>(
  work: () => Promise<T>,
  retries: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<Tried<T>> {
  for (let tried = 0; ; tried++) {
    try {
      return { value: await work() }
    } catch (thrown) {
      const error = errorOf(thrown)
      const wait = signal.aborted ? undefined : waitBeforeRetry(error, tried, retries, clock.random())
      if (wait === undefined) return { error }
      await clock.sleep(wait, signal)
    }
  }
}

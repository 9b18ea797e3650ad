/** Decides whether and when to ask a server again. */

import { type ChatError, toChatError } from '../chat-error.ts'
import type { Clock } from '../clock.ts'

export const DEFAULT_MAX_RETRIES = 2

/** A server that asks for more is not waited for: the error says how long, and the caller decides. */
const MAX_SERVER_WAIT_MS = 60_000
const FIRST_WAIT_MS = 500
const MAX_BACKOFF_MS = 8_000

/** Beside those from 500 on: time out, conflict, too early, too many. */
const RETRYABLE_STATUSES: readonly number[] = [408, 409, 425, 429]

/**
 * How long to wait before asking again, or nothing where that is of no use.
 * @param attempts how often it was tried again already
 * @param random from 0 to 1: waits are shortened by up to a quarter, so that clients do not come back all at once
 */
export function waitBeforeRetry(
  error: ChatError,
  attempts: number,
  retries: number,
  random: number,
): number | undefined {
  if (attempts >= retries || !isRetryable(error)) return undefined
  if (error.retryAfterMs !== undefined) return error.retryAfterMs <= MAX_SERVER_WAIT_MS ? error.retryAfterMs : undefined
  return Math.min(FIRST_WAIT_MS * 2 ** attempts, MAX_BACKOFF_MS) * (1 - random / 4)
}

function isRetryable({ kind, status, code, shouldRetry }: ChatError): boolean {
  if (shouldRetry !== undefined) return shouldRetry
  if (kind !== 'status') return kind === 'connection' || kind === 'timeout'
  if (status === undefined || code === 'insufficient_quota') return false
  return status >= 500 || RETRYABLE_STATUSES.includes(status)
}

export type RetryResult<T> = { readonly value: T } | { readonly error: ChatError }

/** Tries until it succeeds or is of no use; a failure is a value. */
export async function withRetries<T>(
  work: () => Promise<T>,
  retries: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<RetryResult<T>> {
  for (let attempts = 0; ; attempts++) {
    try {
      return { value: await work() }
    } catch (thrown) {
      const error = toChatError(thrown)
      const wait = signal.aborted ? undefined : waitBeforeRetry(error, attempts, retries, clock.random())
      if (wait === undefined) return { error }
      await clock.sleep(wait, signal)
    }
  }
}

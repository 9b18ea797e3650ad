/** Sends shared sessions while they change, in the background, and never faster than a small rate. */
import { setTimeout } from 'node:timers/promises'
import type { App } from '../../app.ts'
import { warn } from '../../lib/logger.ts'
import { AppError } from '../../model/error.ts'
import { type PushOptions, pushSessions } from './push.ts'
import type { TeamClient } from './team-client.ts'

/** A session that is being written is sent at most this often. */
const SETTLE_MS = 2000
/** After the server could not be reached. */
const RETRY_MS = 60_000
const MAX_RETRY_MS = 3_600_000
/** Bytes per second, if none is given. */
export const BACKGROUND_RATE = 2_000_000

/** Until the signal aborts, or the process is asked to end. Keeps the index up to date, unless another process does. */
export async function watchAndPush(app: App, client: TeamClient, options: PushOptions = {}): Promise<void> {
  const ended = new AbortController()
  const stop = (): void => ended.abort()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, stop)
  options.signal?.addEventListener('abort', stop, { once: true })
  const watch = await app.watch({ onProblem: ({ message }) => warn(message) })
  try {
    await pushChanges(app, client, { ...options, signal: ended.signal })
  } finally {
    if (watch.kind === 'watching') await watch.close()
  }
}

/** Sends now, and after each change of the index. */
export async function pushChanges(
  app: App,
  client: TeamClient,
  options: PushOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const { signal } = options
  let seen = -1
  let retry = 0
  while (!signal.aborted) {
    const { revision } = app.index
    if (revision !== seen || retry > 0) {
      try {
        await pushSessions(app, client, options)
        seen = revision
        retry = 0
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        if (retry === 0) warn(error.message)
        // Another answer will not come by itself: the device was revoked.
        if (error.code !== 'busy') return
        retry = Math.min(MAX_RETRY_MS, retry === 0 ? RETRY_MS : retry * 2)
      }
    }
    await pause(retry || SETTLE_MS, signal)
  }
}

/** Ends early when the signal aborts. */
const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  setTimeout(milliseconds, undefined, { signal }).catch(() => {})

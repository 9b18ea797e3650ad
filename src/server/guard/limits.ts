/** How much one client may ask for. */

import type { Context, MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem, toProblemResponse } from '../api-problem.ts'

export interface RateBucket {
  /** False when it is empty. */
  take(key: string): boolean
}

export interface RateBucketOptions {
  /** At once. */
  readonly burst: number
  readonly perSecond: number
}

const MAX_KEYS = 10_000

/** So many at once, and then so many in a second, for each key. @param now milliseconds of a clock that is never set back */
export function createRateBucket(
  { burst, perSecond }: RateBucketOptions,
  now: () => number = () => performance.now(),
): RateBucket {
  const levels = new Map<string, { level: number; at: number }>()
  return {
    take(key) {
      const at = now()
      const before = levels.get(key) ?? { level: burst, at }
      const level = Math.min(burst, before.level + (Math.max(0, at - before.at) / 1000) * perSecond)
      // The one that was not seen for longest goes: by then it is full again, or somebody tries many keys.
      levels.delete(key)
      if (levels.size >= MAX_KEYS) for (const [oldest] of levels) if (levels.delete(oldest)) break
      levels.set(key, { level: level < 1 ? level : level - 1, at })
      return level >= 1
    },
  }
}

/** Of the other side; the same one for requests that came through no socket. */
export function clientAddress(c: Context): string {
  const env = c.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined
  return env?.incoming?.socket?.remoteAddress ?? 'local'
}

export function limitRate(options: RateBucketOptions): MiddlewareHandler {
  const requests = createRateBucket(options)
  return async (c, next) => {
    if (!requests.take(clientAddress(c)))
      throw new ApiProblem(
        'too_many_requests',
        phrase(
          `More than ${options.perSecond} requests a second. Wait a moment.`,
          `要求が 1 秒に ${options.perSecond} 件を超えています。少し待ってください。`,
        ),
      )
    await next()
  }
}

const MAX_BODY_BYTES = 256 * 1024

export const limitBodySize: MiddlewareHandler = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: () =>
    toProblemResponse(
      new ApiProblem(
        'body_too_large',
        phrase(
          `A body may have ${MAX_BODY_BYTES} bytes.`,
          `送る内容が大きすぎます。上限は ${MAX_BODY_BYTES} バイトです。`,
        ),
      ),
    ),
})

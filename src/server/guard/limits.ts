/** How much one client may ask for. */

import type { Context, MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem, problemResponse } from '../problem.ts'

export interface Bucket {
  /** False when it is empty. */
  take(key: string): boolean
}

export interface BucketOptions {
  /** At once. */
  readonly burst: number
  readonly perSecond: number
}

const MOST_KEYS = 10_000

/** So many at once, and then so many in a second, for each key. @param now milliseconds of a clock that is never set back */
export function bucket({ burst, perSecond }: BucketOptions, now: () => number = () => performance.now()): Bucket {
  const levels = new Map<string, { level: number; at: number }>()
  return {
    take(key) {
      const at = now()
      const before = levels.get(key) ?? { level: burst, at }
      const level = Math.min(burst, before.level + (Math.max(0, at - before.at) / 1000) * perSecond)
      // The one that was not seen for longest goes: by then it is full again, or somebody tries many keys.
      levels.delete(key)
      if (levels.size >= MOST_KEYS) for (const [oldest] of levels) if (levels.delete(oldest)) break
      levels.set(key, { level: level < 1 ? level : level - 1, at })
      return level >= 1
    },
  }
}

/** Of the other side; the same one for requests that came through no socket. */
export function addressOf(c: Context): string {
  const env = c.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined
  return env?.incoming?.socket?.remoteAddress ?? 'local'
}

export function rateLimit(options: BucketOptions): MiddlewareHandler {
  const requests = bucket(options)
  return async (c, next) => {
    if (!requests.take(addressOf(c)))
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

const MOST_BYTES = 256 * 1024

export const smallBodies: MiddlewareHandler = bodyLimit({
  maxSize: MOST_BYTES,
  onError: () =>
    problemResponse(
      new ApiProblem(
        'body_too_large',
        phrase(`A body may have ${MOST_BYTES} bytes.`, `送る内容が大きすぎます。上限は ${MOST_BYTES} バイトです。`),
      ),
    ),
})

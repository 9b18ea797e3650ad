/** Times that library users hand in. */

import { AppError } from '../../model/error.ts'
import { formatStoredTime, parseZonedTime } from '../zoned-time.ts'

/** Spelled as the original stores it. Throws for a text that is no time with offset. */
export function normalizeTimestamp(timestamp: string): string
export function normalizeTimestamp(timestamp: string | null): string | null
export function normalizeTimestamp(timestamp: string | null): string | null {
  if (timestamp === null) return null
  const zoned = parseZonedTime(timestamp)
  if (!zoned)
    throw new AppError(
      'bad_usage',
      'a message needs a time with its offset, such as 2025-10-25T14:53:00+09:00',
      'メッセージの時刻は、2025-10-25T14:53:00+09:00 のように時差まで指定してください',
    )
  return formatStoredTime(zoned)
}

/** Times that library users hand in. */

import { AppError } from '../../model/error.ts'
import { parseMoment, storedTime } from '../time.ts'

/** Spelled as the original stores it. Throws for a text that is no time with offset. */
export function storedTimestamp(timestamp: string): string
export function storedTimestamp(timestamp: string | null): string | null
export function storedTimestamp(timestamp: string | null): string | null {
  if (timestamp === null) return null
  const moment = parseMoment(timestamp)
  if (!moment)
    throw new AppError(
      'bad_usage',
      'a message needs a time with its offset, such as 2025-10-25T14:53:00+09:00',
      'メッセージの時刻は、2025-10-25T14:53:00+09:00 のように時差まで指定してください',
    )
  return storedTime(moment)
}

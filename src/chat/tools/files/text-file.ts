/** Text files as tools read them: whole, of a bearable size, and only where they are text. */
import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { openRegularHandle } from '../../../lib/files/regular-file.ts'
import { NO_FOLLOW_FLAG } from '../../../lib/files/rewrite-file.ts'
import { isSystemError, systemErrorReason } from '../../../lib/files/system-error.ts'
import { decodeUtf8 } from '../../../lib/text.ts'

export type TextFileResult =
  | { readonly kind: 'text'; readonly text: string; readonly isUtf8: boolean }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly reason: string }

const MAX_FILE_BYTES = 50 * 1024 * 1024
const BINARY_CHECK_BYTES = 8192

/** @param path with links followed */
export async function readTextFile(path: string): Promise<TextFileResult> {
  try {
    const file = await openRegularHandle(path, constants.O_RDONLY | NO_FOLLOW_FLAG)
    try {
      const found = await file.stat()
      if (found.size > MAX_FILE_BYTES)
        return unreadable(`too large (${found.size} bytes); read a part of it with a command`)
      const bytes = await file.readFile()
      if (bytes.subarray(0, BINARY_CHECK_BYTES).includes(0)) return unreadable('a binary file, not text')
      return { kind: 'text', text: decodeUtf8(bytes), isUtf8: isUtf8(bytes) }
    } finally {
      await file.close()
    }
  } catch (error) {
    if (!isSystemError(error)) throw error
    if (error.code === 'ELOOP') return unreadable('a link, not a file')
    return error.code === 'ENOENT' ? { kind: 'missing' } : unreadable(systemErrorReason(error))
  }
}

const unreadable = (reason: string): TextFileResult => ({ kind: 'unreadable', reason })

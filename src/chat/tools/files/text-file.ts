/** Text files as tools read them: whole, of a bearable size, and only where they are text. */
import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { NO_LINK } from '../../../lib/disk/rewrite-file.ts'
import { openRegularHandle } from '../../../lib/files/regular-file.ts'
import { isSystemError, reasonOf } from '../../../lib/files/system-error.ts'
import { textOf } from '../../../lib/text.ts'

export type ReadText =
  | { readonly kind: 'text'; readonly text: string; readonly isUtf8: boolean }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly reason: string }

const LARGEST = 50 * 1024 * 1024
const LOOKED_AT = 8192

/** @param path with links followed */
export async function readText(path: string): Promise<ReadText> {
  try {
    const file = await openRegularHandle(path, constants.O_RDONLY | NO_LINK)
    try {
      const found = await file.stat()
      if (found.size > LARGEST) return unreadable(`too large (${found.size} bytes); read a part of it with a command`)
      const bytes = await file.readFile()
      if (bytes.subarray(0, LOOKED_AT).includes(0)) return unreadable('a binary file, not text')
      return { kind: 'text', text: textOf(bytes), isUtf8: isUtf8(bytes) }
    } finally {
      await file.close()
    }
  } catch (error) {
    if (!isSystemError(error)) throw error
    if (error.code === 'ELOOP') return unreadable('a link, not a file')
    return error.code === 'ENOENT' ? { kind: 'missing' } : unreadable(reasonOf(error))
  }
}

const unreadable = (reason: string): ReadText => ({ kind: 'unreadable', reason })

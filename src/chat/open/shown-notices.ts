/** Notices that appear once, not in every chat: the file remembers which were shown. */
import { join } from 'node:path'
import { replaceOwnFile } from '../../lib/files/atomic-file.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { sha256 } from '../../lib/hash.ts'
import { listOf, parseStructure } from '../../lib/unknown-values.ts'

const FILE_NAME = 'notices.json'
/** The oldest are forgotten, and appear once more. */
const MAX_REMEMBERED = 500

/**
 * Whether this text was not shown before; remembers it. A file that cannot be read or written costs a repetition, never
 * the chat.
 * @param data the data directory
 */
export function isNewNotice(data: string, text: string): boolean {
  const path = join(data, FILE_NAME)
  const shown = readShown(path)
  const key = sha256(text).slice(0, 16)
  if (shown.includes(key)) return false
  try {
    replaceOwnFile(path, `${JSON.stringify([...shown, key].slice(-MAX_REMEMBERED))}\n`)
  } catch {
    // Shown again next time.
  }
  return true
}

function readShown(path: string): readonly unknown[] {
  try {
    return listOf(parseStructure(readRegularFile(path).toString('utf8')))
  } catch {
    return []
  }
}

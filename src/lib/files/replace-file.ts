/** Writes a file of our own at once or not at all. */
import { writeFileAtomically } from './atomic-file.ts'

/**
 * On disk when it returns, for its user alone. The folder is made where it does not exist; a link stays a link, and the
 * file that it points to is replaced. Throws AppError.
 * @param text whole, or in pieces where it may be long
 */
export function replaceOwnFile(path: string, text: string | Iterable<string>): void {
  writeFileAtomically(path, typeof text === 'string' ? [text] : text, { mode: 0o600, folders: 0o700 })
}

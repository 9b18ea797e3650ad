/** Where the shared material lies, if it is there at all. */

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = process.env['FUMI_SHARED'] ?? resolve(import.meta.dirname, '..', '..', '..', 'shared')

/** The path of a shared folder or file, or nothing, with a line that says so. */
export function shared(...parts: readonly string[]): string | undefined {
  const path = join(root, ...parts)
  if (existsSync(path)) return path
  process.stderr.write(`skipped: ${join('../shared', ...parts)} is not here\n`)
  return undefined
}

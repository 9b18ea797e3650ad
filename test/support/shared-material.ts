/** Material outside the repository. Tests that need it are skipped without it. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const SHARED = process.env['FUMI_SHARED'] ?? join(import.meta.dirname, '..', '..', '..', 'shared')

/** The path, or undefined with a line that says what is not tested. */
export function sharedFolder(...path: string[]): string | undefined {
  const full = join(SHARED, ...path)
  if (existsSync(full)) return full
  console.log(`skipped: ${path.join('/')} is not beside the project`)
  return undefined
}

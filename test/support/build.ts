/** Builds the program once, for tests that run it. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

export function setup(): void {
  execFileSync(process.execPath, [join(root, 'tools', 'build.mjs'), '--if-needed'], { cwd: root, stdio: 'inherit' })
}
